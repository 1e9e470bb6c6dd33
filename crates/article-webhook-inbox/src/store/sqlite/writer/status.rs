use std::{
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::{Error, telemetry};

/// Why nothing can be committed.
#[derive(Debug, Default)]
pub(in crate::store::sqlite) struct Status {
    /// Why no transaction can begin.
    blocked: Mutex<Option<String>>,
    /// Why the last commit failed.
    failed: Mutex<Option<String>>,
    /// When retention begins; `None` before the start.
    retention_from: Mutex<Option<SystemTime>>,
}

impl Status {
    pub(in crate::store::sqlite) fn blocked(&self) -> Option<String> {
        let reason =
            |of: &Mutex<Option<String>>| of.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reason(&self.blocked).or_else(|| reason(&self.failed))
    }

    pub(in crate::store::sqlite) fn retention_from(&self) -> Option<SystemTime> {
        *self.retention_from.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin_retention(&self, from: SystemTime) {
        *self.retention_from.lock().unwrap_or_else(PoisonError::into_inner) = Some(from);
    }

    /// Takes note of a commit, or of a call that found no room for what it writes.
    pub(super) fn note_commit(&self, committed: Result<(), &Error>) {
        let reason = committed.err().map(ToString::to_string);
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// Takes note whether the writer can commit. Logs that it can again, and why it cannot if the reason is new.
    pub(in crate::store::sqlite) fn note(&self, ready: Result<(), &Error>) {
        let reason = ready.err().map(ToString::to_string);
        let mut blocked = self.blocked.lock().unwrap_or_else(PoisonError::into_inner);
        if *blocked == reason {
            return;
        }
        match ready {
            Ok(()) => telemetry::unblocked(),
            Err(error) => telemetry::blocked(error),
        }
        *blocked = reason;
    }
}
