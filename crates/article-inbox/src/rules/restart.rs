use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{State, timestamp::later};

/// The longest wait of an entry after a restart. Without it, a clock that was set back could delay an entry
/// indefinitely.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// The unit of the pauses for freed entries with more than one attempt.
const STEP: Duration = Duration::from_secs(1);

impl Row {
    /// The latest time for which an entry may wait after a restart.
    #[must_use]
    pub fn longest_wait(now: SystemTime) -> SystemTime {
        later(now, LONGEST_WAIT)
    }

    /// The transition at the start of a process, for a store that only one process uses. It frees a lease, because its
    /// owner has ended. `false` if nothing changed.
    ///
    /// A freed entry is due at once after its first attempt. After more attempts it is due later, and mostly not at
    /// the same time as other such entries. Such an entry may crash the process, and must not use up the attempts of
    /// the entries that run at the same time.
    pub fn restart(&mut self, id: i64, now: SystemTime) -> bool {
        match self.state {
            State::Leased => {
                let cut_off_before = self.attempts.saturating_sub(1);
                let steps = u32::try_from(id.rem_euclid(8)).unwrap_or(0) + 1;
                let pause = STEP.saturating_mul(cut_off_before).saturating_mul(steps);
                self.interrupted = self.interrupted.saturating_add(1);
                self.wait(pause, Cause::Kept, now);
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

    fn freed(id: i64, attempts: u32) -> Duration {
        let mut row = Row { state: State::Leased, attempts, ..Row::new(NOW) };
        assert!(row.restart(id, NOW));
        assert_eq!((row.state, row.attempts), (State::Waiting, attempts));
        row.at.duration_since(NOW).unwrap()
    }

    #[test]
    fn a_lease_that_was_cut_off_once_is_due_at_once() {
        assert_eq!(freed(1, 1), Duration::ZERO);
        assert_eq!(freed(1, 0), Duration::ZERO);
    }

    #[test]
    fn leases_that_were_cut_off_again_come_back_one_by_one() {
        let pauses: Vec<_> = (8..16).map(|id| freed(id, 3).as_secs()).collect();
        assert_eq!(pauses, [2, 4, 6, 8, 10, 12, 14, 16]);
    }

    #[test]
    fn an_entry_that_waits_too_long_is_due_in_a_day() {
        let mut far = Row::new(NOW + LONGEST_WAIT * 2);
        assert!(far.restart(1, NOW));
        assert_eq!(far.at, NOW + LONGEST_WAIT);
        assert!(!far.restart(1, NOW));
    }

    #[test]
    fn other_entries_stay_as_they_are() {
        for state in [State::Done, State::Dead, State::Unhandled, State::Corrupt] {
            let before = Row { state, ..Row::new(NOW + LONGEST_WAIT * 2) };
            let mut after = before.clone();
            assert!(!after.restart(1, NOW));
            assert_eq!(after, before);
        }
    }
}
