use std::time::{Duration, Instant};

/// How long a worker leaves a store alone that has just failed.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// How long after the grace an attempt may take to end and to store its outcome. With the grace of 25 seconds that is
/// within the 30 that most platforms give; a lease that is left over ends by itself.
const AFTER_GRACE: Duration = Duration::from_secs(4);

/// When a worker claims, how much, and how it comes to an end: as many handlers at once as are allowed, the next
/// while the outcomes of the last are stored, so that both can share a commit; looking for more when it is woken, when
/// something becomes due, and now and then; none any more once it is to stop.
#[derive(Debug)]
pub(crate) struct Pace {
    concurrency: u32,
    poll: Duration,
    grace: Duration,
    running: u32,
    /// Their handlers have ended, and their outcomes are not stored yet.
    settling: u32,
    claiming: bool,
    /// Woken while claiming: what woke it may have come too late for that claim.
    woken: bool,
    look_at: Instant,
    /// What ended while claiming is due again then: that claim may have come too early for it.
    again_at: Option<Instant>,
    /// Until then nothing is claimed, whatever happens.
    rest: Instant,
    stopping: Option<Stopping>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopping {
    Until(Instant),
    Cancelled(Instant),
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Claim up to so many, and say what came of it.
    Claim(u32),
    /// Nothing until something happens, or until then.
    Wait(Option<Instant>),
    /// The time to stop is over: end the attempts that still run.
    Cancel,
    /// Nothing runs any more.
    Stop,
    /// The store hangs: what still runs is left to itself.
    Abandon,
}

impl Pace {
    pub(crate) fn new(concurrency: u32, poll: Duration, grace: Duration, now: Instant) -> Self {
        Self {
            concurrency,
            poll,
            grace,
            running: 0,
            settling: 0,
            claiming: false,
            woken: false,
            look_at: now,
            again_at: None,
            rest: now,
            stopping: None,
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Step {
        let look_at = self.look_at.max(self.rest);
        match self.stopping {
            Some(Stopping::Cancelled(end)) if now >= end => Step::Abandon,
            // Whatever is being claimed comes under a lease, which must be given back.
            Some(_) if !self.claiming && self.running + self.settling == 0 => Step::Stop,
            Some(Stopping::Until(end)) if now >= end => {
                self.stopping = Some(Stopping::Cancelled(end + AFTER_GRACE));
                Step::Cancel
            }
            Some(Stopping::Until(end) | Stopping::Cancelled(end)) => Step::Wait(Some(end)),
            None if self.claiming => Step::Wait(None),
            None if self.room() == 0 => Step::Wait(None),
            None if now < look_at => Step::Wait(Some(look_at)),
            None => {
                (self.claiming, self.woken) = (true, false);
                Step::Claim(self.room())
            }
        }
    }

    /// How many more handlers may run; none while a store that is slow has as many outcomes to take.
    fn room(&self) -> u32 {
        let all = self.concurrency.saturating_mul(2).saturating_sub(self.running + self.settling);
        self.concurrency.saturating_sub(self.running).min(all)
    }

    /// Something may have become due.
    pub(crate) fn woken(&mut self, now: Instant) {
        self.woken = true;
        if !self.claiming {
            self.look_at = now;
        }
    }

    /// A claim brought so many, of the number that `next` named; `next_due` is how long it is until more is due.
    pub(crate) fn claimed(&mut self, now: Instant, brought: u32, next_due: Option<Duration>) {
        self.claiming = false;
        self.running += brought;
        let pause = if self.woken { Duration::ZERO } else { next_due.unwrap_or(self.poll) };
        let look_at = now + pause.min(self.poll);
        self.look_at = self.again_at.take().map_or(look_at, |again_at| look_at.min(again_at));
    }

    /// A claim failed.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.claiming = false;
        self.rest(now);
    }

    /// Something failed that needs a pause before the next claim, and is no claim itself.
    pub(crate) fn rest(&mut self, now: Instant) {
        self.rest = now + AFTER_FAILURE;
    }

    /// A handler has ended, or was never started, and the outcome is to be stored.
    pub(crate) fn handled(&mut self) {
        self.running -= 1;
        self.settling += 1;
    }

    /// An attempt is over, and its outcome stored or lost. `again` is how long it is until its entry is due again.
    pub(crate) fn ended(&mut self, now: Instant, again: Option<Duration>) {
        self.settling -= 1;
        let Some(again_at) = again.map(|again| now + again) else { return };
        self.look_at = self.look_at.min(again_at);
        if self.claiming {
            self.again_at = Some(self.again_at.map_or(again_at, |other| other.min(again_at)));
        }
    }

    /// To stop: nothing is claimed any more, and what runs has the grace to end.
    pub(crate) fn stop(&mut self, now: Instant) {
        if self.stopping.is_none() {
            self.stopping = Some(Stopping::Until(now + self.grace));
        }
    }

    /// When the store has had its time, now that nothing runs any more: until then what it was asked for is waited for.
    pub(crate) fn over(&mut self, now: Instant) -> Instant {
        match self.stopping {
            Some(Stopping::Cancelled(end)) => end,
            Some(Stopping::Until(_)) | None => {
                let end = now + AFTER_GRACE;
                self.stopping = Some(Stopping::Cancelled(end));
                end
            }
        }
    }

    /// Whether it was told to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: Duration = Duration::from_secs(5);
    const GRACE: Duration = Duration::from_secs(25);

    fn pace() -> (Pace, Instant) {
        let now = Instant::now();
        (Pace::new(4, POLL, GRACE, now), now)
    }

    #[test]
    fn it_claims_as_much_as_it_may_run() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 3, Some(Duration::ZERO));
        assert_eq!(pace.next(now), Step::Claim(1));
        pace.claimed(now, 1, Some(Duration::ZERO));
        assert_eq!(pace.next(now), Step::Wait(None));
        pace.handled();
        pace.ended(now, None);
        assert_eq!(pace.next(now), Step::Claim(1));
    }

    #[test]
    fn the_next_is_claimed_while_outcomes_are_stored_but_not_more_than_as_many_again() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 4, Some(Duration::ZERO));
        for handled in 1..=4 {
            pace.handled();
            assert_eq!(pace.next(now), Step::Claim(handled));
            pace.claimed(now, 0, Some(Duration::ZERO));
        }
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 4, Some(Duration::ZERO));
        pace.handled();
        assert_eq!(pace.next(now), Step::Wait(None));
        pace.ended(now, None);
        assert_eq!(pace.next(now), Step::Claim(1));
    }

    #[test]
    fn one_claim_is_under_way_at_a_time() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        assert_eq!(pace.next(now), Step::Wait(None));
    }

    #[test]
    fn it_looks_again_when_something_is_due_and_never_later_than_the_poll() {
        let (mut pace, now) = pace();
        for (next_due, wait) in [
            (None, POLL),
            (Some(Duration::from_secs(2)), Duration::from_secs(2)),
            (Some(Duration::from_secs(3600)), POLL),
        ] {
            pace.woken(now);
            assert_eq!(pace.next(now), Step::Claim(4));
            pace.claimed(now, 0, next_due);
            assert_eq!(pace.next(now), Step::Wait(Some(now + wait)));
        }
        assert_eq!(pace.next(now + POLL), Step::Claim(4));
    }

    #[test]
    fn an_entry_that_is_due_again_is_looked_for_then() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 2, None);
        pace.handled();
        pace.ended(now, Some(Duration::from_secs(2)));
        assert_eq!(pace.next(now), Step::Wait(Some(now + Duration::from_secs(2))));
        pace.handled();
        pace.ended(now, Some(POLL * 2));
        assert_eq!(pace.next(now), Step::Wait(Some(now + Duration::from_secs(2))));
    }

    #[test]
    fn what_arrives_during_a_claim_is_looked_for_after_it() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.woken(now);
        pace.claimed(now, 0, None);
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 0, None);
        assert_eq!(pace.next(now), Step::Wait(Some(now + POLL)));
    }

    #[test]
    fn a_store_that_failed_is_left_alone_for_a_second() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.failed(now);
        assert_eq!(pace.next(now), Step::Wait(Some(now + AFTER_FAILURE)));
        assert_eq!(pace.next(now + AFTER_FAILURE), Step::Claim(4));
    }

    #[test]
    fn once_told_to_stop_it_claims_nothing_and_stops_when_the_last_attempt_has_ended() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 1, Some(Duration::ZERO));
        pace.stop(now);
        assert!(pace.is_stopping());
        assert_eq!(pace.next(now), Step::Wait(Some(now + GRACE)));
        pace.handled();
        pace.ended(now, None);
        assert_eq!(pace.next(now), Step::Stop);
    }

    #[test]
    fn attempts_that_do_not_end_in_the_grace_are_cancelled_once_and_waited_for() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 2, None);
        pace.stop(now);
        pace.stop(now + GRACE); // the first word counts
        assert_eq!(pace.next(now + GRACE), Step::Cancel);
        assert_eq!(pace.next(now + GRACE), Step::Wait(Some(now + GRACE + AFTER_GRACE)));
        pace.handled();
        pace.ended(now, None);
        pace.handled();
        pace.ended(now, None);
        assert_eq!(pace.next(now + GRACE), Step::Stop);
    }

    #[test]
    fn a_claim_under_way_is_waited_for_before_it_stops() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.stop(now);
        assert_eq!(pace.next(now), Step::Wait(Some(now + GRACE)));
        pace.claimed(now, 1, None);
        assert_eq!(pace.next(now), Step::Wait(Some(now + GRACE)));
    }

    #[test]
    fn what_hangs_is_left_to_itself_four_seconds_after_the_grace() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.stop(now);
        assert_eq!(pace.next(now + GRACE), Step::Cancel);
        assert_eq!(pace.next(now + GRACE), Step::Wait(Some(now + GRACE + AFTER_GRACE)));
        assert_eq!(pace.next(now + GRACE + AFTER_GRACE), Step::Abandon);
    }

    #[test]
    fn a_call_that_hangs_when_nothing_runs_any_more_is_waited_for_four_seconds() {
        let (mut pace, now) = pace();
        pace.stop(now);
        assert_eq!(pace.next(now), Step::Stop);
        assert_eq!(pace.over(now), now + AFTER_GRACE);
        assert_eq!(pace.next(now), Step::Stop);
        assert_eq!(pace.over(now + AFTER_GRACE / 2), now + AFTER_GRACE);
        assert_eq!(pace.next(now + AFTER_GRACE), Step::Abandon);
    }

    #[test]
    fn an_entry_that_ends_during_a_claim_is_looked_for_when_it_is_due_again() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 1, Some(Duration::ZERO));
        assert_eq!(pace.next(now), Step::Claim(3));
        let soon = Duration::from_secs(1);
        pace.handled();
        pace.ended(now, Some(soon));
        pace.claimed(now, 0, None);
        assert_eq!(pace.next(now), Step::Wait(Some(now + soon)));
    }

    #[test]
    fn a_thread_that_the_system_does_not_give_ends_no_claim_that_is_under_way() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.claimed(now, 1, Some(Duration::ZERO));
        assert_eq!(pace.next(now), Step::Claim(3));
        pace.handled();
        pace.ended(now, Some(Duration::ZERO));
        pace.rest(now);
        assert_eq!(pace.next(now), Step::Wait(None));
        pace.claimed(now, 0, None);
        assert_eq!(pace.next(now), Step::Wait(Some(now + AFTER_FAILURE)));
    }

    #[test]
    fn nothing_that_wakes_it_disturbs_a_store_that_failed() {
        let (mut pace, now) = pace();
        assert_eq!(pace.next(now), Step::Claim(4));
        pace.failed(now);
        pace.woken(now);
        assert_eq!(pace.next(now), Step::Wait(Some(now + AFTER_FAILURE)));
    }
}
