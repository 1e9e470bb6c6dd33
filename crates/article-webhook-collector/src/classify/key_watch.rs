//! Remembers when the API key was last known to read jobs, so that `job_not_found` from the key of another account ends no job.

use std::time::SystemTime;

/// What the answers of this process show about its API key, by the clock of the store.
#[derive(Debug, Default)]
pub(crate) struct KeyWatch {
    /// When the last call began that showed that the service knew a job.
    knew: Option<SystemTime>,
}

impl KeyWatch {
    /// The service knew a job of the key. The answer to an older call may come later.
    pub(crate) fn knew(&mut self, began: SystemTime) {
        self.knew = self.knew.max(Some(began));
    }

    /// Whether the service has known another job since that time, and before it was polled in this call. A key of another
    /// environment knows none of them, and may have been in use until after this call began.
    pub(crate) fn has_known(&self, since: SystemTime, polled: SystemTime) -> bool {
        // After the clock was set back, what was known before is of a time to come, and counts no more.
        self.knew.is_some_and(|knew| (since..=polled).contains(&knew))
    }
}
