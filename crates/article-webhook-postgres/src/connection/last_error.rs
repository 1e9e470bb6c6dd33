use std::sync::{Mutex, MutexGuard, PoisonError};

use article_webhook_inbox::Error;

use crate::fault::Fault;

/// Why the last commit of a delivery or a probe failed, until another succeeds.
#[derive(Default)]
pub(crate) struct LastError(Mutex<Option<Error>>);

impl LastError {
    pub(crate) fn get(&self) -> Option<Error> {
        self.lock().clone()
    }

    pub(super) fn note<T>(&self, committed: &Result<T, Fault>) {
        match committed {
            Ok(_) => *self.lock() = None,
            // A value that cannot be stored says nothing of the store.
            Err(fault) if fault.is_of_the_values() => {}
            Err(fault) => *self.lock() = Some(fault.error()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
