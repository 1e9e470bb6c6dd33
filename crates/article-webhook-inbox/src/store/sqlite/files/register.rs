use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::identity::{Identity, identity};
use crate::Error;

/// The databases that this process has open with exclusive access. A lock file can be removed, and a file can have
/// several names.
static OPEN: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// A database is open with exclusive access in this process, until this is dropped.
#[derive(Debug)]
pub(super) struct Registered(Option<Identity>);

impl Registered {
    /// Registers the database at this path, unless it is registered.
    pub(super) fn new(path: &Path) -> Result<Self, Error> {
        let identity = identity(path);
        let is_free = identity.is_none_or(|identity| {
            OPEN.lock().unwrap_or_else(PoisonError::into_inner).insert(identity)
        });
        if is_free {
            return Ok(Self(identity));
        }
        Err(open_already(path))
    }
}

/// Whether this process has the database at this path open with exclusive access.
pub(super) fn is_registered(path: &Path) -> bool {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    identity(path).is_some_and(|identity| open.contains(&identity))
}

pub(super) fn open_already(path: &Path) -> Error {
    Error::unusable(format!(
        "this process has {} open already: clone the inbox or the store that is open, or close it first",
        path.display()
    ))
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(identity) = self.0 {
            OPEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&identity);
        }
    }
}
