use tokio::time::Instant;

use super::activity::Activity;
use crate::settings::Settings;

/// The state of the exchange on one connection. It decides how long the connection may stay in this state. It has
/// no clock and no socket.
#[derive(Debug)]
pub(crate) struct ExchangeState {
    stage: Stage,
    /// The start of the wait for a head, or of the close.
    since: Instant,
    body: BodyState,
    /// When the service refused the request.
    refused: Option<Instant>,
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
    /// The response is written, and the peer may still be sending a body that is not read.
    Closing,
    Ended,
}

/// The state of the request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyState {
    Incomplete,
    /// Read to its end, or absent.
    Complete,
}

impl ExchangeState {
    pub(crate) fn new(now: Instant) -> Self {
        let (stage, body) = (Stage::AwaitingHead, BodyState::Complete);
        Self { stage, since: now, body, refused: None, write_stalled: None }
    }

    /// The head of a request is complete.
    pub(crate) fn head_received(&mut self, body: BodyState) {
        self.stage = Stage::Processing;
        self.body = body;
        // The next head may be read before the response to the last is flushed.
        self.refused = None;
    }

    /// The body was read to its end.
    pub(crate) fn body_complete(&mut self) {
        self.body = BodyState::Complete;
    }

    /// The response is a refusal.
    pub(crate) fn refused(&mut self, now: Instant) {
        self.refused = Some(now);
    }

    /// hyper has the last part of the response.
    pub(crate) fn response_complete(&mut self) {
        if self.stage == Stage::Processing {
            self.stage = Stage::Flushing;
        }
    }

    /// The socket has taken all bytes that hyper had to write.
    pub(crate) fn flushed(&mut self, now: Instant) {
        if self.stage != Stage::Flushing {
            return;
        }
        if self.is_body_unread() {
            self.close(now);
        } else {
            self.stage = Stage::AwaitingHead;
            self.since = now;
            self.refused = None;
        }
    }

    /// The peer does not read.
    pub(crate) fn write_stalled(&mut self, now: Instant) {
        self.write_stalled.get_or_insert(now);
    }

    /// The peer reads.
    pub(crate) fn write_resumed(&mut self) {
        self.write_stalled = None;
    }

    /// The server will write nothing more.
    pub(crate) fn close(&mut self, now: Instant) {
        if self.stage != Stage::Closing {
            self.stage = Stage::Closing;
            self.since = self.refused.unwrap_or(now);
        }
    }

    pub(crate) fn end(&mut self) {
        self.stage = Stage::Ended;
    }

    /// Whether the peer may still send bytes of a body that will not be read.
    pub(crate) fn is_body_unread(&self) -> bool {
        self.body == BodyState::Incomplete
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.stage == Stage::Closing
    }

    /// When the connection is closed unless its state changes. A refusal has one deadline until the close: what is
    /// read of it or sent meanwhile does not extend it. A body has no deadline here: the service limits how long it
    /// reads.
    pub(crate) fn deadline(&self, settings: &Settings) -> Option<Instant> {
        match self.stage {
            Stage::AwaitingHead | Stage::Closing => Some(self.since + settings.head_deadline),
            Stage::Processing | Stage::Flushing => {
                let refused = self.refused.map(|refused| refused + settings.head_deadline);
                refused.or(self.write_stalled.map(|since| since + Settings::WRITE_STALL))
            }
            Stage::Ended => None,
        }
    }

    pub(crate) fn activity(&self) -> Option<Activity> {
        let activity = match self.stage {
            Stage::AwaitingHead => Activity::Head,
            Stage::Processing if self.is_body_unread() => Activity::Body,
            Stage::Processing | Stage::Flushing if self.write_stalled.is_some() => Activity::Unread,
            Stage::Processing | Stage::Flushing => Activity::Processing,
            Stage::Closing => Activity::Closing,
            Stage::Ended => return None,
        };
        Some(activity)
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

    #[test]
    fn a_head_has_three_seconds_from_the_start_even_if_bytes_arrive() {
        let start = Instant::now();
        let state = ExchangeState::new(start);
        assert_eq!(deadline(&state), Some(after(start, 3)));
        assert_eq!(state.activity(), Some(Activity::Head));
    }

    #[test]
    fn a_request_in_progress_has_no_deadline() {
        let mut state = ExchangeState::new(Instant::now());
        state.head_received(BodyState::Incomplete);
        assert_eq!((deadline(&state), state.activity()), (None, Some(Activity::Body)));
        state.body_complete();
        assert_eq!((deadline(&state), state.activity()), (None, Some(Activity::Processing)));
        assert!(!state.is_body_unread());
    }

    #[test]
    fn the_next_head_has_three_seconds_from_the_last_byte_of_the_response() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Complete);
        state.flushed(after(start, 1)); // such as `100 Continue`
        assert_eq!(state.activity(), Some(Activity::Processing));
        state.response_complete();
        assert_eq!(deadline(&state), None);
        state.flushed(after(start, 4));
        assert_eq!(deadline(&state), Some(after(start, 7)));
        assert_eq!(state.activity(), Some(Activity::Head));
    }

    #[test]
    fn a_response_before_the_end_of_the_body_begins_the_close() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Incomplete);
        state.response_complete();
        state.flushed(after(start, 1));
        assert!(state.is_closing() && state.is_body_unread());
        assert_eq!(deadline(&state), Some(after(start, 4)));
        assert_eq!(state.activity(), Some(Activity::Closing));
    }

    #[test]
    fn a_refused_peer_has_three_seconds_whether_it_reads_and_sends_or_not() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Incomplete);
        state.refused(after(start, 1));
        assert_eq!(deadline(&state), Some(after(start, 4)));
        state.write_stalled(after(start, 2));
        assert_eq!(deadline(&state), Some(after(start, 4)));
        state.write_resumed();
        state.response_complete();
        state.flushed(after(start, 3));
        state.close(after(start, 3));
        assert_eq!(deadline(&state), Some(after(start, 4)));
    }

    #[test]
    fn the_refusal_of_one_request_is_not_that_of_the_next() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Complete);
        state.refused(start);
        state.response_complete();
        state.flushed(after(start, 1));
        state.head_received(BodyState::Complete);
        assert_eq!(deadline(&state), None);
        state.close(after(start, 9)); // behind a broken head
        assert_eq!(deadline(&state), Some(after(start, 12)));
    }

    #[test]
    fn a_request_that_follows_an_unflushed_refusal_is_not_refused() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Complete);
        state.refused(start);
        state.response_complete();
        state.head_received(BodyState::Complete);
        assert_eq!(deadline(&state), None);
    }

    #[test]
    fn a_peer_that_reads_nothing_has_ten_seconds_from_the_last_byte_it_took() {
        let start = Instant::now();
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Complete);
        state.write_stalled(after(start, 1));
        state.write_stalled(after(start, 9));
        assert_eq!(deadline(&state), Some(after(start, 11)));
        assert_eq!(state.activity(), Some(Activity::Unread));
        state.write_resumed();
        assert_eq!(deadline(&state), None);
    }
}
