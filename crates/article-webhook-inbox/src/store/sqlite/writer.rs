//! The thread that owns the connection that writes. Calls wait in a channel. The thread commits all that wait in one
//! transaction, so that they share one sync of the disk, and answers them after that.

mod calls;
mod connection;
mod start;
mod thread;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::SystemTime,
};

use self::{calls::Calls, thread::WriterThread};
pub(super) use self::{connection::WriteConnection, start::try_start};
use super::{connection::Access, damage::Findings, reader::Reader};
use crate::{Clock, Error, telemetry};

/// What the calls of a store share with its writer.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) path: PathBuf,
    pub(super) clock: Clock,
    pub(super) reader: Arc<Reader>,
    pub(super) status: Arc<Status>,
    pub(super) findings: Arc<Findings>,
}

impl Shared {
    pub(super) fn new(path: PathBuf, clock: Clock) -> Self {
        Self {
            reader: Arc::new(Reader::new(path.clone())),
            status: Arc::default(),
            findings: Arc::default(),
            path,
            clock,
        }
    }
}

/// The writer, as the clones of a store share it. Dropping it ends the thread and waits for its end.
pub(super) struct Writer {
    pub(super) shared: Shared,
    pub(super) access: Access,
    pub(super) calls: Arc<Calls>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(shared: Shared, connection: WriteConnection) -> Result<Self, Error> {
        let access = connection.access();
        let (calls, groups) = calls::channel();
        let calls = Arc::new(calls);
        let thread = WriterThread::new(groups, shared.clone(), connection);
        let thread = Mutex::new(Some(thread.start(Arc::clone(&calls))?));
        Ok(Self { shared, access, calls, thread })
    }

    /// Refuses a call after the end.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        if self.calls.is_closed() { Err(Error::closed()) } else { Ok(()) }
    }

    /// Waits for the end of the thread, which comes when the calls are closed and all of them are answered.
    pub(super) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.calls.close();
        self.join();
    }
}

/// Why nothing can be committed, for the health of the store.
#[derive(Debug, Default)]
pub(super) struct Status {
    /// Why no transaction can begin.
    blocked: Mutex<Option<String>>,
    /// Why the last commit failed.
    failed: Mutex<Option<String>>,
    /// When retention begins; `None` before the start.
    retention_from: Mutex<Option<SystemTime>>,
}

impl Status {
    pub(super) fn blocked(&self) -> Option<String> {
        let reason =
            |of: &Mutex<Option<String>>| of.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reason(&self.blocked).or_else(|| reason(&self.failed))
    }

    pub(super) fn retention_from(&self) -> Option<SystemTime> {
        *self.retention_from.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_retention(&self, from: SystemTime) {
        *self.retention_from.lock().unwrap_or_else(PoisonError::into_inner) = Some(from);
    }

    /// Takes note of a commit, or of a call that found no room for what it writes.
    fn note_commit(&self, committed: Result<(), &Error>) {
        let reason = committed.err().map(ToString::to_string);
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    /// Takes note whether a transaction can begin. Logs that it can again, and why it cannot if the reason is new.
    pub(super) fn note(&self, ready: Result<(), &Error>) {
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
    }
}

/// The error for a caller whose call the writer will never answer.
pub(super) fn store_has_stopped() -> Error {
    Error::unusable("the store has stopped: start the program again")
}

/// The error of every call while the database is not at its path. What is committed to it would be lost.
fn moved() -> Error {
    Error::unavailable("the database was moved, removed or replaced: put it back")
}

/// The error of every call after the log was removed or replaced.
fn log_replaced(path: &Path) -> Error {
    let path = path.display();
    Error::unavailable(format!(
        "the log {path}-wal or its index {path}-shm was removed or replaced: put both back. If they were deleted, stop every \
         program that uses {path}, remove both, start again, and fetch the jobs of the last moments from the API: they may \
         have been in the deleted log alone"
    ))
}
