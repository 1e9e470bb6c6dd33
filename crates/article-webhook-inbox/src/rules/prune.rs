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
    use super::*;

    /// A store looks for old entries by the same limits. A row that it has loaded is compared again.
    #[test]
    fn what_ended_at_the_limit_stays() {
        let at = SystemTime::UNIX_EPOCH;
        let prune = Prune {
            bodies_before: at,
            entries_before: at,
            dead_before: Some(at),
            ..Prune::default()
        };
        for &state in State::ALL {
            let row = Row { state, ..Row::new(at) };
            assert!(!prune.removes_entry(&row) && !prune.removes_bytes(&row, at), "{state}");
        }
    }
}
