use std::sync::{Mutex, PoisonError};

use crate::{Error, telemetry};

/// Why nothing can be committed, for whoever asks.
#[derive(Debug, Default)]
pub(in crate::store::sqlite) struct Status(Mutex<Option<String>>);

impl Status {
    pub(in crate::store::sqlite) fn blocked(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note whether the writer can commit. Logs that it can again, and why it cannot if the reason is new.
    pub(in crate::store::sqlite) fn note(&self, ready: Result<(), &Error>) {
        let reason = ready.err().map(ToString::to_string);
        let mut blocked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
