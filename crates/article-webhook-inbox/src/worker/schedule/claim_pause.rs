use std::time::{Duration, Instant};

use crate::call::Lease;

/// How long a worker claims nothing after the store failed.
pub(super) const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// How long it claims nothing after a claim that brought nothing of what is due: another transaction holds it, or the clock
/// of the store was set.
const AFTER_NOTHING: Duration = Duration::from_millis(20);

/// How long it claims nothing after the handler of a last attempt has begun, unless that handler ends before.
const HEAD_START: Duration = Duration::from_millis(50);

/// How long a claim of few entries waits at most, should the last claim have taken long.
const LONGEST_FOR_FEW: Duration = Duration::from_millis(20);

/// When the next claim may be made.
///
/// An article that crashes the process mostly does so at once. An entry whose claim is being committed then has spent an
/// attempt that never begins. On the last attempt that is its death, so a last attempt has a head start.
///
/// A claim of few entries costs as much as one of many. So after a claim, the next one waits twice as long as that one took,
/// unless half of the handlers are free before: short handlers that end together are then claimed for together, and claims
/// take no more than a third of the time.
#[derive(Debug)]
pub(super) struct ClaimPause {
    began: Instant,
    for_few: Instant,
    after_failure: Instant,
    head_start: Option<(Lease, Instant)>,
}

impl ClaimPause {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, for_few: now, after_failure: now, head_start: None }
    }

    /// No claim is made before this time.
    pub(super) fn end(&self) -> Instant {
        self.head_start.map_or(self.after_failure, |(_, end)| end.max(self.after_failure))
    }

    /// No claim is made before this time while less than half of the handlers are free.
    pub(super) fn end_for_few(&self) -> Instant {
        self.end().max(self.for_few)
    }

    /// A claim begins.
    pub(super) fn claim_began(&mut self, now: Instant) {
        self.began = now;
    }

    /// The claim has ended. It brought this many entries, and another is due after this time.
    pub(super) fn claim_ended(&mut self, now: Instant, brought: u32, next_due: Option<Duration>) {
        if brought == 0 && next_due == Some(Duration::ZERO) {
            self.after_failure = self.after_failure.max(now + AFTER_NOTHING);
        }
        let took = now.saturating_duration_since(self.began);
        self.for_few = now + (2 * took).min(LONGEST_FOR_FEW);
    }

    /// A call failed.
    pub(super) fn failed(&mut self, now: Instant) {
        self.after_failure = now + AFTER_FAILURE;
    }

    /// A last attempt begins.
    pub(super) fn last_attempt(&mut self, lease: Lease, now: Instant) {
        self.head_start = Some((lease, now + HEAD_START));
    }

    /// A handler has ended.
    pub(super) fn handled(&mut self, ended: Lease) {
        self.head_start = self.head_start.filter(|(lease, _)| *lease != ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: Lease = Lease { id: 1, fence: 3 };

    #[test]
    fn a_last_attempt_has_a_head_start_until_its_handler_ends() {
        let now = Instant::now();
        let mut pause = ClaimPause::new(now);
        pause.last_attempt(LAST, now);
        pause.handled(Lease { id: 2, ..LAST });
        assert_eq!(pause.end(), now + HEAD_START);
        pause.handled(LAST);
        assert_eq!(pause.end(), now);
    }

    #[test]
    fn the_longer_pause_counts() {
        let now = Instant::now();
        let mut pause = ClaimPause::new(now);
        pause.failed(now);
        pause.last_attempt(LAST, now);
        assert_eq!(pause.end(), now + AFTER_FAILURE);
        pause.last_attempt(LAST, now + AFTER_FAILURE);
        assert_eq!(pause.end(), now + AFTER_FAILURE + HEAD_START);
    }

    #[test]
    fn a_claim_that_brought_nothing_of_what_is_due_is_not_repeated_at_once() {
        let now = Instant::now();
        let mut pause = ClaimPause::new(now);
        pause.claim_ended(now, 1, Some(Duration::ZERO));
        pause.claim_ended(now, 0, Some(AFTER_NOTHING));
        assert_eq!(pause.end(), now);
        pause.claim_ended(now, 0, Some(Duration::ZERO));
        assert_eq!(pause.end(), now + AFTER_NOTHING);
        pause.failed(now);
        pause.claim_ended(now, 0, Some(Duration::ZERO));
        assert_eq!(pause.end(), now + AFTER_FAILURE);
    }

    #[test]
    fn a_claim_of_few_waits_twice_as_long_as_the_last_one_took() {
        let now = Instant::now();
        let mut pause = ClaimPause::new(now);
        assert_eq!(pause.end_for_few(), now);
        pause.claim_began(now);
        let ended = now + LONGEST_FOR_FEW / 4;
        pause.claim_ended(ended, 1, None);
        assert_eq!((pause.end(), pause.end_for_few()), (now, ended + LONGEST_FOR_FEW / 2));
        pause.claim_began(ended);
        pause.claim_ended(ended + AFTER_FAILURE, 1, None);
        assert_eq!(pause.end_for_few(), ended + AFTER_FAILURE + LONGEST_FOR_FEW);
    }
}
