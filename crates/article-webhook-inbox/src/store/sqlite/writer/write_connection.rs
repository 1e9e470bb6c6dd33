mod follow_clock;
mod pending_steps;
mod shared;
mod start;
mod wal_recovery;

use std::{path::PathBuf, sync::Arc, time::Duration};

use rusqlite::Connection;

use self::{pending_steps::PendingSteps, wal_recovery::Mark};
pub(in crate::store::sqlite) use self::{shared::Shared, start::try_start};
use super::{
    background_check::Search,
    clock_watch::ClockWatch,
    failure::{log_removed, log_replaced, moved, others_have_it_open},
    status::Status,
};
use crate::{
    Clock, Error,
    store::sqlite::{
        connection::{self, Access, BUSY, Checkpoint, LogAtClose},
        damage::{self, Findings, Integrity, Tx},
        fault::Fault,
        files::{self, Change, FilesInUse, Lock},
        reader::Reader,
        wal_identity,
    },
    timestamp::rounded,
};

/// The longest wait for other programs when the log is begun anew. All calls wait meanwhile.
const RENEW: Duration = Duration::from_millis(100);

/// The connection that writes. It is handed out only while its files are still at their paths, and while everything in
/// its log is on disk.
pub(in crate::store::sqlite) struct WriteConnection {
    path: PathBuf,
    clock: Clock,
    watch: Arc<ClockWatch>,
    access: Access,
    lock: Option<Lock>,
    reader: Arc<Reader>,
    status: Arc<Status>,
    connection: Option<Connection>,
    files: FilesInUse,
    /// What [`version`](Self::version) was when the files were last seen to be these.
    version: Option<i64>,
    pub(super) findings: Arc<Findings>,
    pub(super) search: Arc<Search>,
    todo: PendingSteps,
}

impl WriteConnection {
    /// A connection that was just opened. With exclusive access, the content of its files was judged.
    pub(in crate::store::sqlite) fn new(
        shared: Shared,
        connection: Connection,
        lock: Option<Lock>,
        mend: Option<Integrity>,
    ) -> Self {
        let Shared { path, clock, reader, status, clock_watch: watch, findings, search } = shared;
        let access = if lock.is_some() { Access::Exclusive } else { Access::Shared };
        let files = FilesInUse::at(&path);
        let todo = PendingSteps { mend, ..PendingSteps::after_opening(access) };
        let connection = Some(connection);
        Self {
            path,
            clock,
            watch,
            access,
            lock,
            reader,
            status,
            connection,
            files,
            version: None,
            findings,
            search,
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
        self.prepare()?;
        if !self.has_followed_clock() {
            self.check_files()?;
            self.prepare()?;
        }
        Ok(())
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

    /// Gives the log a number, if the next commit may be its first.
    pub(super) fn number_wal(&self, tx: &Connection) -> Result<(), Fault> {
        if self.todo.number_wal { wal_identity::number_wal(tx) } else { Ok(()) }
    }

    /// A commit has returned. Refuses if its files are no longer at their paths.
    pub(super) fn committed(&mut self) -> Result<(), Error> {
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
            match self.files.change(&self.path) {
                Change::Nothing => {
                    self.version = self.version();
                    return Ok(());
                }
                Change::DatabaseMoved => return Err(moved()),
                Change::LogReplaced => {
                    self.save_replaced_log();
                    return Err(log_replaced(&self.path));
                }
                Change::LogRemoved => self.save_log()?,
            }
        }
        self.reopen()
    }

    /// Copies a log that was removed into the database, through the connection that still has it open.
    fn save_log(&mut self) -> Result<(), Error> {
        let Some(connection) = &self.connection else { return Ok(()) };
        self.reader.reset();
        connection.busy_timeout(RENEW).map_err(Fault::from)?;
        if connection::checkpoint(connection, Checkpoint::Truncate)? > 0 {
            return Err(log_removed(&self.path));
        }
        self.connection = None;
        (self.todo.be_alone, self.todo.number_wal) = (true, true);
        Ok(())
    }

    /// Copies a log that another file has replaced into the database, unless another connection has committed: then the
    /// index describes the other file.
    fn save_replaced_log(&self) {
        if let Some(connection) = &self.connection
            && self.version.is_some()
            && self.version == self.version()
        {
            let _ = connection::checkpoint(connection, Checkpoint::Passive);
        }
    }

    /// A number that changes when another connection commits.
    fn version(&self) -> Option<i64> {
        let mut version = self.connection.as_ref()?.prepare_cached("PRAGMA data_version").ok()?;
        version.query_row([], |row| row.get(0)).ok()
    }

    fn reopen(&mut self) -> Result<(), Error> {
        if !self.files.has_database_of(&self.path) {
            return Err(moved());
        }
        files::validate(&self.path)?;
        if self.todo.be_alone {
            // A call that reads may have opened it again.
            self.reader.reset();
            self.search.interrupt();
            if !connection::is_alone(&self.path)? {
                return Err(others_have_it_open(&self.path));
            }
        }
        let connection = connection::open(&self.path, self.access)?;
        connection::make_durable(&connection, &self.path, self.access)?;
        let files = FilesInUse::at(&self.path);
        if !self.files.has_database_of(&self.path) {
            return Err(moved());
        }
        self.files = files;
        self.version = None;
        self.connection = Some(connection);
        self.todo.be_alone = false;
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

    /// What a start changes is one transaction, so that a start that is refused has changed nothing. Damaged pages are
    /// replaced in a transaction before it: after a crash in between, the next start finds them sound, and does not tell
    /// that they were damaged.
    fn prepare_on(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        connection.busy_timeout(RENEW)?;
        let PendingSteps { start, renew_log, .. } = self.todo;
        let log = if renew_log {
            self.search.interrupt();
            let mark = if start { Mark::Counts } else { Mark::Ignored };
            Some(wal_recovery::make_safe(connection, &self.path, mark)?)
        } else {
            None
        };
        if let Some(found) = &mut self.todo.mend {
            let now = rounded(self.clock.now());
            damage::write_rebuilt_copy(connection, &self.path, found, (&self.findings, now))?;
        }
        if start || log.is_some() {
            let tx = wal_recovery::begin(connection)?;
            if start {
                let now = rounded(self.clock.now());
                let tx = Tx::new(&tx, &self.findings, now);
                start::run(&tx, &self.path, self.todo.mend.as_ref())?;
            }
            if let Some(log) = log {
                log.write(&tx)?;
            }
            if start {
                self.watch.begin(&tx)?;
            }
            tx.commit()?;
            (self.todo.start, self.todo.renew_log, self.todo.mend) = (false, false, None);
            self.todo.number_wal &= log.is_none();
        }
        connection.busy_timeout(BUSY)?;
        connection::close_as(connection, LogAtClose::Copied)?;
        Ok(())
    }

    /// Closes the connection. With exclusive access it leaves no log, or one that the next start can trust.
    pub(super) fn close(&mut self) {
        // A log that was removed is saved.
        let _ = self.check_files();
        let is_intact = self.files.change(&self.path) == Change::Nothing
            && self.lock.as_ref().is_none_or(|lock| lock.check().is_ok());
        let Some(connection) = self.connection.take() else { return };
        if !is_intact {
            // SQLite would remove the log by its name, and it is another's.
            let _ = connection::close_as(&connection, LogAtClose::Left);
        } else if self.access == Access::Exclusive && !self.todo.prepare {
            // What readers keep in the log is safe there, and is copied after the next start.
            let _ = connection.busy_timeout(RENEW);
            if !matches!(connection::checkpoint(&connection, Checkpoint::Truncate), Ok(0)) {
                let _ = wal_recovery::mark_stop(&connection);
            }
        }
    }
}
