use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use super::{
    copy_ahead::CopyAhead,
    shared::{Shared, log_replaced, moved},
    start::{self, Log},
};
use crate::{
    Error,
    script::ShortenWaits,
    store::sqlite::{
        change_counter, clock,
        connection::{self, Access, Checkpoint, LogAtClose},
        fault::{self, Fault},
        files::{self, Acknowledged, Change, FilesInUse, Lock},
        schema, tables, wal_identity,
    },
    telemetry,
    timestamp::rounded,
};

/// A clock that was set back by more than this was wrong before.
const MAX_CLOCK_SET_BACK: Duration = Duration::from_secs(3600);

/// The longest wait for other programs when the log is restarted. All calls wait meanwhile.
const RENEW_TIMEOUT: Duration = Duration::from_millis(100);

/// The longest wait for readers when erased bytes are removed from the log. All other calls wait meanwhile.
const ERASE_TIMEOUT: Duration = Duration::from_millis(500);

/// The connection that writes. No commit is answered unless its files were at their paths afterwards, and nothing is
/// committed until everything in its log is on disk.
///
/// After a failure that leaves in doubt what is in the log, the connection is closed. The next one restarts the log: SQLite
/// reads a commit whose sync failed as if it were safe, and its duplicate would be acknowledged.
pub(in crate::store::sqlite) struct WriteConnection {
    shared: Shared,
    /// With exclusive access.
    lock: Option<Lock>,
    /// `None` after a failure, until another one is opened.
    connection: Option<Connection>,
    /// While deliveries come fast.
    ahead: Option<CopyAhead>,
    files: FilesInUse,
    /// The files were looked at after the last commit, and were at their paths.
    is_ready: bool,
    /// The start is not done yet. It has what SQLite's check found.
    start: Option<Vec<String>>,
    /// The log may hold commits that are not on disk.
    renews_log: bool,
    /// The connection is new, and must be prepared.
    is_new: bool,
    /// The next commit may restart the log, and gives it a number.
    numbers_log: bool,
    last_commit: Option<SystemTime>,
    /// How far is acknowledged once the transaction that has begun is committed, and how far by the record.
    next: Option<Acknowledged>,
    recorded: Option<Acknowledged>,
}

impl WriteConnection {
    /// A connection that was just opened. With a lock it has exclusive access, and the content of its files was validated.
    pub(in crate::store::sqlite) fn new(
        shared: Shared,
        connection: Connection,
        lock: Option<Lock>,
        found: Vec<String>,
    ) -> Self {
        let is_exclusive = lock.is_some();
        Self {
            files: FilesInUse::at(&shared.path),
            shared,
            lock,
            connection: Some(connection),
            ahead: None,
            is_ready: false,
            start: is_exclusive.then_some(found),
            renews_log: is_exclusive,
            is_new: is_exclusive,
            numbers_log: false,
            last_commit: None,
            next: None,
            recorded: None,
        }
    }

    pub(super) fn access(&self) -> Access {
        if self.lock.is_some() { Access::Exclusive } else { Access::Shared }
    }

    /// The open connection.
    pub(super) fn get(&mut self) -> Result<&mut Connection, Fault> {
        self.connection.as_mut().ok_or_else(|| moved(&self.shared.path).into())
    }

    /// Makes the connection ready for a commit, unless the last commit has left it so.
    pub(super) fn be_ready(&mut self) -> Result<(), Error> {
        if self.is_ready && self.connection.is_some() { Ok(()) } else { self.make_ready() }
    }

    /// Looks at the files, and makes the connection ready for a commit, as far as that is possible.
    pub(super) fn make_ready(&mut self) -> Result<(), Error> {
        let outcome = self.start().map_err(Error::from);
        self.is_ready = outcome.is_ok();
        self.shared.status.note(outcome.as_ref().map(drop));
        outcome
    }

    /// The same for a start, which decides itself what a failure means.
    pub(in crate::store::sqlite) fn start(&mut self) -> Result<(), Fault> {
        self.check_files()?;
        self.prepare()
    }

    /// Begins a transaction. It does not wait for a lock.
    pub(super) fn begin(&mut self) -> Result<(), Fault> {
        let connection = self.get()?;
        connection.busy_timeout(Duration::ZERO)?;
        let begun = execute(connection, "BEGIN IMMEDIATE").map_err(Fault::from);
        begun.inspect_err(|fault| self.close_if_broken(fault))
    }

    /// What a transaction at this time changes before its calls: it gives the log a number, if the commit may be its first, and
    /// shortens waits, if the clock was set back since the last commit. Returns how far the database had come before.
    pub(super) fn prepare_group(&mut self, now: SystemTime) -> Result<Acknowledged, Fault> {
        let is_exclusive = self.access() == Access::Exclusive;
        let back = self.last_commit.and_then(|last| last.duration_since(now).ok());
        let Some(connection) = &mut self.connection else {
            return Err(moved(&self.shared.path).into());
        };
        let began_at = change_counter::read(connection)?;
        if self.numbers_log {
            wal_identity::number_wal(connection)?;
        }
        if let Some(back) = back.filter(|back| *back > MAX_CLOCK_SET_BACK && is_exclusive) {
            telemetry::clock_was_set_back(back);
            tables::run(&ShortenWaits, connection, now, &self.shared.findings)?;
        }
        Ok(began_at)
    }

    /// Counts the transaction, whose calls were run.
    pub(super) fn count(&mut self, began_at: Acknowledged) -> Result<(), Fault> {
        self.next = Some(change_counter::count(self.get()?, began_at)?);
        Ok(())
    }

    pub(super) fn roll_back(&mut self, fault: &Fault) {
        if let Some(connection) = &self.connection {
            let _ = execute(connection, "ROLLBACK");
        }
        self.close_if_broken(fault);
    }

    /// Commits. After a failure it is unknown what was committed.
    pub(super) fn commit(&mut self) -> Result<(), Fault> {
        let connection = self.get()?;
        let Err(error) = execute(connection, "COMMIT") else { return Ok(()) };
        let _ = execute(connection, "ROLLBACK");
        let is_open = !connection.is_autocommit();
        if !fault::is_busy(&error) {
            self.shared.status.note_commit(Err(&fault::translate(&error)));
        }
        let fault = Fault::from(error);
        if fault.leaves_doubt() || is_open {
            self.doubt();
        }
        Err(fault)
    }

    /// A commit of this time has returned. Records that it will be acknowledged. Refuses if it may have gone to files that are
    /// no longer at their paths.
    pub(super) fn check_commit(&mut self, now: SystemTime) -> Result<(), Error> {
        self.last_commit = Some(now);
        self.numbers_log = false;
        let outcome = self.check_files();
        if let (Ok(()), Some(next)) = (&outcome, self.next.take()) {
            self.record(next);
        }
        self.is_ready = outcome.is_ok();
        self.shared.status.note_commit(outcome.as_ref().map(drop));
        outcome
    }

    /// Records how far is acknowledged. A failure changes no answer.
    fn record(&mut self, acknowledged: Acknowledged) {
        let Some(lock) = &self.lock else { return };
        if self.recorded == Some(acknowledged) {
            return;
        }
        if lock.set_acknowledged(acknowledged).is_ok() {
            self.recorded = Some(acknowledged);
        } else {
            let path = self.shared.path.display();
            self.shared.findings.add(
                "lock",
                format!(
                    "{path}-lock cannot be written, so that the next start cannot tell whether anything is missing: look at the \
                     disk"
                ),
            );
        }
    }

    /// Checks for what a start would refuse, which another program may have done meanwhile.
    pub(super) fn check_next_start(&self) {
        let Some(connection) = &self.connection else { return };
        let path = &self.shared.path;
        let outcome = files::validate(path).and_then(|()| schema::validate(connection, path));
        let is_busy = outcome.as_ref().is_err_and(Error::is_transient);
        if !is_busy {
            self.shared.status.note_next_start(outcome);
        }
    }

    /// Records what tools and the application have committed.
    pub(super) fn record_others(&mut self) {
        let Some(connection) = &self.connection else { return };
        if let Ok(found) = change_counter::read(connection) {
            self.record(found);
        }
    }

    /// Removes erased bytes from the log. `false` if another program keeps them there.
    pub(super) fn erase_log(&mut self) -> bool {
        self.ahead = None;
        let Some(connection) = &self.connection else { return false };
        let _ = connection.busy_timeout(ERASE_TIMEOUT);
        connection::checkpoint(connection, Checkpoint::Truncate).is_ok_and(|left| left == 0)
    }

    /// Copies what was committed before the last call into the database, and begins to sync it.
    pub(super) fn copy_ahead(&mut self) {
        if self.ahead.is_none() {
            self.ahead = CopyAhead::start(&self.shared.path);
        }
        self.copy_log(|connection, ahead| ahead.map_or(Ok(None), |ahead| ahead.copy(connection)));
    }

    /// Ends the snapshot of what is copied ahead. The next copy takes another one.
    pub(super) fn release_snapshot(&mut self) {
        if self.ahead.as_ref().is_some_and(|ahead| ahead.release().is_err()) {
            self.ahead = None;
        }
    }

    /// Copies the log into the database, without waiting for readers. Returns how many bytes are left; `None` if that is not
    /// known.
    pub(super) fn checkpoint(&mut self, mode: Checkpoint) -> Option<u64> {
        self.copy_log(|connection, ahead| {
            ahead.map_or(Ok(()), CopyAhead::release)?;
            connection::checkpoint(connection, mode).map(Some)
        })
    }

    fn copy_log(
        &mut self,
        copy: impl FnOnce(&Connection, Option<&CopyAhead>) -> Result<Option<u64>, Fault>,
    ) -> Option<u64> {
        if self.is_new || self.files.change(&self.shared.path) != Change::Nothing {
            return None;
        }
        let connection = self.connection.as_ref()?;
        let _ = connection.busy_timeout(Duration::ZERO);
        let ahead = self.ahead.as_ref();
        let outcome = copy(connection, ahead);
        if ahead.is_some_and(CopyAhead::has_failed) {
            self.doubt();
            return None;
        }
        match outcome {
            Ok(left) => {
                self.numbers_log |=
                    left == Some(0) && connection::is_copied(connection).unwrap_or(false);
                left
            }
            Err(fault) => {
                self.ahead = None;
                if fault.leaves_doubt() {
                    self.doubt();
                }
                None
            }
        }
    }

    /// The size of the log.
    pub(super) fn wal_bytes(&self) -> u64 {
        files::wal_bytes(&self.shared.path)
    }

    /// Closes the connection at the end. With exclusive access it leaves no log, or one that the next start can trust.
    pub(super) fn close(&mut self) {
        let is_intact = self.files.change(&self.shared.path) == Change::Nothing
            && self.lock.as_ref().is_none_or(|lock| lock.check().is_ok());
        self.shared.status.end();
        self.ahead = None;
        let Some(connection) = self.connection.take() else { return };
        if !is_intact {
            // SQLite would remove the log by its name, and it is another's.
            let _ = connection::close_as(&connection, LogAtClose::Left);
        } else if self.access() == Access::Exclusive && !self.is_new {
            let _ = connection.busy_timeout(RENEW_TIMEOUT);
            // After damage the next start checks the file.
            if self.shared.findings.all().is_empty() {
                let _ = start::mark_stop(&connection);
            }
            // What readers keep in the log is safe there, and is copied after the next start.
            let _ = connection::checkpoint(&connection, Checkpoint::Truncate);
        }
    }

    /// Closes a connection whose commit or checkpoint failed. What is in the log is not known to be on disk.
    fn doubt(&mut self) {
        (self.connection, self.ahead) = (None, None);
        self.shared.reader.reset();
        self.renews_log = true;
    }

    /// Closes a connection that may be broken, so that the next group has another one.
    fn close_if_broken(&mut self, fault: &Fault) {
        let is_open =
            self.connection.as_ref().is_some_and(|connection| !connection.is_autocommit());
        if fault.is_of_the_connection() || is_open {
            self.connection = None;
        }
    }

    /// Checks that the paths still lead to the files, and opens a connection if there is none.
    fn check_files(&mut self) -> Result<(), Error> {
        if let Some(lock) = &self.lock {
            lock.check()?;
        }
        if self.connection.is_none() {
            return self.reopen();
        }
        match self.files.change(&self.shared.path) {
            Change::Nothing => Ok(()),
            Change::DatabaseMoved => Err(moved(&self.shared.path)),
            Change::LogReplaced => Err(log_replaced(&self.shared.path)),
        }
    }

    fn reopen(&mut self) -> Result<(), Error> {
        let (path, access) = (&self.shared.path, self.access());
        self.ahead = None;
        if !self.files.has_database_of(path) {
            return Err(moved(path));
        }
        files::validate(path)?;
        let connection = connection::open(path, access)?;
        connection::make_durable(&connection, path, access)?;
        let files = FilesInUse::at(path);
        if !self.files.has_database_of(path) {
            return Err(moved(path));
        }
        self.files = files;
        self.connection = Some(connection);
        self.is_new = access == Access::Exclusive;
        Ok(())
    }

    /// Does what must be done before the first commit of a connection.
    fn prepare(&mut self) -> Result<(), Fault> {
        if !self.is_new {
            return Ok(());
        }
        let Some(mut connection) = self.connection.take() else { return Ok(()) };
        let prepared = self.prepare_new(&mut connection);
        self.connection = Some(connection);
        self.is_new = prepared.is_err();
        if prepared.as_ref().is_err_and(Fault::leaves_doubt) {
            // Another connection reads the log from its start, so that nothing of it counts as copied.
            self.doubt();
        }
        prepared
    }

    fn prepare_new(&mut self, connection: &mut Connection) -> Result<(), Fault> {
        connection.busy_timeout(RENEW_TIMEOUT)?;
        let path = &self.shared.path;
        let log = match (&self.start, self.renews_log) {
            (Some(_), _) => Some(start::continue_log(connection, path)?),
            (None, true) => Some(start::renew_log(connection, path)?),
            (None, false) => None,
        };
        if let Some(log) = log {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            let retention_from = match self.change_first(connection, log) {
                Ok(retention_from) => retention_from,
                Err(fault) => {
                    let _ = connection.execute_batch("ROLLBACK");
                    return Err(fault);
                }
            };
            connection.execute_batch("COMMIT")?;
            // From now on the file itself says that it is in use.
            let is_copied = connection::is_copied(connection)?;
            self.record(change_counter::read(connection)?);
            if let Some(from) = retention_from {
                self.shared.status.begin_retention(from);
            }
            (self.start, self.renews_log, self.numbers_log) = (None, false, is_copied);
        }
        connection::close_as(connection, LogAtClose::Copied)?;
        Ok(())
    }

    /// What the first transaction changes. A start is one transaction, so that one that is refused has changed nothing.
    /// Returns when retention begins, if this is the start.
    fn change_first(
        &self,
        connection: &mut Connection,
        log: Log,
    ) -> Result<Option<SystemTime>, Fault> {
        let now = rounded(self.shared.clock.now());
        if let Some(found) = &self.start {
            let Shared { path, findings, .. } = &self.shared;
            start::change_tables(connection, path, found, now, findings)?;
        }
        wal_identity::unmark_stop(connection)?;
        if log == Log::Renewed {
            wal_identity::number_wal(connection)?;
        }
        self.start.as_ref().map(|_| clock::retention_from(connection, now)).transpose()
    }
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
