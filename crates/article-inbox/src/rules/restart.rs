use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{State, timestamp::later};

/// The longest wait of an entry after a restart. Without it, a clock that was set back could delay an entry
/// indefinitely.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

impl Row {
    /// The latest time for which an entry may wait after a restart.
    #[must_use]
    pub fn longest_wait(now: SystemTime) -> SystemTime {
        later(now, LONGEST_WAIT)
    }

    /// The transition at the start of a process, for a store that only one process uses. It frees a lease, because its
    /// owner has ended: the entry is due now, and its attempt was interrupted. `false` if nothing changed.
    pub fn restart(&mut self, now: SystemTime) -> bool {
        match self.state {
            State::Leased => {
                self.interrupted = self.interrupted.saturating_add(1);
                self.wait(Duration::ZERO, Cause::Kept, now);
                true
            }
            State::Waiting if self.at > Self::longest_wait(now) => {
                self.at = Self::longest_wait(now);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    #[test]
    fn a_lease_is_freed_and_its_attempt_was_interrupted() {
        let at = NOW + LONGEST_WAIT;
        let leased = Row { state: State::Leased, attempts: 3, interrupted: 1, at, ..Row::new(NOW) };
        let mut row = Row { cause: Some("no network".into()), ..leased };
        let freed = Row { state: State::Waiting, interrupted: 2, at: NOW, ..row.clone() };
        assert!(row.restart(NOW));
        assert_eq!(row, freed);
    }

    #[test]
    fn an_entry_that_waits_too_long_is_due_in_a_day() {
        let mut far = Row::new(NOW + LONGEST_WAIT * 2);
        assert!(far.restart(NOW));
        assert_eq!(far.at, NOW + LONGEST_WAIT);
        assert!(!far.restart(NOW));
    }

    #[test]
    fn other_entries_stay_as_they_are() {
        for state in [State::Done, State::Dead, State::Unhandled, State::Corrupt] {
            let before = Row { state, ..Row::new(NOW + LONGEST_WAIT * 2) };
            let mut after = before.clone();
            assert!(!after.restart(NOW));
            assert_eq!(after, before);
        }
    }
}
