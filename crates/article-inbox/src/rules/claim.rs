use std::time::SystemTime;

use super::{Row, row::Cause};
use crate::{
    State,
    call::{Claim, Lease},
    timestamp::later,
};

/// What a claim does to an entry that is due.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_inbox::store::{Claim, ClaimDecision, Row};
///
/// let now = SystemTime::now();
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 3, running: 0 };
/// assert!(matches!(Row::new(now).claim(7, &claim, now), ClaimDecision::Leased(lease) if lease.id == 7));
///
/// let mut exhausted = Row { attempts: 3, ..Row::new(now) };
/// assert_eq!(exhausted.claim(7, &claim, now), ClaimDecision::Buried);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store handles every decision")]
pub enum ClaimDecision {
    /// The worker gets the entry, under this lease.
    Leased(Lease),
    /// No attempt is left: the entry is dead.
    Buried,
}

/// The cause of an entry that dies because its last attempt never ended.
const LAST_ATTEMPT_DID_NOT_END: &str = "the last attempt did not end";

impl Row {
    /// Whether a worker may claim the entry: it waits and its time has come, or it is leased and the lease has ended.
    #[must_use]
    pub fn is_due(&self, now: SystemTime) -> bool {
        matches!(self.state, State::Waiting | State::Leased) && self.at <= now
    }

    /// Leases an entry that [is due](Self::is_due), or buries it if no attempt is left.
    pub fn claim(&mut self, id: i64, claim: &Claim, now: SystemTime) -> ClaimDecision {
        debug_assert!(self.is_due(now), "only an entry that is due is claimed");
        if self.has_expired_lease(now) {
            self.interrupted = self.interrupted.saturating_add(1);
        }
        if self.attempts >= claim.attempts {
            let cause = match self.cause {
                Some(_) => Cause::Kept,
                None => Cause::New(LAST_ATTEMPT_DID_NOT_END.into()),
            };
            self.end(State::Dead, cause, now);
            return ClaimDecision::Buried;
        }
        // Counted before the handler runs: an article that kills the process must run out of attempts.
        self.attempts = self.attempts.saturating_add(1);
        self.fence = self.fence.wrapping_add(1);
        (self.state, self.at, self.since) = (State::Leased, later(now, claim.lease), now);
        ClaimDecision::Leased(Lease { id, fence: self.fence })
    }

    /// The store cannot read the entry's bodies: the entry is corrupt now, and no attempt is counted.
    pub fn find_damaged(&mut self, cause: String, now: SystemTime) {
        self.end(State::Corrupt, Cause::New(cause), now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const CLAIM: Claim =
        Claim { limit: 1, lease: Duration::from_secs(60), attempts: 2, running: 0 };

    #[test]
    fn an_entry_without_attempts_dies_of_its_first_cause() {
        let exhausted = || Row { attempts: 2, ..Row::new(START) };
        let mut known = Row { cause: Some("no network".into()), ..exhausted() };
        assert_eq!(known.claim(1, &CLAIM, START), ClaimDecision::Buried);
        assert_eq!((known.state, known.cause.as_deref()), (State::Dead, Some("no network")));

        let mut unknown = exhausted();
        assert_eq!(unknown.claim(1, &CLAIM, START), ClaimDecision::Buried);
        assert_eq!(unknown.cause.as_deref(), Some(LAST_ATTEMPT_DID_NOT_END));
    }

    #[test]
    fn damage_costs_no_attempt_and_keeps_the_fence() {
        let mut row = Row { attempts: 1, fence: 4, ..Row::new(START) };
        row.find_damaged("its digest is unreadable".into(), START);
        assert_eq!((row.state, row.attempts, row.fence), (State::Corrupt, 1, 4));
        assert_eq!(row.cause.as_deref(), Some("its digest is unreadable"));
    }
}
