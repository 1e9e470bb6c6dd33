use std::time::{Duration, SystemTime};

use super::{ArticleEntry, JobRow};
use crate::{
    call::{JobState, Missing},
    timestamp::later,
};

/// The longest wait for a poll. One that is longer comes from a clock that was set back, or from a damaged row.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(25 * 3600);

impl JobRow {
    /// The transition at the start of a process, for a store that only one process uses. It frees the lease of a poll,
    /// because its owner has ended. It also shortens a wait that is longer than any that is stored, because the clock was
    /// set back. A job that waits for less is polled only after the time since which it is missing. `false` if nothing
    /// changed.
    pub fn restart(&mut self, now: SystemTime) -> bool {
        let before = self.clone();
        match self.state {
            JobState::Polling => (self.state, self.at) = (JobState::Expected, now),
            JobState::Expected => self.at = self.at.min(later(now, MAX_WAIT)),
            _ => return false,
        }
        self.expected_at = self.expected_at.min(now);
        let passed = |missing: Missing| Missing { since: missing.since.min(now), ..missing };
        self.missing = self.missing.map(passed);
        self.unreadable_since = self.unreadable_since.map(|since| since.min(now));
        before != *self
    }

    /// The row of a job that another store exported. A lease of that store is not valid here, so that such a job is due
    /// now. If its article is here already, it has ended.
    #[must_use]
    pub fn imported(mut self, entry: Option<&ArticleEntry>, now: SystemTime) -> Self {
        self.fence = 0;
        // As at a start, where what lies in the future comes from a clock that was ahead.
        self.restart(now);
        if let Some(entry) = entry {
            self.pushed_at = self.pushed_at.or(entry.pushed_at);
            self.sync_with_entry(entry.state, entry.source(), now);
        }
        self
    }
}
