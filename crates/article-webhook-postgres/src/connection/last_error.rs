use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fault::Fault;

/// Why the last commit of a delivery or a probe failed, until another succeeds.
#[derive(Default)]
pub(crate) struct LastError(Mutex<Option<String>>);

impl LastError {
    pub(crate) fn get(&self) -> Option<String> {
        self.lock().clone()
    }

    pub(super) fn note<T>(&self, committed: &Result<T, Fault>) {
        match committed {
            Ok(_) => *self.lock() = None,
            // A value that cannot be stored says nothing of the store.
            Err(fault) if fault.is_of_the_values() => {}
            Err(fault) => *self.lock() = Some(fault.error().to_string()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
