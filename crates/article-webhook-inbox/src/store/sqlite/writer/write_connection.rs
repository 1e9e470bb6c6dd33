mod pending_steps;
mod shared;
mod start;
mod wal_recovery;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use rusqlite::Connection;

use self::{
    pending_steps::PendingSteps,
    wal_recovery::{Mark, RecoveredWal},
};
pub(in crate::store::sqlite) use self::{shared::Shared, start::try_start};
use super::{
    failure::{log_replaced, moved},
    status::Status,
};
use crate::{
    Clock, Error,
    script::ShortenWaits,
    store::sqlite::{
        clock,
        connection::{self, Access, BUSY, Checkpoint, LogAtClose},
        damage::Findings,
        fault::Fault,
        files::{self, Change, FilesInUse, Lock},
        reader::Reader,
        tables, wal_identity,
    },
    telemetry,
    timestamp::rounded,
};

/// A clock that was set back by more than this was wrong before.
const SET_BACK: Duration = Duration::from_secs(3600);

/// A clock that is this far ahead of the last time that was stored may be wrong.
const FAR_AHEAD: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long after a start retention begins, so that what arrived before is old by any clock: the service delivers again for
/// 370 seconds.
const STEADY: Duration = Duration::from_secs(600);

/// The same if the clock may be wrong, so that NTP or a person corrects it before.
const STEADY_FAR_AHEAD: Duration = Duration::from_secs(24 * 3600);

/// The longest wait for other programs when the log is begun anew. All calls wait meanwhile.
const RENEW: Duration = Duration::from_millis(100);

/// The connection that writes. It is handed out only while its files are still at their paths, and while everything in
/// its log is on disk.
pub(in crate::store::sqlite) struct WriteConnection {
    path: PathBuf,
    clock: Clock,
    access: Access,
    lock: Option<Lock>,
    reader: Arc<Reader>,
    status: Arc<Status>,
    connection: Option<Connection>,
    files: FilesInUse,
    last_commit: Option<SystemTime>,
    pub(super) findings: Arc<Findings>,
    todo: PendingSteps,
}

impl WriteConnection {
    /// A connection that was just opened. With exclusive access, the content of its files was validated.
    pub(in crate::store::sqlite) fn new(
        shared: Shared,
        connection: Connection,
        lock: Option<Lock>,
        found: Vec<String>,
    ) -> Self {
        let Shared { path, clock, reader, status, findings } = shared;
        let access = if lock.is_some() { Access::Exclusive } else { Access::Shared };
        let files = FilesInUse::at(&path);
        let todo = PendingSteps { found, ..PendingSteps::after_opening(access) };
        let connection = Some(connection);
        Self {
            path,
            clock,
            access,
            lock,
            reader,
            status,
            connection,
            files,
            last_commit: None,
            findings,
            todo,
        }
    }

    pub(super) fn access(&self) -> Access {
        self.access
    }

    /// Makes the connection ready for a commit, as far as that is possible.
    pub(in crate::store::sqlite) fn make_ready(&mut self) -> Result<(), Error> {
        let outcome = self.start().map_err(Error::from);
        self.status.note(outcome.as_ref().map(drop));
        outcome
    }

    /// The same, without a note in the status of whether it succeeded.
    pub(in crate::store::sqlite) fn start(&mut self) -> Result<(), Fault> {
        self.check_files()?;
        self.prepare()
    }

    /// The connection, ready for a commit. It is given back with [`put`](Self::put) or [`doubt`](Self::doubt), or
    /// dropped if it may be broken.
    pub(super) fn take(&mut self) -> Result<Connection, Error> {
        self.make_ready()?;
        self.connection.take().ok_or_else(moved)
    }

    pub(super) fn put(&mut self, connection: Connection) {
        self.connection = Some(connection);
    }

    /// Closes a connection whose commit failed. What is in the log is not known to be on disk.
    pub(super) fn doubt(&mut self, connection: Connection) {
        drop(connection);
        self.reader.reset();
        self.todo.renew_log = true;
    }

    /// Shortens waits if the clock was set back since the last commit. Runs in a transaction at this time.
    pub(super) fn follow_clock(
        &self,
        connection: &mut Connection,
        now: SystemTime,
    ) -> Result<(), Fault> {
        let back = self.last_commit.and_then(|last| last.duration_since(now).ok());
        let Some(back) = back.filter(|back| *back > SET_BACK && self.access == Access::Exclusive)
        else {
            return Ok(());
        };
        telemetry::clock_was_set_back(back);
        tables::run(&ShortenWaits, connection, now, &self.findings)
    }

    /// Gives the log a number, if the next commit may be its first.
    pub(super) fn number_wal(&self, tx: &Connection) -> Result<(), Fault> {
        if self.todo.number_wal { wal_identity::number_wal(tx) } else { Ok(()) }
    }

    /// A commit of this time has returned. Refuses if its files are no longer at their paths.
    pub(super) fn committed(&mut self, now: SystemTime) -> Result<(), Error> {
        self.last_commit = Some(now);
        self.todo.number_wal = false;
        let outcome = self.check_files();
        self.status.note_commit(outcome.as_ref().map(drop));
        outcome
    }

    /// Nothing could be committed.
    pub(super) fn failed(&self, error: &Error) {
        self.status.note_commit(Err(error));
    }

    /// Copies the log into the database as far as readers allow. Returns how many bytes are left; `None` if that is not
    /// known.
    pub(super) fn checkpoint(&mut self, mode: Checkpoint) -> Option<u64> {
        if self.todo.prepare || self.files.change(&self.path) != Change::Nothing {
            return None;
        }
        let connection = self.connection.take()?;
        match connection::checkpoint(&connection, mode) {
            Ok(left) => {
                self.todo.number_wal |=
                    left == 0 && connection::is_copied(&connection).unwrap_or(false);
                self.put(connection);
                Some(left)
            }
            Err(fault) if fault.leaves_doubt() => {
                self.doubt(connection);
                None
            }
            Err(_) => {
                self.put(connection);
                None
            }
        }
    }

    /// The size of the log.
    pub(super) fn wal_bytes(&self) -> u64 {
        files::wal_bytes(&self.path)
    }

    #[cfg(test)]
    pub(super) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    pub(super) fn wait_for_locks(&self, wait: Duration) {
        if let Some(connection) = &self.connection {
            let _ = connection.busy_timeout(wait);
        }
    }

    /// Checks that the paths still lead to the files, and opens a connection if there is none.
    fn check_files(&mut self) -> Result<(), Error> {
        if let Some(lock) = &self.lock {
            lock.check()?;
        }
        if self.connection.is_some() {
            return match self.files.change(&self.path) {
                Change::Nothing => Ok(()),
                Change::DatabaseMoved => Err(moved()),
                Change::LogReplaced => Err(log_replaced(&self.path)),
            };
        }
        self.reopen()
    }

    fn reopen(&mut self) -> Result<(), Error> {
        if !self.files.has_database_of(&self.path) {
            return Err(moved());
        }
        files::validate(&self.path)?;
        let connection = connection::open(&self.path, self.access)?;
        connection::make_durable(&connection, &self.path, self.access)?;
        let files = FilesInUse::at(&self.path);
        if !self.files.has_database_of(&self.path) {
            return Err(moved());
        }
        self.files = files;
        self.connection = Some(connection);
        self.todo.prepare = self.access == Access::Exclusive;
        Ok(())
    }

    /// Does what must be done before the next commit.
    fn prepare(&mut self) -> Result<(), Fault> {
        if !self.todo.prepare {
            return Ok(());
        }
        let Some(mut connection) = self.connection.take() else { return Ok(()) };
        match self.prepare_on(&mut connection) {
            Ok(()) => {
                self.todo.prepare = false;
                self.put(connection);
                Ok(())
            }
            Err(fault) => {
                // Another connection reads the log anew, so that nothing of it counts as copied.
                if fault.leaves_doubt() {
                    self.doubt(connection);
                } else {
                    self.put(connection);
                }
                Err(fault)
            }
        }
    }

    /// What a start changes is one transaction, so that a start that is refused has changed nothing.
    fn prepare_on(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        connection.busy_timeout(RENEW)?;
        let PendingSteps { start, renew_log, .. } = self.todo;
        let log = if renew_log {
            let mark = if start { Mark::Counts } else { Mark::Ignored };
            Some(wal_recovery::make_safe(connection, &self.path, mark)?)
        } else {
            None
        };
        if start || log.is_some() {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let retention_from = match self.begin_anew(connection, log) {
                Ok(from) => from,
                Err(fault) => {
                    let _ = connection.execute_batch("ROLLBACK");
                    return Err(fault);
                }
            };
            connection.execute_batch("COMMIT")?;
            if let Some(from) = retention_from {
                self.status.begin_retention(from);
            }
            (self.todo.start, self.todo.renew_log, self.todo.found) = (false, false, Vec::new());
            self.todo.number_wal &= log.is_none();
        }
        connection.busy_timeout(BUSY)?;
        connection::close_as(connection, LogAtClose::Copied)?;
        Ok(())
    }

    /// What the first transaction changes. Returns when retention begins, if that is known only now.
    fn begin_anew(
        &self,
        connection: &mut Connection,
        log: Option<RecoveredWal>,
    ) -> Result<Option<SystemTime>, Fault> {
        if self.todo.start {
            let now = rounded(self.clock.now());
            start::run(connection, &self.path, &self.todo.found, now, &self.findings)?;
        }
        if let Some(log) = log {
            log.write(connection)?;
        }
        if self.todo.start { self.retention_from(connection).map(Some) } else { Ok(None) }
    }

    /// When retention begins. Runs in the transaction of the start.
    ///
    /// A time that is far ahead is not stored before retention begins: a start with a clock that is wrong by a year must
    /// not make the next such start look right.
    fn retention_from(&self, tx: &Connection) -> Result<SystemTime, Fault> {
        let now = rounded(self.clock.now());
        let ahead = clock::stored(tx)?.and_then(|stored| now.duration_since(stored).ok());
        if let Some(ahead) = ahead.filter(|ahead| *ahead >= FAR_AHEAD) {
            telemetry::clock_is_ahead(ahead);
            return Ok(now + STEADY_FAR_AHEAD);
        }
        clock::store(tx, now)?;
        Ok(now + STEADY)
    }

    /// Closes the connection. With exclusive access it leaves no log, or one that the next start can trust.
    pub(super) fn close(&mut self) {
        let is_intact = self.files.change(&self.path) == Change::Nothing
            && self.lock.as_ref().is_none_or(|lock| lock.check().is_ok());
        let Some(connection) = self.connection.take() else { return };
        if !is_intact {
            // SQLite would remove the log by its name, and it is another's.
            let _ = connection::close_as(&connection, LogAtClose::Left);
        } else if self.access == Access::Exclusive && !self.todo.prepare {
            let _ = connection.busy_timeout(RENEW);
            // After damage the next start checks the file.
            if self.findings.all().is_empty() {
                let _ = wal_recovery::mark_stop(&connection);
            }
            // What readers keep in the log is safe there, and is copied after the next start.
            let _ = connection::checkpoint(&connection, Checkpoint::Truncate);
        }
    }
}
