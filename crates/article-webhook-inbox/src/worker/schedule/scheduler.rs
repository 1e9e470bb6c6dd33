use std::time::{Duration, Instant};

use super::{
    capacity::Capacity,
    claim_pause::ClaimPause,
    shutdown::{Request, Shutdown},
};
use crate::call::Lease;

/// When a worker claims, how much, and when it ends.
///
/// It looks for work when it is woken, when an entry becomes due, and at each poll, if there is
/// [capacity](Capacity). It claims nothing once it is stopping.
#[derive(Debug)]
pub(crate) struct Scheduler {
    poll: Duration,
    capacity: Capacity,
    claiming: bool,
    /// Woken during a claim, which may not have seen the new entry.
    woken: bool,
    look_at: Instant,
    /// When an entry that was settled during a claim is due again. The claim may not have seen it.
    again_at: Option<Instant>,
    pause: ClaimPause,
    shutdown: Shutdown,
}

/// What the worker does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Claim at most this many entries, and report the result.
    Claim(u32),
    /// Wait for an event, or until this time.
    Wait(Option<Instant>),
    /// The grace is over: end the attempts that still run.
    Cancel,
    /// Nothing runs any more.
    Stop,
    /// The store hangs: abandon the attempts that still run.
    Abandon,
}

impl Scheduler {
    pub(crate) fn new(concurrency: u32, poll: Duration, grace: Duration, now: Instant) -> Self {
        Self {
            poll,
            capacity: Capacity::new(concurrency),
            claiming: false,
            woken: false,
            look_at: now,
            again_at: None,
            pause: ClaimPause::new(now),
            shutdown: Shutdown::new(grace),
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Step {
        // A claim in progress returns leases, which must be released.
        let is_idle = !self.claiming && self.capacity.unsettled() == 0;
        if self.shutdown.has_begun() && is_idle && !self.shutdown.is_over(now) {
            return Step::Stop;
        }
        match self.shutdown.next(now) {
            Some(Request::Wait(end)) => return Step::Wait(Some(end)),
            Some(Request::Cancel) => return Step::Cancel,
            Some(Request::Abandon) => return Step::Abandon,
            None => {}
        }
        let has_little_room = self.capacity.has_little_room();
        let pause = if has_little_room { self.pause.end_for_few() } else { self.pause.end() };
        let look_at = self.look_at.max(pause);
        let limit = self.capacity.room();
        if self.claiming || limit == 0 {
            return Step::Wait(None);
        }
        if now < look_at {
            return Step::Wait(Some(look_at));
        }
        (self.claiming, self.woken) = (true, false);
        self.pause.claim_began(now);
        Step::Claim(limit)
    }

    /// An entry may have become due.
    pub(crate) fn woken(&mut self, now: Instant) {
        self.woken = true;
        if !self.claiming {
            self.look_at = now;
        }
    }

    /// A claim returned this many entries. `next_due` is the time until another is due.
    pub(crate) fn claimed(&mut self, now: Instant, brought: u32, next_due: Option<Duration>) {
        self.claiming = false;
        self.pause.claim_ended(now, brought, next_due);
        self.capacity.claimed(brought);
        let pause = if self.woken { Duration::ZERO } else { next_due.unwrap_or(self.poll) };
        let look_at = now + pause.min(self.poll);
        self.look_at = self.again_at.take().map_or(look_at, |again_at| look_at.min(again_at));
    }

    /// The claim returned an entry on its last attempt.
    pub(crate) fn last_attempt(&mut self, lease: Lease, now: Instant) {
        self.pause.last_attempt(lease, now);
    }

    /// A claim failed.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.claiming = false;
        self.rest(now);
    }

    /// Another call failed, and the next claim needs a pause.
    pub(crate) fn rest(&mut self, now: Instant) {
        self.pause.failed(now);
    }

    /// A handler has ended, or was never started, and its outcome is stored next.
    pub(crate) fn handled(&mut self, lease: Lease) {
        self.capacity.handled();
        self.pause.handled(lease);
    }

    /// The outcome of an attempt is stored or lost. `again` is the time until its entry is due again.
    pub(crate) fn settled(&mut self, now: Instant, again: Option<Duration>) {
        self.capacity.settled();
        let Some(again_at) = again.map(|again| now + again) else { return };
        self.look_at = self.look_at.min(again_at);
        if self.claiming {
            self.again_at = Some(self.again_at.map_or(again_at, |other| other.min(again_at)));
        }
    }

    /// Begins the shutdown: nothing more is claimed, and handlers have the grace period to finish.
    pub(crate) fn stop(&mut self, now: Instant) {
        self.shutdown.begin(now);
    }

    /// Nothing runs any more. Returns the deadline for the store calls in progress.
    pub(crate) fn finish(&mut self, now: Instant) -> Instant {
        self.shutdown.finish(now)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.shutdown.has_begun()
    }

    /// Whether nothing runs, and a claim that saw everything found nothing that is due.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        !self.claiming && self.capacity.unsettled() == 0 && now < self.look_at
    }
}

#[cfg(test)]
mod tests {
    use super::{super::claim_pause::AFTER_FAILURE, *};

    const LEASE: Lease = Lease { id: 1, fence: 1 };
    const POLL: Duration = Duration::from_secs(5);
    const GRACE: Duration = Duration::from_secs(25);
    const AFTER_GRACE: Duration = Duration::from_secs(4);

    fn claim(limit: u32) -> Step {
        Step::Claim(limit)
    }

    fn scheduler() -> (Scheduler, Instant) {
        let now = Instant::now();
        (Scheduler::new(4, POLL, GRACE, now), now)
    }

    #[test]
    fn it_claims_as_much_as_it_may_run() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        assert_eq!(scheduler.next(now), Step::Wait(None), "one claim is under way at a time");
        scheduler.claimed(now, 3, Some(Duration::ZERO));
        assert_eq!(scheduler.next(now), claim(1));
        scheduler.claimed(now, 1, Some(Duration::ZERO));
        assert_eq!(scheduler.next(now), Step::Wait(None));
        scheduler.handled(LEASE);
        scheduler.settled(now, None);
        assert_eq!(scheduler.next(now), claim(1));
    }

    #[test]
    fn it_looks_again_when_something_is_due_and_never_later_than_the_poll() {
        let (mut scheduler, now) = scheduler();
        for (next_due, wait) in [
            (None, POLL),
            (Some(Duration::from_secs(2)), Duration::from_secs(2)),
            (Some(Duration::from_secs(3600)), POLL),
        ] {
            scheduler.woken(now);
            assert_eq!(scheduler.next(now), claim(4));
            scheduler.claimed(now, 0, next_due);
            assert_eq!(scheduler.next(now), Step::Wait(Some(now + wait)));
        }
        assert_eq!(scheduler.next(now + POLL), claim(4));
    }

    #[test]
    fn an_entry_that_is_due_again_is_looked_for_then() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 2, None);
        scheduler.handled(LEASE);
        scheduler.settled(now, Some(Duration::from_secs(2)));
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + Duration::from_secs(2))));
        scheduler.handled(LEASE);
        scheduler.settled(now, Some(POLL * 2));
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + Duration::from_secs(2))));
    }

    #[test]
    fn what_arrives_during_a_claim_is_looked_for_after_it() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.woken(now);
        scheduler.claimed(now, 0, None);
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 0, None);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + POLL)));
    }

    #[test]
    fn a_store_that_failed_is_asked_nothing_for_a_second() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.failed(now);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + AFTER_FAILURE)));
        assert_eq!(scheduler.next(now + AFTER_FAILURE), claim(4));
    }

    #[test]
    fn while_stopping_it_claims_nothing_and_it_stops_when_the_last_attempt_has_ended() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 1, Some(Duration::ZERO));
        scheduler.stop(now);
        assert!(scheduler.is_stopping());
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + GRACE)));
        scheduler.handled(LEASE);
        scheduler.settled(now, None);
        assert_eq!(scheduler.next(now), Step::Stop);
    }

    #[test]
    fn attempts_that_do_not_end_in_the_grace_are_cancelled_once_and_waited_for() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 2, None);
        scheduler.stop(now);
        scheduler.stop(now + GRACE); // the first call counts
        assert_eq!(scheduler.next(now + GRACE), Step::Cancel);
        assert_eq!(scheduler.next(now + GRACE), Step::Wait(Some(now + GRACE + AFTER_GRACE)));
        scheduler.handled(LEASE);
        scheduler.settled(now, None);
        scheduler.handled(LEASE);
        scheduler.settled(now, None);
        assert_eq!(scheduler.next(now + GRACE), Step::Stop);
    }

    #[test]
    fn a_claim_under_way_is_waited_for_before_it_stops() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.stop(now);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + GRACE)));
        scheduler.claimed(now, 1, None);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + GRACE)));
    }

    #[test]
    fn a_call_that_hangs_is_abandoned_four_seconds_after_the_grace() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.stop(now);
        assert_eq!(scheduler.next(now + GRACE), Step::Cancel);
        assert_eq!(scheduler.next(now + GRACE), Step::Wait(Some(now + GRACE + AFTER_GRACE)));
        assert_eq!(scheduler.next(now + GRACE + AFTER_GRACE), Step::Abandon);
    }

    #[test]
    fn a_call_that_hangs_when_nothing_runs_any_more_is_abandoned_after_four_seconds() {
        let (mut scheduler, now) = scheduler();
        scheduler.stop(now);
        assert_eq!(scheduler.next(now), Step::Stop);
        assert_eq!(scheduler.finish(now), now + AFTER_GRACE);
        assert_eq!(scheduler.next(now), Step::Stop);
        assert_eq!(scheduler.next(now + AFTER_GRACE), Step::Abandon);
    }

    #[test]
    fn an_entry_that_ends_during_a_claim_is_looked_for_when_it_is_due_again() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 1, Some(Duration::ZERO));
        assert_eq!(scheduler.next(now), claim(3));
        let soon = Duration::from_secs(1);
        scheduler.handled(LEASE);
        scheduler.settled(now, Some(soon));
        scheduler.claimed(now, 0, None);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + soon)));
    }

    #[test]
    fn a_missing_thread_does_not_end_a_claim_that_has_begun() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 1, Some(Duration::ZERO));
        assert_eq!(scheduler.next(now), claim(3));
        scheduler.handled(LEASE);
        scheduler.settled(now, Some(Duration::ZERO));
        scheduler.rest(now);
        assert_eq!(scheduler.next(now), Step::Wait(None));
        scheduler.claimed(now, 0, None);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + AFTER_FAILURE)));
    }

    #[test]
    fn it_is_idle_when_a_claim_found_nothing_due_and_nothing_runs() {
        let (mut scheduler, now) = scheduler();
        assert!(!scheduler.is_idle(now), "nothing was claimed yet");
        assert_eq!(scheduler.next(now), claim(4));
        assert!(!scheduler.is_idle(now), "a claim is under way");
        scheduler.claimed(now, 1, None);
        assert!(!scheduler.is_idle(now), "an attempt runs");
        scheduler.handled(LEASE);
        scheduler.settled(now, Some(Duration::ZERO));
        assert!(!scheduler.is_idle(now), "its entry is due again");
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.claimed(now, 0, Some(Duration::ZERO));
        assert!(!scheduler.is_idle(now), "something is due that was not claimed");
        assert_eq!(scheduler.next(now + POLL), claim(4));
        scheduler.claimed(now, 0, Some(Duration::from_secs(10)));
        assert!(scheduler.is_idle(now));
    }

    #[test]
    fn a_wake_up_does_not_shorten_the_rest_of_a_store_that_failed() {
        let (mut scheduler, now) = scheduler();
        assert_eq!(scheduler.next(now), claim(4));
        scheduler.failed(now);
        scheduler.woken(now);
        assert_eq!(scheduler.next(now), Step::Wait(Some(now + AFTER_FAILURE)));
    }
}
