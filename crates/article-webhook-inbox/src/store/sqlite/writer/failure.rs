//! The errors that a call of the store gets, apart from those of its own statements.

use std::path::Path;

use crate::{Error, store::sqlite::fault};

/// The error of a failed transaction. None of its commands is the cause, so all may be retried.
pub(super) fn transient(error: &rusqlite::Error) -> Error {
    let translated = fault::translate(error);
    if translated.is_transient() { translated } else { Error::unavailable(translated.to_string()) }
}

/// The error of a command that has waited too long.
pub(super) fn too_busy() -> Error {
    Error::unavailable("the store is too busy: the call waited too long for the disk")
}

/// The error of every call while the database is not at its path. What is committed to it would be lost.
pub(super) fn moved() -> Error {
    Error::unavailable("the database was moved, removed or replaced: put it back")
}

/// The error of every call after the log was removed or replaced.
pub(super) fn log_replaced(path: &Path) -> Error {
    let path = path.display();
    Error::unavailable(format!(
        "the log {path}-wal or its index {path}-shm was removed or replaced: put both back. If they were deleted, stop every \
         program that uses {path}, remove both, start again, and fetch the jobs of the last moments from the API: they may \
         have been in the deleted log alone"
    ))
}

/// The error of every call while the log cannot be begun anew.
pub(super) fn log_in_use(path: &Path) -> Error {
    Error::unavailable(format!(
        "another program reads the log {}-wal from before the crash or the failed sync: end it, and the store goes on by \
         itself",
        path.display()
    ))
}

/// The error of a call whose removed bytes are still in the log.
pub(super) fn not_erased() -> Error {
    Error::unavailable(
        "the entries are removed, but another program reads the database, and its write-ahead log still holds them: call again",
    )
}

/// The error for a caller whose call the writer will never answer.
pub(in crate::store::sqlite) fn store_has_stopped() -> Error {
    Error::unusable("the store has stopped: start the program again")
}
