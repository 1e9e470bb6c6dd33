use rusqlite::ErrorCode;

use crate::Error;

/// What is to be done with damage that is met while the store is open.
pub(super) const RESTART: &str =
    "stop the receiver and start it again, which builds indexes again, or says what to do";

/// An error inside a transaction.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Ours(Error),
}

impl Fault {
    /// Whether a commit or a checkpoint that failed so may have left something in the log that is not on disk. What
    /// found no room was not written: there is no whole commit in the log, and the next one overwrites it.
    pub(super) fn leaves_doubt(&self) -> bool {
        self.is_of_the_connection() && !self.is_full()
    }

    /// Whether the disk has no room for what is written.
    pub(super) fn is_full(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        error.sqlite_error_code() == Some(ErrorCode::DiskFull)
    }

    /// Whether a value is refused because another row has it, or because it breaks a rule of its column.
    pub(super) fn is_constraint(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
    }

    /// Whether SQLite cannot make sense of a page, or of an index.
    pub(super) fn is_damage(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) || is_duplicate_key(error)
    }

    /// Whether SQLite does not know what a statement names.
    pub(super) fn is_of_the_statement(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        // What is wrong with the text of a statement has another variant in some versions of rusqlite, without a code.
        matches!(error.sqlite_error_code(), None | Some(ErrorCode::Unknown))
    }

    /// Whether the connection may be broken, so that the next transaction needs another one.
    pub(super) fn is_of_the_connection(&self) -> bool {
        let Self::Sql(error) = self else {
            return false;
        };
        !matches!(
            error.sqlite_error_code(),
            None | Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TooBig
            )
        )
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sql(error) => translate(&error),
            Fault::Ours(error) => error,
        }
    }
}

/// Whether an index refuses a key that it did not find before. Then it is damaged.
fn is_duplicate_key(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};

    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY))
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Translates an error of SQLite. Only its code is kept as the source, because its text may contain SQL.
pub(super) fn translate(error: &rusqlite::Error) -> Error {
    let Some(code) = error.sqlite_error_code() else {
        return damaged("the database contains a value of the wrong type");
    };
    let ours = match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Error::unavailable("the database is locked by another program")
        }
        ErrorCode::DiskFull => Error::unavailable("the disk is full: free some space"),
        ErrorCode::SystemIoFailure => Error::unavailable(
            "the disk failed to read or write: look whether it or a quota is full, look into the log of the system, and check the disk",
        ),
        ErrorCode::CannotOpen => Error::unavailable(
            "the database's files cannot be opened: check who may read them and their folder, and the limit of open files",
        ),
        ErrorCode::ReadOnly => Error::unavailable(
            "the database cannot be written to: check who may write to it and its folder, and whether the disk is read-only",
        ),
        ErrorCode::OutOfMemory => {
            Error::unavailable("there is no memory left: give the program more memory")
        }
        ErrorCode::OperationInterrupted | ErrorCode::OperationAborted => {
            Error::unavailable("SQLite stopped in the middle of a call")
        }
        ErrorCode::FileLockingProtocolFailed => {
            Error::unavailable("other programs lock the database all the time")
        }
        ErrorCode::DatabaseCorrupt => damaged("the database is damaged"),
        ErrorCode::ConstraintViolation if is_duplicate_key(error) => {
            damaged("an index of the database is damaged")
        }
        ErrorCode::NotADatabase => damaged("the file is not a database"),
        ErrorCode::ConstraintViolation => Error::unusable(
            "the database refused the change by a rule of its own: look for triggers on the inbox's tables",
        ),
        ErrorCode::TooBig => Error::invalid("the body is larger than the database allows"),
        _ => Error::unusable(format!(
            "the database does not accept a statement of the inbox: {RESTART}"
        )),
    };
    match source(error) {
        Some(source) => ours.because(source),
        None => ours,
    }
}

/// The error of a call that has met damage.
pub(super) fn damaged(what: &str) -> Error {
    Error::damaged(format!("{what}: {RESTART}"))
}

/// The code of a failure. Its text is the meaning of the code and nothing else.
pub(super) fn source(error: &rusqlite::Error) -> Option<rusqlite::ffi::Error> {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => Some(*code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn of(code: i32) -> Error {
        let message = Some("in SELECT secret".into());
        translate(&rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), message))
    }

    #[test]
    fn a_failure_is_of_its_kind_and_names_what_can_be_done() {
        use rusqlite::ffi;
        let restart = format!(": {RESTART}");
        for (code, kind, fix) in [
            (ffi::SQLITE_BUSY, "transient", "by another program"),
            (ffi::SQLITE_LOCKED, "transient", "by another program"),
            (ffi::SQLITE_FULL, "transient", ": free some space"),
            (ffi::SQLITE_NOMEM, "transient", ": give the program more memory"),
            (ffi::SQLITE_CANTOPEN, "transient", "their folder, and the limit of open files"),
            (ffi::SQLITE_READONLY, "transient", "its folder, and whether the disk is read-only"),
            (ffi::SQLITE_IOERR, "transient", "look into the log of the system, and check the disk"),
            (ffi::SQLITE_CONSTRAINT, "other", ": look for triggers on the inbox's tables"),
            (ffi::SQLITE_CORRUPT, "damage", &restart),
            (ffi::SQLITE_NOTADB, "damage", &restart),
            (ffi::SQLITE_ERROR, "other", &restart),
        ] {
            let error = of(code);
            let found = match (error.is_transient(), error.is_damaged()) {
                (true, false) => "transient",
                (false, true) => "damage",
                _ => "other",
            };
            assert_eq!(found, kind, "{error}");
            assert!(error.to_string().ends_with(fix), "{error}");
        }
    }

    #[test]
    fn an_error_holds_no_sql() {
        for code in 1..30 {
            let error = of(code);
            let source = error.source().map(ToString::to_string).unwrap_or_default();
            assert!(!format!("{error}{source}{error:?}").contains("SELECT"), "{code}");
        }
    }
}
