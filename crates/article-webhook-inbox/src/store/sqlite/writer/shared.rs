use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use crate::{
    Clock, Error,
    store::sqlite::{
        damage::Findings,
        files::{Note, Notes},
        reader::Reader,
    },
    telemetry,
};

/// What the calls of a store share with its writer.
#[derive(Clone)]
pub(in crate::store::sqlite) struct Shared {
    pub(in crate::store::sqlite) path: PathBuf,
    pub(in crate::store::sqlite) clock: Clock,
    pub(in crate::store::sqlite) reader: Arc<Reader>,
    pub(in crate::store::sqlite) status: Arc<Status>,
    pub(in crate::store::sqlite) findings: Arc<Findings>,
}

impl Shared {
    /// With exclusive access, notes are left in the lock file.
    pub(in crate::store::sqlite) fn new(path: PathBuf, clock: Clock, notes: Option<Notes>) -> Self {
        Self {
            reader: Arc::new(Reader::new(path.clone())),
            status: Arc::new(Status::new(notes)),
            findings: Arc::default(),
            path,
            clock,
        }
    }
}

/// Why nothing can be committed, for the health of the store.
#[derive(Debug, Default)]
pub(in crate::store::sqlite) struct Status {
    /// Why no transaction can begin.
    blocked: Mutex<Option<String>>,
    /// Why the last commit failed.
    failed: Mutex<Option<String>>,
    /// Why the next start would be refused.
    next_start: Mutex<Option<String>>,
    /// Where tools find the reason.
    notes: Option<Notes>,
    /// When retention begins; `None` before the start.
    retention_from: Mutex<Option<SystemTime>>,
}

impl Status {
    fn new(notes: Option<Notes>) -> Self {
        let status = Self { notes, ..Self::default() };
        // The last receiver may have been killed.
        status.end();
        status
    }

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
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if *failed != reason {
            *failed = reason;
            drop(failed);
            self.leave_reason();
        }
    }

    /// Takes note whether a transaction can begin. Logs that it can again, and why it cannot if the reason is new.
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
        drop(blocked);
        self.leave_reason();
    }

    /// Why the next start would be refused, as the last check found.
    pub(in crate::store::sqlite) fn next_start(&self) -> Option<String> {
        self.next_start.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of a check of what a start would refuse. It is logged each time.
    pub(super) fn note_next_start(&self, outcome: Result<(), Error>) {
        let reason = outcome.err().map(|error| error.to_string());
        if let Some(reason) = &reason {
            telemetry::next_start_is_refused(reason);
        }
        *self.next_start.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// The store is closed: its reason says nothing of the next receiver.
    pub(super) fn end(&self) {
        if let Some(notes) = &self.notes {
            let _ = notes.write(Note::Failure, b"");
        }
    }

    /// Leaves it to tools why nothing can be committed. They alone miss a note that cannot be written.
    fn leave_reason(&self) {
        if let Some(notes) = &self.notes {
            let reason = self.blocked().unwrap_or_default();
            let length = reason.len().min(Note::Failure.room());
            let _ = notes.write(Note::Failure, &reason.as_bytes()[..length]);
        }
    }

    /// The notes in the lock file, with exclusive access.
    pub(in crate::store::sqlite) fn notes(&self) -> Option<&Notes> {
        self.notes.as_ref()
    }
}

/// The error for a caller whose call the writer will never answer.
pub(in crate::store::sqlite) fn store_has_stopped() -> Error {
    Error::unusable("the store has stopped: start the program again")
}

/// The error of every call while the database is not at its path. What is committed to it would be lost.
pub(super) fn moved(path: &Path) -> Error {
    let path = path.display();
    Error::unavailable(format!("the database {path} was moved, removed or replaced: put it back"))
}

/// The error of every call after the log was removed or replaced.
pub(super) fn log_replaced(path: &Path) -> Error {
    let path = path.display();
    Error::unavailable(format!(
        "the log {path}-wal or its index {path}-shm was removed or replaced: put both back. If they were deleted, stop every \
         program that uses {path}, move what is left of them and {path}-lock away, start again, and fetch the jobs of the last \
         moments from the API: they may have been in the deleted log alone"
    ))
}
