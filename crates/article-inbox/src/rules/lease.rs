use std::time::{Duration, SystemTime};

use super::Row;
use crate::{State, call::Lease, timestamp::later};

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
    };

    fn leased(row: &mut Row, now: SystemTime) -> Lease {
        match Claiming::new(CLAIM, now).decide(1, row) {
            Some(ClaimDecision::Leased { lease, .. }) => lease,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lease_holds_until_the_millisecond_it_ends() {
        let mut row = Row::new(START);
        let lease = leased(&mut row, START);
        let end = START + CLAIM.lease;
        assert!(row.is_held(lease, end - Duration::from_millis(1)));
        assert!(!row.has_expired_lease(end - Duration::from_millis(1)));
        assert!(!row.is_held(lease, end));
        assert!(row.is_due(end) && row.has_expired_lease(end));
    }

    #[test]
    fn a_lost_lease_is_not_extended() {
        let mut row = Row::new(START);
        let lost = leased(&mut row, START);
        let now = START + CLAIM.lease;
        leased(&mut row, now);
        let before = row.clone();
        assert!(!row.extend(lost, CLAIM.lease, now));
        assert_eq!(row, before);
    }
}
