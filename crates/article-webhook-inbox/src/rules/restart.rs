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
