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
/// A store passes the due entries of the claim's events in the [order](Claim::order) of the claim, at most as many as its limit.
#[derive(Debug)]
pub struct Claiming {
    claim: Claim,
    node: Option<Box<str>>,
    now: SystemTime,
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
        Self { claim, node: None, now, has_leased: false, is_over: false, alone_waits: false }
    }

    /// The claim is of a worker on this node.
    #[must_use]
    pub fn of_node(self, node: Option<&str>) -> Self {
        Self { node: node.map(Into::into), ..self }
    }

    /// Decides about the next entry that [is due](Row::is_due). `None`: it stays as it is, and so do all that follow.
    pub fn decide(&mut self, id: i64, row: &mut Row) -> Option<ClaimDecision> {
        debug_assert!(row.is_due(self.now), "only an entry that is due is claimed");
        if self.is_over {
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
        self.has_leased = true;
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
