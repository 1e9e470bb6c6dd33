use std::path::Path;

use rusqlite::ErrorCode;

use crate::{Error, store::sqlite::fault};

/// The error for a database that cannot be used at start. It says what to do.
pub(crate) fn refused(path: &Path, error: &rusqlite::Error) -> Error {
    let shown = path.display();
    let ours = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::damaged(format!(
            "{shown} is not a SQLite database: name another file; or, if it was one, read what is left of it into a new file with \
             `article-webhook inbox salvage {shown} NEW`; or {}",
            restore_advice(path)
        )),
        // SQLite knows no such format, no such table or no such text: it reads something that it did not write.
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
            damaged(path, "SQLite cannot read it")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Error::unusable(format!(
                "{shown} cannot be opened and written to: let this process write to it, to its files -wal and -shm, and to its \
                 folder; raise its limit of open files if that is reached; otherwise the header of the file is damaged, and \
                 `article-webhook inbox salvage {shown} NEW` reads what is left; or {}",
                restore_advice(path)
            ))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::unavailable(format!(
            "{shown} is locked by another program: end that program, or wait until it is done"
        )),
        Some(ErrorCode::SystemIoFailure) => Error::unavailable(format!(
            "{shown} cannot be read or written: free some space if the disk or a quota is full, or else look at the disk, and start \
             again"
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
    let shown = path.display();
    Error::damaged(format!(
        "the log {shown}-wal belongs to another copy of the database: put that copy back; or {}, which moves these files away",
        restore_advice(path)
    ))
}

/// The advice to put a backup in the place of a database.
pub(crate) fn restore_advice(path: &Path) -> String {
    format!("restore a backup with `article-webhook inbox restore BACKUP {}`", path.display())
}

/// The error for a database in which more is damaged than indexes. It says what SQLite's check found.
pub(crate) fn damaged(path: &Path, finding: &str) -> Error {
    let shown = path.display();
    Error::damaged(format!(
        "{shown} is damaged ({finding}): stop the receiver, and read what can be trusted into a new file with `article-webhook inbox \
         salvage {shown} NEW`; to receive at once, begin with `article-webhook inbox salvage --begin NEW`; or {}",
        restore_advice(path)
    ))
}

/// The error for a database that is not the one whose lock is beside it.
pub(crate) fn another_database(path: &Path) -> Error {
    let shown = path.display();
    Error::damaged(format!(
        "{shown} is not the database that was here last: put that one back; or {}; or, to go on with this one, move {shown}-lock away",
        restore_advice(path)
    ))
}

/// The error for a database that lacks changes that were acknowledged.
pub(crate) fn behind(path: &Path, missing: i64) -> Error {
    let shown = path.display();
    Error::damaged(format!(
        "{shown} lacks the {}, and what they stored was acknowledged, because its log {shown}-wal was removed or cannot be read to \
         its end, or this is an older copy: put the removed log or the latest copy back; or read what can be trusted into a new file \
         with `article-webhook inbox salvage {shown} NEW`; or {}; or, to go on without them, move {shown}-lock away, start again, \
         and fetch the jobs of that time from the API",
        last_changes(missing),
        restore_advice(path)
    ))
}

/// This number of changes, as a text.
pub(crate) fn last_changes(number: i64) -> String {
    match number {
        1 => "last change".to_owned(),
        _ => format!("last {number} changes"),
    }
}
