use std::time::SystemTime;

use super::{Row, lease::next_fence, row::Cause};
use crate::{
    State,
    call::{Claim, Lease},
    timestamp::later,
};

/// One claim: it decides about the entries that are due, one after the other.
///
/// - An entry that has had all its attempts is discarded. If the last of them was [interrupted](Row::interrupted), another
///   entry may be what crashed the process, so it has one more.
/// - An entry whose attempts were interrupted twice in a row may be what crashes the process. It runs alone, and so does the
///   attempt after an interrupted last one, so that no other entry loses an attempt with it: no handler runs yet, and the
///   claim leases nothing else. If others run, it waits for them, and nothing that comes later in the order of the claim
///   overtakes it.
///
/// A store passes the due entries of the claim's events in the [order](Claim::order) of the claim, until it has had enough.
#[derive(Debug)]
pub struct Claiming {
    claim: Claim,
    node: Option<Box<str>>,
    now: SystemTime,
    /// How many entries were leased or discarded.
    taken: u32,
    has_leased: bool,
    is_over: bool,
    alone_waits: bool,
}

/// What a claim does to an entry that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store handles every decision")]
pub enum ClaimDecision {
    /// The worker gets the entry.
    Leased {
        /// The lease.
        lease: Lease,
        /// Whether the worker must run it alone.
        runs_alone: bool,
    },
    /// No attempt is left: the entry is dead.
    Discarded,
}

/// How many times in a row an entry may be interrupted before it runs alone.
const MAX_INTERRUPTIONS: u32 = 2;

/// The cause of an entry that dies because its last attempt never ended.
const LAST_ATTEMPT_DID_NOT_END: &str = "the last attempt did not end";

impl Claiming {
    /// A claim at this time.
    #[must_use]
    pub fn new(claim: Claim, now: SystemTime) -> Self {
        let (node, taken) = (None, 0);
        Self { claim, node, now, taken, has_leased: false, is_over: false, alone_waits: false }
    }

    /// The claim is of a worker on this node.
    #[must_use]
    pub fn of_node(self, node: Option<&str>) -> Self {
        Self { node: node.map(Into::into), ..self }
    }

    /// Decides about the next entry that [is due](Row::is_due). `None`: it stays as it is, and so do all that follow.
    pub fn decide(&mut self, id: i64, row: &mut Row) -> Option<ClaimDecision> {
        debug_assert!(row.is_due(self.now), "only an entry that is due is claimed");
        if self.is_over || self.taken >= self.claim.limit {
            return None;
        }
        let is_interrupted = row.has_expired_lease(self.now);
        let interrupted = row.interrupted.saturating_add(is_interrupted.into());
        let has_one_more = row.attempts == self.claim.attempts && interrupted > 0;
        if row.attempts >= self.claim.attempts && !has_one_more {
            if is_interrupted {
                row.interrupt(self.now);
            }
            row.discard_exhausted(self.now);
            self.taken += 1;
            return Some(ClaimDecision::Discarded);
        }

        let runs_alone = has_one_more || interrupted >= MAX_INTERRUPTIONS;
        self.is_over = runs_alone;
        self.alone_waits = runs_alone && (self.has_leased || self.claim.running > 0);
        if self.alone_waits {
            return None;
        }
        if is_interrupted {
            row.interrupt(self.now);
        }
        (self.has_leased, self.taken) = (true, self.taken + 1);
        row.node.clone_from(&self.node);
        Some(ClaimDecision::Leased { lease: row.lease(id, &self.claim, self.now), runs_alone })
    }

    /// Whether an entry that must run alone was left, because others run.
    #[must_use]
    pub fn alone_waits(&self) -> bool {
        self.alone_waits
    }
}

impl Claim {
    /// What due entries are sorted by: new ones before those that had an attempt, or the other way round, then by since when
    /// they have been due, then by id.
    #[must_use]
    pub fn order(&self, row: &Row, id: i64) -> (bool, SystemTime, i64) {
        (row.is_retry() != self.retries_first, row.at, id)
    }
}

impl Row {
    /// Whether an attempt at the entry has begun since it was stored or requeued.
    #[must_use]
    pub fn is_retry(&self) -> bool {
        self.attempts > 0
    }

    /// Whether a worker may claim the entry: it waits and its time has come, or it is leased and the lease has ended.
    #[must_use]
    pub fn is_due(&self, now: SystemTime) -> bool {
        matches!(self.state, State::Waiting | State::Leased) && self.at <= now
    }

    fn lease(&mut self, id: i64, claim: &Claim, now: SystemTime) -> Lease {
        // Counted before the handler runs: an article that kills the process must run out of attempts.
        self.attempts = self.attempts.saturating_add(1);
        self.fence = next_fence(self.fence, now);
        (self.state, self.at, self.since) = (State::Leased, later(now, claim.lease), now);
        Lease { id, fence: self.fence }
    }

    fn discard_exhausted(&mut self, now: SystemTime) {
        self.cause.get_or_insert_with(|| LAST_ATTEMPT_DID_NOT_END.into());
        self.end(State::Dead, Cause::Kept, now);
    }

    /// The store cannot read the entry's bodies: the entry is corrupt now, and no attempt is counted.
    pub fn mark_corrupt(&mut self, cause: String, now: SystemTime) {
        // What is in quarantine stays there, for a person to look at.
        let state = match self.state {
            State::Quarantined => State::Quarantined,
            _ => State::Corrupt,
        };
        self.end(state, Cause::New(cause), now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::call::Events;

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const CLAIM: Claim = Claim {
        limit: 10,
        lease: Duration::from_secs(60),
        attempts: 3,
        running: 0,
        events: Events::All,
        retries_first: false,
    };

    /// A row with this many attempts, of which the last were interrupted.
    fn row(attempts: u32, interrupted: u32) -> Row {
        Row { attempts, interrupted, ..Row::new(START) }
    }

    /// For each row: whether it was leased, whether alone, whether it was discarded, or whether it was left.
    fn claimed(claim: Claim, rows: &[Row]) -> (Vec<&'static str>, bool) {
        let mut claiming = Claiming::new(claim, START);
        let mut decide = |row: &Row| match claiming.decide(1, &mut row.clone()) {
            Some(ClaimDecision::Leased { runs_alone: false, .. }) => "leased",
            Some(ClaimDecision::Leased { runs_alone: true, .. }) => "alone",
            Some(ClaimDecision::Discarded) => "discarded",
            None => "left",
        };
        let decisions = rows.iter().map(&mut decide).collect();
        (decisions, claiming.alone_waits())
    }

    #[test]
    fn an_entry_runs_alone_after_two_interruptions_or_once_after_its_last_attempt_was_interrupted()
    {
        let cases = [
            (row(0, 0), "leased"),
            (row(1, 1), "leased"),
            (row(1, 2), "alone"),
            (row(2, 0), "leased"),
            (row(2, 1), "leased"),
            (row(2, 2), "alone"),
            (row(3, 0), "discarded"),
            (row(3, 1), "alone"),
            (row(3, 3), "alone"),
            (row(4, 1), "discarded"),
            (row(4, 4), "discarded"),
        ];
        for (row, expected) in cases {
            assert_eq!(
                claimed(CLAIM, std::slice::from_ref(&row)),
                (vec![expected], false),
                "{row:?}"
            );
        }
    }

    #[test]
    fn an_entry_that_runs_alone_is_the_only_one_of_its_claim() {
        let rows = [row(1, 2), row(0, 0), row(3, 0)];
        assert_eq!(claimed(CLAIM, &rows), (vec!["alone", "left", "left"], false));
    }

    #[test]
    fn an_entry_that_must_run_alone_waits_for_others_and_is_not_overtaken() {
        let rows = [row(3, 0), row(0, 0), row(1, 2), row(0, 0)];
        assert_eq!(claimed(CLAIM, &rows), (vec!["discarded", "leased", "left", "left"], true));
        let busy = Claim { running: 1, ..CLAIM };
        assert_eq!(claimed(busy, &[row(1, 2), row(0, 0)]), (vec!["left", "left"], true));
    }

    #[test]
    fn entries_on_their_last_attempt_run_beside_others() {
        let busy = Claim { running: 3, ..CLAIM };
        let rows = [row(2, 0), row(0, 0), row(2, 1)];
        assert_eq!(claimed(busy, &rows), (vec!["leased"; 3], false));
    }

    #[test]
    fn new_entries_come_before_retries_or_after_them_and_the_oldest_of_each_first() {
        let at =
            |attempts, seconds| Row { attempts, ..Row::new(START + Duration::from_secs(seconds)) };
        let rows = [at(0, 3), at(1, 1), at(0, 2), at(7, 0)];
        let ids = |retries_first| {
            let claim = Claim { retries_first, ..CLAIM };
            let mut ids = [0, 1, 2, 3];
            ids.sort_by_key(|id| claim.order(&rows[*id], 1));
            ids
        };
        assert_eq!(ids(false), [2, 0, 3, 1]);
        assert_eq!(ids(true), [3, 1, 2, 0]);
    }

    /// Bounded attempts.
    #[test]
    fn an_entry_whose_every_attempt_is_interrupted_has_one_more_than_allowed() {
        let mut row = Row::new(START);
        let mut runs = Vec::new();
        while row.state != State::Dead {
            row.at = START;
            match Claiming::new(CLAIM, START).decide(1, &mut row) {
                Some(ClaimDecision::Leased { runs_alone, .. }) => runs.push(runs_alone),
                decision => assert_eq!(decision, Some(ClaimDecision::Discarded)),
            }
        }
        assert_eq!(runs, [false, false, true, true]);
    }

    #[test]
    fn a_claim_takes_no_more_than_its_limit_and_what_it_discards_counts() {
        let few = Claim { limit: 2, ..CLAIM };
        let rows = [row(3, 0), row(0, 0), row(1, 2), row(0, 0)];
        assert_eq!(claimed(few, &rows), (vec!["discarded", "leased", "left", "left"], false));
    }

    #[test]
    fn a_lease_that_ended_is_an_interruption_and_a_wait_is_none() {
        for (state, interrupted) in [(State::Leased, 2), (State::Waiting, 1)] {
            let mut row = Row { state, ..row(1, 1) };
            Claiming::new(CLAIM, START).decide(1, &mut row);
            assert_eq!((row.interrupted, row.attempts), (interrupted, 2), "{state}");
        }
    }

    #[test]
    fn an_entry_that_is_left_stays_as_it_is() {
        let before = Row { state: State::Leased, ..row(1, 1) };
        let mut after = before.clone();
        let busy = Claim { running: 1, ..CLAIM };
        assert_eq!(Claiming::new(busy, START).decide(1, &mut after), None);
        assert_eq!(after, before);
    }

    #[test]
    fn an_entry_without_attempts_dies_of_its_first_cause() {
        let mut known = Row { cause: Some("no network".into()), ..row(3, 0) };
        let mut claiming = Claiming::new(CLAIM, START);
        assert_eq!(claiming.decide(1, &mut known), Some(ClaimDecision::Discarded));
        assert_eq!((known.state, known.cause.as_deref()), (State::Dead, Some("no network")));
        assert!(known.failures.is_empty(), "nothing new failed");

        let mut unknown = row(3, 0);
        assert_eq!(claiming.decide(1, &mut unknown), Some(ClaimDecision::Discarded));
        assert_eq!(unknown.cause.as_deref(), Some(LAST_ATTEMPT_DID_NOT_END));
    }

    #[test]
    fn damage_costs_no_attempt_and_keeps_the_fence() {
        let mut row = Row { attempts: 1, fence: 4, ..Row::new(START) };
        row.mark_corrupt("its digest is unreadable".into(), START);
        assert_eq!((row.state, row.attempts, row.fence), (State::Corrupt, 1, 4));
        assert_eq!(row.cause.as_deref(), Some("its digest is unreadable"));
    }
}
