use std::path::Path;

use rusqlite::ErrorCode;

use crate::{Error, store::sqlite::fault};

/// The error for a database that cannot be used at start. It says what to do.
pub(crate) fn refused(path: &Path, error: &rusqlite::Error) -> Error {
    let shown = path.display();
    let ours = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::damaged(format!(
            "{shown} is not a SQLite database: name another file, or restore a backup"
        )),
        // SQLite knows no such format, no such table or no such text: it reads something that it did not write.
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
            damaged(path, "SQLite cannot make sense of it")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Error::unusable(format!(
                "{shown} cannot be opened and written to: let this process write to it and to its folder; if it may, the \
                 header of the file is damaged: restore a backup"
            ))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::unavailable(format!(
            "{shown} is locked by another program: end that program, or wait until it is done"
        )),
        Some(ErrorCode::SystemIoFailure) => Error::unavailable(format!(
            "{shown} cannot be read or written: look at the disk, and start again"
        )),
        _ => return fault::translate(error),
    };
    match fault::source(error) {
        Some(source) => ours.because(source),
        None => ours,
    }
}

/// The error for a database beside the log of another one.
pub(crate) fn log_of_another(path: &Path) -> Error {
    let path = path.display();
    Error::damaged(format!(
        "the log {path}-wal belongs to another copy of the database: put that copy back; or, if {path} is a backup to be \
         restored, remove {path}-wal and {path}-shm, and only then copy the backup"
    ))
}

/// The error for a database in which more is damaged than indexes. It says what SQLite's check found.
pub(crate) fn damaged(path: &Path, finding: &str) -> Error {
    let path = path.display();
    Error::damaged(format!(
        "{path} is damaged ({finding}): to restore a backup, stop the receiver, remove {path}-wal and {path}-shm, and only \
         then copy the backup; to begin anew, move all three away"
    ))
}
