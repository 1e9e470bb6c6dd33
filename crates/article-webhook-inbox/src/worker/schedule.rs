//! The decisions of a worker, as a state machine without I/O and without a clock: events and the time go in, the next
//! action comes out.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::{retention::Removed, settings::Settings};
use crate::call::Lease;

/// How long a worker claims nothing after the store failed. It doubles with each failure in a row, so that an outage of an hour
/// is not a line in the log for each of its seconds.
const CLAIM_PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);
const MAX_CLAIM_PAUSE_AFTER_FAILURES: Duration = Duration::from_secs(8);

/// How long it claims nothing after a claim that brought nothing of what is due: another transaction holds it, or the clock
/// of the store was set.
const CLAIM_PAUSE_AFTER_NOTHING: Duration = Duration::from_millis(20);

/// How long a claim of few entries waits at most.
const MAX_PAUSE_BEFORE_SMALL_CLAIM: Duration = Duration::from_millis(20);

/// The pause before leases are extended again, after the store failed to.
const EXTEND_PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(500);

/// The interval between two searches for old data.
const PRUNE_INTERVAL: Duration = Duration::from_secs(3600);

/// The pause between two batches of old data, in which the store serves deliveries.
const PRUNE_PAUSE: Duration = Duration::from_millis(100);

/// The pause before old data is looked for again, after the store failed or while its clock cannot be trusted.
const PRUNE_PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(60);

/// How long after the grace an attempt may take to end and to store its outcome. With the grace of 25 seconds this stays
/// within the 30 seconds that most platforms give. A remaining lease expires.
const TIME_AFTER_GRACE: Duration = Duration::from_secs(4);

/// When a worker claims and how much, when it extends leases and removes old data, and when it ends.
///
/// It claims when it is woken, when an entry becomes due, and at each poll, if it has room. Up to `concurrency` handlers
/// run at once. While the outcomes of the last attempts are stored, the next are claimed, so that both can share a commit.
/// It claims nothing once it is stopping.
///
/// A claim of few entries costs as much as one of many. So after a claim, the next one waits twice as long as that one
/// took, unless half of the handlers are free before.
#[derive(Debug)]
pub(super) struct Schedule {
    concurrency: u32,
    poll: Duration,
    lease: Duration,
    grace: Duration,
    stops_when_idle: bool,

    /// When the claim under way began.
    claim_began: Option<Instant>,
    claim_at: Instant,
    /// Woken during a claim, which may not have seen the new entry.
    is_woken: bool,
    /// When an entry that was settled during a claim is due again. The claim may not have seen it.
    again_at: Option<Instant>,
    no_claim_before: Instant,
    /// The pause after the next failure.
    claim_pause: Duration,
    few_before: Instant,

    running: u32,
    /// Attempts whose handlers have ended, and whose outcomes are not stored yet.
    settling: u32,
    /// Until when each lease certainly holds.
    held: HashMap<Lease, Instant>,
    extend_at: Instant,
    /// When the call to extend began that is under way.
    extend_began: Option<Instant>,

    prune_at: Instant,
    is_pruning: bool,

    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Working,
    /// Handlers may continue until this time.
    Grace(Instant),
    /// Handlers were cancelled. At this time the rest is abandoned.
    Cancelled(Instant),
}

/// What the worker does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Claim at most this many entries, and report the result.
    Claim(u32),
    /// Extend these leases, and report the result.
    Extend(Vec<Lease>),
    /// These leases have ended: end their attempts.
    GiveUp(Vec<Lease>),
    /// Remove a batch of old data, and report the result.
    Prune,
    /// The grace is over: end the attempts that still run.
    Cancel,
    /// Nothing runs any more, or what does is abandoned.
    End,
    /// Wait for an event, or until this time.
    Wait(Option<Instant>),
}

impl Schedule {
    pub(super) fn new(settings: &Settings, poll: Duration, now: Instant) -> Self {
        let Settings { concurrency, lease, grace, .. } = *settings;
        Self {
            concurrency,
            poll,
            lease,
            grace,
            stops_when_idle: false,
            claim_began: None,
            claim_at: now,
            is_woken: false,
            again_at: None,
            no_claim_before: now,
            claim_pause: CLAIM_PAUSE_AFTER_FAILURE,
            few_before: now,
            running: 0,
            settling: 0,
            held: HashMap::new(),
            extend_at: now,
            extend_began: None,
            prune_at: now,
            is_pruning: false,
            phase: Phase::Working,
        }
    }

    /// It stops once a claim that saw everything found nothing due, and nothing runs.
    pub(super) fn until_idle(self) -> Self {
        Self { stops_when_idle: true, ..self }
    }

    pub(super) fn next(&mut self, now: Instant) -> Step {
        let ended = self.held.iter().filter(|(_, end)| **end <= now);
        let ended: Vec<_> = ended.map(|(lease, _)| *lease).collect();
        if !ended.is_empty() {
            self.held.retain(|_, end| *end > now);
            return Step::GiveUp(ended);
        }
        if let Some(step) = self.stop_next(now) {
            return step;
        }
        if self.extend_began.is_none() && !self.held.is_empty() && self.extend_at <= now {
            self.extend_began = Some(now);
            self.extend_at = now + self.lease / 3;
            return Step::Extend(self.held.keys().copied().collect());
        }
        if self.may_prune() && self.prune_at <= now {
            self.is_pruning = true;
            return Step::Prune;
        }
        let claim_at = self.next_claim();
        if claim_at.is_some_and(|claim_at| claim_at <= now) {
            (self.claim_began, self.is_woken) = (Some(now), false);
            return Step::Claim(self.room());
        }
        let (grace_end, prune_at) = match self.phase {
            Phase::Working => (None, self.may_prune().then_some(self.prune_at)),
            Phase::Grace(end) | Phase::Cancelled(end) => (Some(end), None),
        };
        // Leases also end while the store is extending them.
        let may_extend = self.extend_began.is_none() && !self.held.is_empty();
        let extend_at = may_extend.then_some(self.extend_at);
        let lease_end = self.held.values().min().copied();
        let timers = [claim_at, extend_at, lease_end, prune_at, grace_end];
        Step::Wait(timers.into_iter().flatten().min())
    }

    /// What ends the worker, once it is stopping.
    fn stop_next(&mut self, now: Instant) -> Option<Step> {
        // A claim under way returns leases, which must be given back.
        let has_attempts = self.claim_began.is_some() || self.unsettled() > 0;
        let is_calling = self.extend_began.is_some() || self.is_pruning;
        match self.phase {
            Phase::Working => None,
            _ if !has_attempts && !is_calling => Some(Step::End),
            Phase::Grace(end) if end <= now || !has_attempts => {
                self.phase = Phase::Cancelled(now + TIME_AFTER_GRACE);
                Some(Step::Cancel)
            }
            Phase::Cancelled(end) if end <= now => Some(Step::End),
            Phase::Grace(_) | Phase::Cancelled(_) => None,
        }
    }

    fn may_prune(&self) -> bool {
        !self.is_pruning && !self.is_stopping()
    }

    /// When to claim next; `None` if an event must come first.
    fn next_claim(&self) -> Option<Instant> {
        let room = self.room();
        if self.is_stopping() || self.claim_began.is_some() || room == 0 {
            return None;
        }
        let claim_at = self.claim_at.max(self.no_claim_before);
        let is_few = room < self.concurrency.div_ceil(2);
        Some(if is_few { claim_at.max(self.few_before) } else { claim_at })
    }

    /// How many entries may be claimed. None while a slow store has as many outcomes left to store.
    fn room(&self) -> u32 {
        let all = self.concurrency.saturating_mul(2).saturating_sub(self.unsettled());
        self.concurrency.saturating_sub(self.running).min(all)
    }

    fn unsettled(&self) -> u32 {
        self.running + self.settling
    }

    /// An entry may have become due.
    pub(super) fn woken(&mut self, now: Instant) {
        self.is_woken = true;
        if self.claim_began.is_none() {
            self.claim_at = now;
        }
    }

    /// A claim granted these leases. `next_due` is the time until another entry is due. Returns whether attempts may begin
    /// under them: not while the worker stops, and not if they have ended by now.
    pub(super) fn claimed(
        &mut self,
        now: Instant,
        leases: impl IntoIterator<Item = Lease>,
        next_due: Option<Duration>,
    ) -> bool {
        let began = self.claim_began.take().unwrap_or(now);
        self.claim_pause = CLAIM_PAUSE_AFTER_FAILURE;
        self.few_before = now + (2 * (now - began)).min(MAX_PAUSE_BEFORE_SMALL_CLAIM);
        if self.held.is_empty() {
            self.extend_at = began + self.lease / 3;
        }
        let running = self.running;
        for lease in leases {
            self.running += 1;
            self.held.insert(lease, began + self.lease);
        }
        if self.running == running && next_due == Some(Duration::ZERO) {
            self.no_claim_before = self.no_claim_before.max(now + CLAIM_PAUSE_AFTER_NOTHING);
        }
        let pause = if self.is_woken { Duration::ZERO } else { next_due.unwrap_or(self.poll) };
        let claim_at = now + pause.min(self.poll);
        self.claim_at = self.again_at.take().map_or(claim_at, |again_at| claim_at.min(again_at));
        if self.stops_when_idle && self.unsettled() == 0 && now < self.claim_at {
            self.stop(now);
        }
        !self.is_stopping() && now < began + self.lease
    }

    /// A claim failed.
    pub(super) fn claim_failed(&mut self, now: Instant) {
        self.claim_began = None;
        self.no_claim_before = now + self.claim_pause;
        self.claim_pause = (2 * self.claim_pause).min(MAX_CLAIM_PAUSE_AFTER_FAILURES);
    }

    /// The system or the store has no room for another attempt.
    pub(super) fn pause_claims(&mut self, now: Instant) {
        self.no_claim_before = now + CLAIM_PAUSE_AFTER_FAILURE;
    }

    /// A handler has ended, or did not begin, and its outcome is stored next.
    pub(super) fn handled(&mut self) {
        self.running -= 1;
        self.settling += 1;
    }

    /// The outcome of an attempt is stored or lost. `again` is the time until its entry is due again.
    pub(super) fn settled(&mut self, now: Instant, lease: Lease, again: Option<Duration>) {
        self.settling -= 1;
        self.held.remove(&lease);
        // Whether anything is due now is known after another claim.
        let again = if self.stops_when_idle { Some(Duration::ZERO) } else { again };
        let Some(again_at) = again.map(|again| now + again) else { return };
        self.claim_at = self.claim_at.min(again_at);
        if self.claim_began.is_some() {
            self.again_at = Some(self.again_at.map_or(again_at, |other| other.min(again_at)));
        }
    }

    /// Of these leases, those in `still` were extended. Returns the lost ones.
    pub(super) fn extended(&mut self, leases: &[Lease], still: &[Lease]) -> Vec<Lease> {
        let Some(began) = self.extend_began.take() else { return Vec::new() };
        let mut lost = Vec::new();
        for lease in leases {
            if still.contains(lease) {
                self.held.entry(*lease).and_modify(|end| *end = began + self.lease);
            } else if self.held.remove(lease).is_some() {
                lost.push(*lease);
            }
        }
        lost
    }

    /// The store failed to extend leases.
    pub(super) fn extend_failed(&mut self, now: Instant) {
        self.extend_began = None;
        self.extend_at = now + EXTEND_PAUSE_AFTER_FAILURE.min(self.lease / 3);
    }

    /// A batch of old data was removed.
    pub(super) fn pruned(&mut self, now: Instant, removed: &Removed) {
        self.is_pruning = false;
        self.prune_at = now + if removed.has_more() { PRUNE_PAUSE } else { PRUNE_INTERVAL };
    }

    /// The store failed to, or its clock cannot be trusted yet. Retention is not urgent.
    pub(super) fn prune_failed(&mut self, now: Instant) {
        self.is_pruning = false;
        self.prune_at = now + PRUNE_PAUSE_AFTER_FAILURE;
    }

    /// Begins the shutdown. Only the first call counts.
    pub(super) fn stop(&mut self, now: Instant) {
        if !self.is_stopping() {
            self.phase = Phase::Grace(now + self.grace);
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.phase != Phase::Working
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Lease = Lease { id: 1, fence: 1 };
    const OTHER: Lease = Lease { id: 2, fence: 1 };
    const TIME: Duration = Duration::from_secs(60);
    const POLL: Duration = Duration::from_secs(5);
    const SOON: Duration = Duration::from_secs(1);

    /// A schedule of four handlers that has nothing to remove.
    fn schedule() -> (Schedule, Instant) {
        let now = Instant::now();
        let settings = Settings { lease: TIME, ..Settings::default() };
        let mut schedule = Schedule::new(&settings, POLL, now);
        assert_eq!(schedule.next(now), Step::Prune);
        schedule.pruned(now, &Removed::default());
        (schedule, now)
    }

    fn leases(count: i64) -> impl Iterator<Item = Lease> {
        (1..=count).map(|id| Lease { id, fence: 1 })
    }

    fn end(schedule: &mut Schedule, now: Instant, lease: Lease, again: Option<Duration>) {
        schedule.handled();
        schedule.settled(now, lease, again);
    }

    #[test]
    fn it_claims_again_when_something_is_due_and_never_later_than_the_poll() {
        let (mut schedule, now) = schedule();
        for (next_due, wait) in [(None, POLL), (Some(POLL / 2), POLL / 2), (Some(TIME), POLL)] {
            schedule.woken(now);
            assert_eq!(schedule.next(now), Step::Claim(4));
            schedule.claimed(now, [], next_due);
            assert_eq!(schedule.next(now), Step::Wait(Some(now + wait)));
        }
        assert_eq!(schedule.next(now + POLL), Step::Claim(4));
    }

    #[test]
    fn what_arrives_during_a_claim_is_claimed_after_it() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.next(now), Step::Claim(4));
        schedule.woken(now);
        schedule.claimed(now, [], None);
        assert_eq!(schedule.next(now), Step::Claim(4));
        schedule.claimed(now, [], None);
        assert_eq!(schedule.next(now), Step::Wait(Some(now + POLL)));
    }

    #[test]
    fn an_entry_that_is_due_again_is_claimed_then_also_if_it_was_settled_during_a_claim() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.next(now), Step::Claim(4));
        schedule.claimed(now, leases(2), None);
        end(&mut schedule, now, LEASE, Some(SOON * 2));
        assert_eq!(schedule.next(now), Step::Wait(Some(now + SOON * 2)));
        schedule.woken(now);
        assert_eq!(schedule.next(now), Step::Claim(3));
        end(&mut schedule, now, OTHER, Some(SOON));
        schedule.claimed(now, [], None);
        assert_eq!(schedule.next(now), Step::Wait(Some(now + SOON)));
    }

    #[test]
    fn after_a_failure_nothing_is_claimed_for_a_while_whatever_wakes_it() {
        let (mut schedule, mut now) = schedule();
        for seconds in [1, 2, 4, 8, 8] {
            assert_eq!(schedule.next(now), Step::Claim(4));
            schedule.claim_failed(now);
            schedule.woken(now);
            let next = now + Duration::from_secs(seconds);
            assert_eq!(schedule.next(now), Step::Wait(Some(next)));
            now = next;
        }
        assert_eq!(schedule.next(now), Step::Claim(4));
        schedule.claimed(now, [LEASE], None);
        schedule.woken(now);
        assert_eq!(schedule.next(now), Step::Claim(3));
        schedule.claim_failed(now);
        let next = now + CLAIM_PAUSE_AFTER_FAILURE;
        assert_eq!(schedule.next(now), Step::Wait(Some(next)), "the outage was over");
    }

    #[test]
    fn a_claim_that_brought_nothing_of_what_is_due_is_not_repeated_at_once() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.next(now), Step::Claim(4));
        schedule.claimed(now, [], Some(Duration::ZERO));
        assert_eq!(schedule.next(now), Step::Wait(Some(now + CLAIM_PAUSE_AFTER_NOTHING)));
    }

    #[test]
    fn no_attempt_begins_under_a_lease_that_has_ended_or_while_it_stops() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.next(now), Step::Claim(4));
        assert!(schedule.claimed(now, [LEASE], Some(Duration::ZERO)));
        assert_eq!(schedule.next(now), Step::Claim(3));
        assert!(!schedule.claimed(now + TIME, [OTHER], None));
        schedule.stop(now);
        assert!(!schedule.claimed(now, [OTHER], None));
    }

    #[test]
    fn an_attempt_that_is_over_is_neither_extended_nor_lost() {
        let (mut schedule, now) = schedule();
        schedule.claimed(now, [LEASE, OTHER], None);
        assert!(matches!(schedule.next(now + TIME / 3), Step::Extend(_)));
        end(&mut schedule, now, LEASE, None);
        assert_eq!(schedule.extended(&[LEASE, OTHER], &[OTHER]), []);
        assert_eq!(schedule.held.len(), 1);
    }
}
