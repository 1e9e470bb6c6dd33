//! The errors that a call of the store gets, apart from those of its own statements.

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

/// The error of a call whose removed bytes are still in the log.
pub(super) fn not_erased() -> Error {
    Error::unavailable(
        "the entries are removed, but another program reads the database, and its log still holds them: call again",
    )
}

/// The error for a caller whose call the writer will never answer.
pub(in crate::store::sqlite) fn store_has_stopped() -> Error {
    Error::unusable("the store has stopped: start the program again")
}
