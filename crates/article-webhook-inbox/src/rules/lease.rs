use std::time::{Duration, SystemTime};

use super::Row;
use crate::{
    State,
    call::Lease,
    timestamp::{later, to_millis},
};

/// The fence that follows another. It is no smaller than the time in milliseconds, so that none comes again where a store has
/// lost the last claims: after a failover to a standby that lacked them, or from a backup. There the id may come
/// again too, with another entry.
pub(super) fn next_fence(last: i64, now: SystemTime) -> i64 {
    last.saturating_add(1).max(to_millis(now))
}

impl Row {
    /// Whether that lease of the entry still holds. This is the fencing: each claim has another fence, so a worker
    /// whose entry was claimed again, or whose lease has ended, can neither settle nor extend.
    pub(super) fn is_held(&self, lease: Lease, now: SystemTime) -> bool {
        self.state == State::Leased && self.fence == lease.fence && now < self.at
    }

    /// Whether the entry is leased and the lease has ended.
    #[must_use]
    pub fn has_expired_lease(&self, now: SystemTime) -> bool {
        self.state == State::Leased && self.at <= now
    }

    /// Extends a lease to this duration from now. `false` if it no longer holds: then nothing changed.
    pub fn extend(&mut self, lease: Lease, by: Duration, now: SystemTime) -> bool {
        let is_held = self.is_held(lease, now);
        if is_held {
            self.at = later(now, by);
        }
        is_held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::{Claim, Events},
        rules::{ClaimDecision, Claiming},
    };

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const CLAIM: Claim = Claim {
        limit: 1,
        lease: Duration::from_secs(60),
        attempts: 2,
        running: 0,
        events: Events::All,
        retries_first: false,
    };

    fn leased(row: &mut Row, now: SystemTime) -> Lease {
        match Claiming::new(CLAIM, now).decide(1, row) {
            Some(ClaimDecision::Leased { lease, .. }) => lease,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_entry_names_the_node_that_has_it() {
        let mut row = Row::new(START);
        Claiming::new(CLAIM, START).of_node(Some("web-1")).decide(1, &mut row);
        assert_eq!(row.node.as_deref(), Some("web-1"));
    }

    #[test]
    fn a_fence_does_not_come_again_where_claims_were_lost() {
        let now = START + Duration::from_secs(1_700_000_000);
        let before = Row::new(now);
        let (mut old, mut lost) = (before.clone(), before);
        let lease = leased(&mut lost, now);
        let later = now + Duration::from_millis(1);
        let of_standby = leased(&mut old, later);
        assert_ne!(lease, of_standby);
        assert!(!old.is_held(lease, later));

        let again = next_fence(next_fence(of_standby.fence, now), now);
        assert_eq!(again, of_standby.fence + 2, "it also grows within a millisecond");
    }
}
