use tokio::time::Instant;

use super::eviction_queue::{EvictionClass, Position};
use crate::settings::Settings;

/// The state of the exchange on one connection. It decides how long the connection may stay in this state, and
/// its position in the eviction queue. It has no clock and no socket.
#[derive(Debug)]
pub(crate) struct ExchangeState {
    stage: Stage,
    /// The start of the wait for a head, or the end of the head.
    since: Instant,
    body: BodyState,
    /// When the peer stopped reading the response.
    write_stalled: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for the first head, or for the next.
    AwaitingHead,
    /// The service processes the request, or still produces the response.
    Processing,
    /// hyper has the whole response, and has not written all of it.
    Flushing,
    /// The response is written, and the request's body is not finished.
    AwaitingBody,
}

/// The state of the request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyState {
    Incomplete,
    /// Read to its end, or absent.
    Complete,
    /// Dropped before its end.
    Dropped,
}

impl ExchangeState {
    pub(crate) fn new(now: Instant) -> Self {
        let (stage, body) = (Stage::AwaitingHead, BodyState::Complete);
        Self { stage, since: now, body, write_stalled: None }
    }

    /// The head of a request is complete.
    pub(crate) fn head_received(&mut self, now: Instant, body: BodyState) {
        self.stage = Stage::Processing;
        self.since = now;
        self.body = body;
    }

    /// The body was read to its end.
    pub(crate) fn body_complete(&mut self, now: Instant) {
        self.body = BodyState::Complete;
        self.await_next_head(now);
    }

    /// The body will not be read any further.
    pub(crate) fn body_dropped(&mut self, now: Instant) {
        if self.body == BodyState::Incomplete {
            self.body = BodyState::Dropped;
        }
        self.await_next_head(now);
    }

    /// hyper has the last part of the response.
    pub(crate) fn response_complete(&mut self) {
        if self.stage == Stage::Processing {
            self.stage = Stage::Flushing;
        }
    }

    /// The socket has taken all bytes that hyper had to write.
    pub(crate) fn flushed(&mut self, now: Instant) {
        if self.stage == Stage::Flushing {
            self.stage = Stage::AwaitingBody;
            self.await_next_head(now);
        }
    }

    /// The peer has stopped reading.
    pub(crate) fn write_stalled(&mut self, now: Instant) {
        self.write_stalled = Some(now);
    }

    /// The peer reads again.
    pub(crate) fn write_resumed(&mut self) {
        self.write_stalled = None;
    }

    /// Starts the wait for the next head when both the response and the body are finished.
    fn await_next_head(&mut self, now: Instant) {
        if self.stage == Stage::AwaitingBody && self.body != BodyState::Incomplete {
            self.stage = Stage::AwaitingHead;
            self.since = now;
        }
    }

    /// Whether the peer may still send bytes of a body that will not be read.
    pub(crate) fn is_body_unread(&self) -> bool {
        self.body != BodyState::Complete
    }

    /// When the connection is closed unless its state changes. A late body has no deadline here while the request
    /// is processed: the service gets an error from the body, and answers.
    pub(crate) fn deadline(&self, settings: &Settings) -> Option<Instant> {
        match (self.write_stalled, self.stage) {
            (Some(since), _) => Some(since + Settings::WRITE_STALL),
            (None, Stage::AwaitingHead) => Some(self.since + settings.head_deadline),
            (None, Stage::AwaitingBody) => Some(self.since + settings.body_deadline),
            (None, Stage::Processing | Stage::Flushing) => None,
        }
    }

    pub(crate) fn position(&self, id: u64) -> Position {
        let (class, since) = match (self.write_stalled, self.stage, self.body) {
            (_, Stage::AwaitingHead, _) => (EvictionClass::AwaitingHead, self.since),
            (_, _, BodyState::Incomplete) => (EvictionClass::ReadingBody, self.since),
            (Some(since), _, _) => (EvictionClass::WriteStalled, since),
            (None, _, _) => (EvictionClass::Protected, self.since),
        };
        Position { class, since, id }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn deadline(state: &ExchangeState) -> Option<Instant> {
        state.deadline(&Settings::default())
    }

    fn position(class: EvictionClass, since: Instant) -> Position {
        Position { class, since, id: 1 }
    }

    #[test]
    fn a_head_has_five_seconds_from_the_start_even_if_bytes_arrive() {
        let start = Instant::now();
        let state = ExchangeState::new(start);
        assert_eq!(deadline(&state), Some(after(start, 5)));
        assert_eq!(state.position(1), position(EvictionClass::AwaitingHead, start));
    }

    #[test]
    fn a_request_in_progress_has_no_deadline_and_is_protected() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(after(start, 1), BodyState::Complete);
        assert_eq!(deadline(&state), None);
        assert_eq!(state.position(1).class, EvictionClass::Protected);
    }

    #[test]
    fn a_connection_may_be_evicted_until_its_body_is_complete() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(after(start, 1), BodyState::Incomplete);
        assert_eq!(state.position(1), position(EvictionClass::ReadingBody, after(start, 1)));
        state.body_complete(after(start, 2));
        assert_eq!(state.position(1).class, EvictionClass::Protected);
        assert!(!state.is_body_unread());
    }

    #[test]
    fn the_next_head_has_five_seconds_from_the_last_byte_of_the_response() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(start, BodyState::Complete);
        state.flushed(after(start, 1)); // such as `100 Continue`
        assert_eq!(state.position(1).class, EvictionClass::Protected);
        state.response_complete();
        assert_eq!(deadline(&state), None);
        state.flushed(after(start, 3));
        assert_eq!(deadline(&state), Some(after(start, 8)));
        assert_eq!(state.position(1).class, EvictionClass::AwaitingHead);
    }

    #[test]
    fn a_response_before_the_end_of_the_body_leaves_the_connection_the_deadline_of_the_body() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(start, BodyState::Incomplete);
        state.response_complete();
        state.flushed(after(start, 1));
        assert_eq!(deadline(&state), Some(after(start, 10)));
        assert_eq!(state.position(1).class, EvictionClass::ReadingBody);
        state.body_dropped(after(start, 2));
        assert!(state.is_body_unread());
        assert_eq!(deadline(&state), Some(after(start, 7)));
    }

    #[test]
    fn a_peer_that_reads_nothing_has_ten_seconds_from_the_last_byte_it_took() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(start, BodyState::Complete);
        state.write_stalled(after(start, 1));
        assert_eq!(deadline(&state), Some(after(start, 11)));
        assert_eq!(state.position(1), position(EvictionClass::WriteStalled, after(start, 1)));
        state.write_resumed();
        assert_eq!(deadline(&state), None);
    }
}
