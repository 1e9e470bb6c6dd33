use std::time::SystemTime;

use super::Row;
use crate::{State, call::Prune, timestamp::rounded};

#[doc(hidden)]
impl Prune {
    /// Whether a body of this entry loses its bytes, if it was stored at `received_at`. A body that was
    /// stored after the limit keeps them.
    #[must_use]
    pub fn removes_bytes(&self, row: &Row, received_at: SystemTime) -> bool {
        let before = rounded(self.bodies_before);
        row.state == State::Done && row.at < before && received_at <= before
    }

    /// Whether this entry is removed with everything about it.
    #[must_use]
    pub fn removes_entry(&self, row: &Row) -> bool {
        let before = match row.state {
            State::Done | State::Unhandled => Some(self.entries_before),
            State::Dead => self.dead_before,
            State::Waiting | State::Leased | State::Corrupt | State::Quarantined => None,
        };
        before.is_some_and(|before| row.at < rounded(before))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMIT: SystemTime = SystemTime::UNIX_EPOCH;

    fn prune() -> Prune {
        let before = LIMIT + Duration::from_secs(10);
        Prune { bodies_before: before, entries_before: before, dead_before: None, limit: 1 }
    }

    #[test]
    fn only_what_ended_before_the_limit_is_removed() {
        let before = LIMIT + Duration::from_secs(10);
        for &state in State::ALL {
            let row = |at| Row { state, ..Row::new(at) };
            let ended = matches!(state, State::Done | State::Unhandled);
            let early = before - Duration::from_millis(1);
            assert_eq!(prune().removes_entry(&row(early)), ended, "{state}");
            assert!(!prune().removes_entry(&row(before)), "{state}");
            assert_eq!(prune().removes_bytes(&row(early), before), state == State::Done, "{state}");
            assert!(!prune().removes_bytes(&row(before), before), "{state}");
        }
    }

    #[test]
    fn dead_entries_are_removed_by_a_limit_of_their_own() {
        let limit = LIMIT + Duration::from_secs(5);
        let prune = Prune { dead_before: Some(limit), ..prune() };
        let dead = |at| Row { state: State::Dead, ..Row::new(at) };
        assert!(prune.removes_entry(&dead(limit - Duration::from_millis(1))));
        assert!(!prune.removes_entry(&dead(limit)));
        assert!(!prune.removes_bytes(&dead(LIMIT), LIMIT), "its body is needed for a requeue");
    }

    #[test]
    fn a_body_that_came_after_the_limit_keeps_its_bytes() {
        let done = Row { state: State::Done, ..Row::new(LIMIT) };
        let late = prune().bodies_before + Duration::from_millis(1);
        assert!(!prune().removes_bytes(&done, late));
    }
}
