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
    /// Whether a request on this connection was answered with a 2xx. A refusal does not take that back: behind a
    /// proxy, strangers and the service can share a connection.
    has_succeeded: bool,
    /// When the service refused the request.
    refused: Option<Instant>,
    /// When the peer stopped reading the response.
    write_stalled: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for the rest of a head, or for the first.
    AwaitingHead,
    /// Waits for the first byte of the next head, on a connection that has had a good response.
    Idle,
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
        let (has_succeeded, refused, write_stalled) = (false, None, None);
        Self { stage, since: now, body, has_succeeded, refused, write_stalled }
    }

    /// The peer sent something.
    pub(crate) fn bytes_received(&mut self, now: Instant) {
        if self.stage == Stage::Idle {
            self.stage = Stage::AwaitingHead;
            self.since = now;
        }
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

    /// The response is a 2xx.
    pub(crate) fn succeeded(&mut self) {
        self.has_succeeded = true;
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
            self.stage = if self.has_succeeded { Stage::Idle } else { Stage::AwaitingHead };
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
            Stage::Idle => Some(self.since + settings.idle_deadline),
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
            Stage::Idle => Activity::Idle,
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

    /// A state whose last response was written now.
    fn idle_since(start: Instant) -> ExchangeState {
        let mut state = ExchangeState::new(start);
        state.head_received(BodyState::Complete);
        state.succeeded();
        state.response_complete();
        state.flushed(start);
        state
    }

    #[test]
    fn a_refusal_after_a_good_response_leaves_75_seconds_and_a_refusal_alone_three() {
        let start = Instant::now();
        let refuse = |state: &mut ExchangeState| {
            state.head_received(BodyState::Complete);
            state.refused(start);
            state.response_complete();
            state.flushed(start);
        };
        let (mut shared, mut stranger) = (idle_since(start), ExchangeState::new(start));
        refuse(&mut shared);
        refuse(&mut stranger);
        assert_eq!(deadline(&shared), Some(after(start, 75)));
        assert_eq!(deadline(&stranger), Some(after(start, 3)));
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
}
