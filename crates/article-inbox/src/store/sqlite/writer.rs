use std::{
    fs::File,
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{
    connection::{self, BUSY, CHECKPOINT_BYTES, Checkpoint, ERASE, IDLE, Role},
    fault::{self, Fault},
    line::{Command, Ending, Line, Next},
    place,
    reader::Reader,
    rows,
};
use crate::{Clock, Error, rules::group::Group, telemetry};

/// Owns the one connection of this process that writes, and the lock file for as long as it lives.
pub(super) struct Writer {
    pub(super) line: Arc<Line>,
    pub(super) reader: Arc<Reader>,
    pub(super) clock: Clock,
    pub(super) path: PathBuf,
    pub(super) role: Role,
    pub(super) connection: Option<Connection>,
    pub(super) lock: Option<File>,
    /// Of the file to which the connection belongs.
    pub(super) identity: Option<place::Identity>,
}

impl Writer {
    /// Runs in a thread of its own until the line is closed and empty.
    pub(super) fn start(self) -> Result<JoinHandle<()>, Error> {
        let thread = thread::Builder::new().name("article-inbox".into());
        thread.spawn(move || self.run()).map_err(|error| {
            Error::unusable("no thread can be started for the store: raise the limit of threads")
                .because(error)
        })
    }

    fn run(mut self) {
        let _ending = Ending(self.line.clone());
        let mut log = Log::default();
        loop {
            let idle = (self.role == Role::Owner && log.bytes > 0).then_some(IDLE);
            match self.line.next(idle) {
                Next::Group(group, expired) => {
                    for command in expired {
                        command.answer(Some(busy()));
                    }
                    log.bytes += self.commit(group);
                    if self.role == Role::Owner && log.bytes >= log.limit {
                        self.checkpoint(&mut log);
                    }
                }
                Next::Idle => self.checkpoint(&mut log),
                Next::End => break,
            }
        }
        self.reader.close();
        if let Some(connection) = self.connection.take()
            && self.role == Role::Owner
        {
            // What is not copied now is copied at the next start: it is safe where it is.
            let _ = connection.busy_timeout(BUSY);
            let _ = connection::checkpoint(&connection, Checkpoint::Truncate);
        }
        drop(self.lock);
    }

    /// Commits a group and answers everybody in it. How much it added to the log, about.
    fn commit(&mut self, mut group: Group<Box<dyn Command>>) -> u64 {
        // Some who were in time for a group are not when each of it has to go alone.
        for command in group.expire(self.line.now()) {
            command.answer(Some(busy()));
        }
        if group.is_empty() {
            return 0;
        }
        let connection = match self.connection.take() {
            // What is committed to a file that nobody finds again is lost.
            Some(connection) if place::identity(&self.path) != self.identity => {
                let moved = || {
                    Error::unavailable("the database was moved, removed or replaced: put it back")
                };
                telemetry::store_failed("begin", &moved());
                fail(group, moved);
                self.connection = Some(connection);
                return 0;
            }
            Some(connection) => connection,
            None => match connection::writing(&self.path, self.role) {
                Ok(connection) => {
                    self.identity = place::identity(&self.path);
                    connection
                }
                Err(error) => {
                    telemetry::store_failed("open", &error);
                    let message = error.to_string();
                    fail(group, || Error::unavailable(message.clone()));
                    return 0;
                }
            },
        };
        if let Err(error) = self.begin(&connection, &mut group) {
            telemetry::store_failed("begin", &transient(&error));
            fail(group, || transient(&error));
            self.keep(connection, &error.into());
            return 0;
        }
        if group.is_empty() {
            self.connection = Some(connection);
            return 0;
        }

        let now = || rows::millis(self.clock.now());
        let outcome = group.works().try_for_each(|command| command.run(&connection, now()));
        if let Err(fault) = outcome {
            let _ = execute(&connection, "ROLLBACK");
            self.keep(connection, &fault);
            if group.len() == 1 {
                let error = Error::from(fault);
                if let Some(command) = group.into_works().next() {
                    command.answer(Some(error));
                }
                return 0;
            }
            // One of them is to blame. Each alone, so that the others do not fail with it.
            return group.split().map(|alone| self.commit(alone)).sum();
        }

        let bytes = group.works().map(|command| command.bytes()).sum();
        let began = Instant::now();
        if let Err(error) = execute(&connection, "COMMIT") {
            telemetry::store_failed("commit", &transient(&error));
            let _ = execute(&connection, "ROLLBACK");
            fail(group, || transient(&error));
            // Whatever became of it: the next group begins with another connection.
            self.connection = None;
            return bytes;
        }
        telemetry::committed(group.len(), began.elapsed());
        let is_erased = group.works().any(|command| command.erases()).then(|| {
            let _ = connection.busy_timeout(ERASE);
            connection::checkpoint(&connection, Checkpoint::Truncate).is_ok_and(|left| left == 0)
        });
        self.connection = Some(connection);
        for command in group.into_works() {
            let failed = command.erases() && is_erased == Some(false);
            command.answer(failed.then(unerased));
        }
        bytes
    }

    /// Begins a transaction, and waits for it no longer than anybody in the group wants to.
    fn begin(
        &self,
        connection: &Connection,
        group: &mut Group<Box<dyn Command>>,
    ) -> rusqlite::Result<()> {
        /// Some locks are not waited for by the database itself.
        const PAUSE: Duration = Duration::from_millis(2);

        loop {
            connection.busy_timeout(group.patience(self.line.now()))?;
            match execute(connection, "BEGIN IMMEDIATE") {
                Err(error) if fault::is_busy(&error) => {}
                outcome => return outcome,
            }
            for command in group.expire(self.line.now()) {
                command.answer(Some(fault::translated(&rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    None,
                ))));
            }
            if group.is_empty() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
    }

    /// Keeps the connection for the next group, unless it may be broken.
    fn keep(&mut self, connection: Connection, fault: &Fault) {
        if !fault.is_of_the_connection() && connection.is_autocommit() {
            self.connection = Some(connection);
        }
    }

    fn checkpoint(&mut self, log: &mut Log) {
        let Some(connection) = &self.connection else {
            return;
        };
        let left = connection::checkpoint(connection, Checkpoint::Passive);
        // Somebody reads in what could not be copied: it is tried again when as much has come.
        let left = left.unwrap_or(log.bytes);
        *log = Log {
            bytes: 0,
            limit: CHECKPOINT_BYTES.saturating_sub(left).max(CHECKPOINT_BYTES / 4),
        };
    }
}

/// How much of the log is not copied into the database, about, and how much is let grow.
struct Log {
    bytes: u64,
    limit: u64,
}

impl Default for Log {
    fn default() -> Self {
        Self { bytes: 0, limit: CHECKPOINT_BYTES }
    }
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

fn fail(group: Group<Box<dyn Command>>, error: impl Fn() -> Error) {
    for command in group.into_works() {
        command.answer(Some(error()));
    }
}

/// A failure of the transaction itself is nobody's fault who is in it, and they may come again.
fn transient(error: &rusqlite::Error) -> Error {
    let ours = fault::translated(error);
    if ours.is_transient() { ours } else { Error::unavailable(ours.to_string()) }
}

fn busy() -> Error {
    Error::unavailable("the store is too busy: the call waited too long for the disk")
}

fn unerased() -> Error {
    Error::unavailable(
        "the entries are removed, but another program reads the database, and its log still holds them: call again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::schema;

    fn writer(path: PathBuf) -> Writer {
        Writer {
            line: Arc::new(Line::new()),
            reader: Arc::new(Reader::new(path.clone())),
            clock: Clock::system(),
            path,
            role: Role::Owner,
            connection: None,
            lock: None,
            identity: None,
        }
    }

    fn database(path: &std::path::Path) {
        place::secured(path).unwrap();
        schema::migrate(&mut connection::writing(path, Role::Owner).unwrap(), path).unwrap();
    }

    fn probes(tx: &Connection, _: i64) -> Result<i64, Fault> {
        tx.execute(super::super::sql::PROBE, [])?;
        let probes = "SELECT value FROM article_inbox_meta WHERE name = 'probes'";
        Ok(tx.query_row(probes, [], |row| row.get(0))?)
    }

    /// Commits everything that waits.
    fn commit(writer: &mut Writer) {
        let Next::Group(group, expired) = writer.line.next(None) else { panic!("nothing waits") };
        assert!(expired.is_empty());
        writer.commit(group);
    }

    #[test]
    fn a_commit_that_fails_is_nobodys_success_and_the_next_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut writer = writer(path);
        let mut before = writer.line.push(1, false, probes).unwrap();
        let rollback = |tx: &Connection, _| Ok(tx.execute_batch("ROLLBACK")?);
        let mut after = writer.line.push(1, false, rollback).unwrap();
        commit(&mut writer);
        assert!(before.try_recv().unwrap().unwrap_err().is_transient());
        assert!(after.try_recv().unwrap().unwrap_err().is_transient());
        assert!(writer.connection.is_none());

        let mut next = writer.line.push(1, false, probes).unwrap();
        commit(&mut writer);
        assert_eq!(next.try_recv().unwrap().unwrap(), 1);
    }

    #[test]
    fn one_that_fails_does_not_fail_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut writer = writer(path);
        let mut before = writer.line.push(1, false, probes).unwrap();
        let refused = "INSERT INTO article_inbox_meta (name, value) VALUES ('probes', 0)";
        let poison = move |tx: &Connection, _| Ok(tx.execute_batch(refused)?);
        let mut poison = writer.line.push(1, false, poison).unwrap();
        let mut after = writer.line.push(1, false, probes).unwrap();
        commit(&mut writer);
        assert_eq!(before.try_recv().unwrap().unwrap(), 1);
        assert!(!poison.try_recv().unwrap().unwrap_err().is_transient());
        assert_eq!(after.try_recv().unwrap().unwrap(), 2);
        assert!(writer.connection.is_some());
    }

    #[test]
    fn a_file_that_comes_back_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let mut writer = writer(path.clone());
        let mut gone = writer.line.push(1, false, probes).unwrap();
        commit(&mut writer);
        assert!(gone.try_recv().unwrap().unwrap_err().is_transient());

        database(&path);
        let mut back = writer.line.push(1, false, probes).unwrap();
        commit(&mut writer);
        assert_eq!(back.try_recv().unwrap().unwrap(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_committed_to_a_file_that_is_gone_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut writer = writer(path.clone());
        let answer = |writer: &mut Writer| {
            let mut call = writer.line.push(1, false, probes).unwrap();
            commit(writer);
            call.try_recv().unwrap()
        };
        assert_eq!(answer(&mut writer).unwrap(), 1);

        let away = folder.path().join("away.db");
        std::fs::rename(&path, &away).unwrap();
        let error = answer(&mut writer).unwrap_err();
        assert_eq!(error.to_string(), "the database was moved, removed or replaced: put it back");
        std::fs::write(&path, "").unwrap();
        assert!(answer(&mut writer).unwrap_err().is_transient());

        std::fs::rename(&away, &path).unwrap();
        assert_eq!(answer(&mut writer).unwrap(), 2);
    }

    #[test]
    fn a_group_is_one_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut writer = writer(path);
        let mut calls: Vec<_> =
            (0..3).map(|_| writer.line.push(1, false, probes).unwrap()).collect();
        let changes = |tx: &Connection, _| Ok(tx.total_changes());
        let mut total = writer.line.push(1, false, changes).unwrap();
        commit(&mut writer);
        let answers = calls.iter_mut().map(|call| call.try_recv().unwrap().unwrap());
        assert_eq!(answers.collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(total.try_recv().unwrap().unwrap(), 3);
    }
}
