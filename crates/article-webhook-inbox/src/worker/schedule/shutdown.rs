use std::time::{Duration, Instant};

/// How long after the grace an attempt may take to end and to store its outcome. With the grace of 25
/// seconds this stays within the 30 seconds that most platforms give. A remaining lease expires.
const AFTER_GRACE: Duration = Duration::from_secs(4);

/// How a worker ends: handlers have a grace period, then they are cancelled, and those that do not end
/// are abandoned.
#[derive(Debug)]
pub(super) struct Shutdown {
    grace: Duration,
    phase: Option<Phase>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Handlers may continue until this time.
    Grace(Instant),
    /// Handlers were cancelled. At this time the rest is abandoned.
    Cancelled(Instant),
}

/// What the shutdown requests while something still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// Wait, at most until this time.
    Wait(Instant),
    /// Cancel the handlers. Requested once.
    Cancel,
    /// Abandon the attempts that still run.
    Abandon,
}

impl Shutdown {
    pub(super) fn new(grace: Duration) -> Self {
        Self { grace, phase: None }
    }

    /// Begins the shutdown. Only the first call counts.
    pub(super) fn begin(&mut self, now: Instant) {
        if self.phase.is_none() {
            self.phase = Some(Phase::Grace(now + self.grace));
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.phase.is_some()
    }

    /// What to do about attempts that still run; `None` before the shutdown.
    pub(super) fn next(&mut self, now: Instant) -> Option<Request> {
        Some(match self.phase? {
            Phase::Cancelled(end) if now >= end => Request::Abandon,
            Phase::Grace(end) if now >= end => {
                self.phase = Some(Phase::Cancelled(end + AFTER_GRACE));
                Request::Cancel
            }
            Phase::Grace(end) | Phase::Cancelled(end) => Request::Wait(end),
        })
    }

    /// Whether the time after the grace is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        matches!(self.phase, Some(Phase::Cancelled(end)) if now >= end)
    }

    /// No attempt runs any more. Returns the deadline for the store calls in progress.
    pub(super) fn finish(&mut self, now: Instant) -> Instant {
        match self.phase {
            Some(Phase::Cancelled(end)) => end,
            Some(Phase::Grace(_)) | None => {
                let end = now + AFTER_GRACE;
                self.phase = Some(Phase::Cancelled(end));
                end
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(25);

    #[test]
    fn handlers_have_the_grace_then_are_cancelled_once_and_then_abandoned() {
        let (mut shutdown, now) = (Shutdown::new(GRACE), Instant::now());
        assert_eq!(shutdown.next(now), None);
        shutdown.begin(now);
        shutdown.begin(now + GRACE); // the first call counts
        assert!(shutdown.has_begun());
        let (grace, end) = (now + GRACE, now + GRACE + AFTER_GRACE);
        assert_eq!(shutdown.next(now), Some(Request::Wait(grace)));
        assert_eq!(shutdown.next(grace), Some(Request::Cancel));
        assert_eq!(shutdown.next(grace), Some(Request::Wait(end)));
        assert!(!shutdown.is_over(grace));
        assert_eq!(shutdown.next(end), Some(Request::Abandon));
        assert!(shutdown.is_over(end));
    }

    #[test]
    fn calls_are_waited_for_four_seconds_once_nothing_runs_any_more() {
        let (mut shutdown, now) = (Shutdown::new(GRACE), Instant::now());
        shutdown.begin(now);
        assert_eq!(shutdown.finish(now), now + AFTER_GRACE);
        assert_eq!(shutdown.finish(now + AFTER_GRACE / 2), now + AFTER_GRACE);
        assert!(shutdown.is_over(now + AFTER_GRACE));
    }
}
