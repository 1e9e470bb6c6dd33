use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{State, timestamp::later};

/// The longest pause that a worker stores. A wait that is longer comes from a wrong clock or a damaged row.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);

impl Row {
    /// The transition at the start of a process, for a store that only one process uses. It frees a lease, because its
    /// owner has ended: the entry is due now, and its attempt was interrupted. It also
    /// [shortens a wait](Self::shorten_wait) that is too long. `false` if nothing changed.
    pub fn restart(&mut self, now: SystemTime) -> bool {
        let is_leased = self.state == State::Leased;
        if is_leased {
            self.interrupt(now);
            self.wait(Duration::ZERO, Cause::Kept, now);
        }
        is_leased || self.shorten_wait(now)
    }

    /// Shortens a wait that is longer than its pause allows, because the clock was set back since the wait began. `false` if
    /// nothing changed.
    pub fn shorten_wait(&mut self, now: SystemTime) -> bool {
        let pause = self.at.duration_since(self.since).unwrap_or_default();
        let latest = later(now, pause.min(MAX_WAIT));
        let is_too_late = self.state == State::Waiting && self.at > latest;
        if is_too_late {
            (self.at, self.since) = (latest, self.since.min(now));
        }
        is_too_late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    /// When a wait ends that began and was to end this many seconds after the restart; negative: before it.
    fn waits(began: i64, ends: i64) -> (SystemTime, bool) {
        let start = NOW + MAX_WAIT * 100;
        let time = |seconds: i64| match u64::try_from(seconds) {
            Ok(after) => start + Duration::from_secs(after),
            Err(_) => start - Duration::from_secs(seconds.unsigned_abs()),
        };
        let mut row = Row { at: time(ends), ..Row::new(time(began)) };
        let changed = row.restart(start);
        assert!(!row.restart(start), "a second restart changes nothing");
        let at = NOW + row.at.duration_since(start).unwrap_or_default();
        (at, changed)
    }

    #[test]
    fn a_wait_under_a_clock_that_was_ahead_ends_after_its_pause() {
        let seconds = |seconds| NOW + Duration::from_secs(seconds);
        let (hours, year) = (36_000, 31_536_000);
        assert_eq!(waits(-60, 30), (seconds(30), false), "the clock is right");
        assert_eq!(waits(hours, hours), (NOW, true), "a new entry is due at once");
        assert_eq!(waits(hours, hours + 30), (seconds(30), true), "a pause begins again");
        assert_eq!(waits(year, year + 30), (seconds(30), true));
        assert_eq!(waits(-60, -30), (NOW, false), "it is due");
    }

    #[test]
    fn no_wait_is_longer_than_a_day() {
        let day = NOW + MAX_WAIT;
        assert_eq!(waits(-60, 31_536_000), (day, true));
        assert_eq!(waits(31_536_000, 63_072_000), (day, true));
        assert_eq!(waits(0, 86_400), (day, false));
    }

    #[test]
    fn other_entries_stay_as_they_are() {
        for state in [State::Done, State::Dead, State::Unhandled, State::Corrupt] {
            let before = Row { state, ..Row::new(NOW + MAX_WAIT * 2) };
            let mut after = before.clone();
            assert!(!after.restart(NOW));
            assert_eq!(after, before);
        }
    }
}
