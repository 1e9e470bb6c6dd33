use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    blocked: Mutex<Option<Error>>,
    /// Why the last commit failed.
    failed: Mutex<Option<Error>>,
    /// Why the next start would be refused.
    next_start: Mutex<Option<Error>>,
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

    pub(in crate::store::sqlite) fn blocked(&self) -> Option<Error> {
        lock(&self.blocked).clone().or_else(|| lock(&self.failed).clone())
    }

    pub(in crate::store::sqlite) fn retention_from(&self) -> Option<SystemTime> {
        *lock(&self.retention_from)
    }

    pub(super) fn begin_retention(&self, from: SystemTime) {
        *lock(&self.retention_from) = Some(from);
    }

    /// Takes note of a commit, or of a call that found no room for what it writes.
    pub(super) fn note_commit(&self, committed: Result<(), &Error>) {
        let (mut failed, reason) = (lock(&self.failed), committed.err());
        if text(failed.as_ref()) != text(reason) {
            *failed = reason.cloned();
            drop(failed);
            self.leave_reason();
        }
    }

    /// Takes note whether a transaction can begin. Logs that it can again, and why it cannot if the reason is new.
    pub(in crate::store::sqlite) fn note(&self, ready: Result<(), &Error>) {
        let (mut blocked, reason) = (lock(&self.blocked), ready.err());
        if text(blocked.as_ref()) == text(reason) {
            return;
        }
        match reason {
            None => telemetry::unblocked(),
            Some(error) => telemetry::blocked(error),
        }
        *blocked = reason.cloned();
        drop(blocked);
        self.leave_reason();
    }

    /// Why the next start would be refused, as the last check found.
    pub(in crate::store::sqlite) fn next_start(&self) -> Option<Error> {
        lock(&self.next_start).clone()
    }

    /// Takes note of a check of what a start would refuse. It is logged each time.
    pub(super) fn note_next_start(&self, outcome: Result<(), Error>) {
        let reason = outcome.err();
        if let Some(reason) = &reason {
            telemetry::next_start_is_refused(reason);
        }
        *lock(&self.next_start) = reason;
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
            let reason = text(self.blocked().as_ref()).unwrap_or_default();
            let length = reason.len().min(Note::Failure.room());
            let _ = notes.write(Note::Failure, &reason.as_bytes()[..length]);
        }
    }

    /// The notes in the lock file, with exclusive access.
    pub(in crate::store::sqlite) fn notes(&self) -> Option<&Notes> {
        self.notes.as_ref()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(reason: Option<&Error>) -> Option<String> {
    reason.map(ToString::to_string)
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
