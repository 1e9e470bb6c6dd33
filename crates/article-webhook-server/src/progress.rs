use tokio::time::Instant;

use crate::{
    crowd::{Place, Rank},
    limits::Limits,
};

/// How far one connection has come with its exchange. Decides how long it may stay like this, and how
/// soon it gives way to others. Knows no clock and no socket.
#[derive(Debug)]
pub(crate) struct Progress {
    stage: Stage,
    /// The start of the wait for a head, or the end of the head.
    since: Instant,
    inflow: Inflow,
    /// Since when the peer has taken nothing of what is to be written.
    blocked: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// For a head: the first, or the next.
    Waiting,
    /// The service has the request, or its answer is still being made.
    Working,
    /// The whole answer was handed over, and is not yet written.
    Told,
    /// The answer is written, and the body of its request still open.
    Answered,
}

/// What became of the request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inflow {
    Open,
    Whole,
    Dropped,
}

impl Progress {
    pub(crate) fn new(now: Instant) -> Self {
        Self { stage: Stage::Waiting, since: now, inflow: Inflow::Whole, blocked: None }
    }

    /// The head of a request is complete.
    pub(crate) fn head(&mut self, now: Instant, has_body: bool) {
        self.stage = Stage::Working;
        self.since = now;
        self.inflow = if has_body { Inflow::Open } else { Inflow::Whole };
    }

    /// The body was read to its end.
    pub(crate) fn body_read(&mut self, now: Instant) {
        self.inflow = Inflow::Whole;
        self.rest(now);
    }

    /// Nobody reads on in the body.
    pub(crate) fn body_dropped(&mut self, now: Instant) {
        if self.inflow == Inflow::Open {
            self.inflow = Inflow::Dropped;
        }
        self.rest(now);
    }

    /// The last of the answer was handed over.
    pub(crate) fn told(&mut self) {
        if self.stage == Stage::Working {
            self.stage = Stage::Told;
        }
    }

    /// Everything that was handed over is written.
    pub(crate) fn written(&mut self, now: Instant) {
        if self.stage == Stage::Told {
            self.stage = Stage::Answered;
            self.rest(now);
        }
    }

    /// The peer takes nothing more.
    pub(crate) fn blocked(&mut self, now: Instant) {
        self.blocked = Some(now);
    }

    /// The peer took something.
    pub(crate) fn unblocked(&mut self) {
        self.blocked = None;
    }

    /// Begins the wait for the next head, once both sides of the exchange are over.
    fn rest(&mut self, now: Instant) {
        if self.stage == Stage::Answered && self.inflow != Inflow::Open {
            self.stage = Stage::Waiting;
            self.since = now;
        }
    }

    /// Whether bytes of a body may still be on their way that nobody will read.
    pub(crate) fn is_body_unread(&self) -> bool {
        self.inflow != Inflow::Whole
    }

    /// When the connection is cut if nothing happens. A body that is late while the service works is
    /// no matter of the connection: the service is told, and answers.
    pub(crate) fn deadline(&self, limits: &Limits) -> Option<Instant> {
        match (self.blocked, self.stage) {
            (Some(since), _) => Some(since + Limits::WRITE_STALL),
            (None, Stage::Waiting) => Some(self.since + limits.head_deadline),
            (None, Stage::Answered) => Some(self.since + limits.body_deadline),
            (None, Stage::Working | Stage::Told) => None,
        }
    }

    pub(crate) fn place(&self, id: u64) -> Place {
        let (rank, since) = match (self.blocked, self.stage, self.inflow) {
            (_, Stage::Waiting, _) => (Rank::Head, self.since),
            (_, _, Inflow::Open) => (Rank::Body, self.since),
            (Some(since), _, _) => (Rank::Unread, since),
            (None, _, _) => (Rank::Working, self.since),
        };
        Place { rank, since, id }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn cut_at(progress: &Progress) -> Option<Instant> {
        progress.deadline(&Limits::default())
    }

    #[test]
    fn a_head_has_five_seconds_from_the_start_whatever_trickles_in() {
        let start = Instant::now();
        let progress = Progress::new(start);
        assert_eq!(cut_at(&progress), Some(after(start, 5)));
        assert_eq!(progress.place(1), Place { rank: Rank::Head, since: start, id: 1 });
    }

    #[test]
    fn a_service_at_work_has_no_deadline_and_its_place_is_safe() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.head(after(start, 1), false);
        assert_eq!(cut_at(&progress), None);
        assert_eq!(progress.place(1).rank, Rank::Working);
    }

    #[test]
    fn an_unfinished_body_may_have_to_give_way_and_a_finished_one_not() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.head(after(start, 1), true);
        assert_eq!(progress.place(1), Place { rank: Rank::Body, since: after(start, 1), id: 1 });
        progress.body_read(after(start, 2));
        assert_eq!(progress.place(1).rank, Rank::Working);
        assert!(!progress.is_body_unread());
    }

    #[test]
    fn the_next_head_has_five_seconds_from_the_last_byte_of_the_answer() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.head(start, false);
        progress.written(after(start, 1)); // such as `100 Continue`
        assert_eq!(progress.place(1).rank, Rank::Working);
        progress.told();
        assert_eq!(cut_at(&progress), None);
        progress.written(after(start, 3));
        assert_eq!(cut_at(&progress), Some(after(start, 8)));
        assert_eq!(progress.place(1).rank, Rank::Head);
    }

    #[test]
    fn an_answer_before_the_end_of_the_body_leaves_the_connection_the_bodys_deadline() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.head(start, true);
        progress.told();
        progress.written(after(start, 1));
        assert_eq!(cut_at(&progress), Some(after(start, 10)));
        assert_eq!(progress.place(1).rank, Rank::Body);
        progress.body_dropped(after(start, 2));
        assert!(progress.is_body_unread());
        assert_eq!(cut_at(&progress), Some(after(start, 7)));
    }

    #[test]
    fn a_peer_that_reads_nothing_has_ten_seconds_from_the_last_byte_it_took() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.head(start, false);
        progress.blocked(after(start, 1));
        assert_eq!(cut_at(&progress), Some(after(start, 11)));
        assert_eq!(progress.place(1), Place { rank: Rank::Unread, since: after(start, 1), id: 1 });
        progress.unblocked();
        assert_eq!(cut_at(&progress), None);
    }
}
