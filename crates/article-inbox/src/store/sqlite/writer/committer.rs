use std::{
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{
    command::Command,
    command_queue::CommandQueue,
    failure::{not_erased, too_busy, transient},
    group_commit::Group,
};
use crate::{
    Clock, Error,
    store::sqlite::{
        connection::{self, Access, BUSY, Checkpoint},
        database_file::{self, Identity},
        fault::{self, Fault},
    },
    telemetry,
    timestamp::rounded,
};

/// The longest wait for readers when erased bytes are removed from the log. All other calls wait meanwhile.
const ERASE: Duration = Duration::from_millis(500);

/// The pause between two attempts at a lock for which SQLite itself does not wait.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

type Commands = Group<Box<dyn Command>>;

/// Commits groups of commands on the connection that writes, and opens another connection when that one fails.
pub(super) struct Committer {
    queue: Arc<CommandQueue>,
    clock: Clock,
    path: PathBuf,
    access: Access,
    connection: Option<Connection>,
    /// The file that the connection has open.
    identity: Option<Identity>,
}

impl Committer {
    pub(super) fn new(
        queue: Arc<CommandQueue>,
        clock: Clock,
        path: PathBuf,
        access: Access,
    ) -> Self {
        Self { queue, clock, path, access, connection: None, identity: None }
    }

    /// Uses this connection, which was just opened.
    pub(super) fn use_connection(&mut self, connection: Connection) {
        self.identity = database_file::identity(&self.path);
        self.connection = Some(connection);
    }

    /// Commits a group, then answers its callers. Returns how much it added to the log, roughly.
    pub(super) fn commit(&mut self, mut group: Commands) -> u64 {
        // When a group is split, some of its commands may have waited too long by their turn.
        for command in group.expire(self.queue.now()) {
            command.answer(Some(too_busy()));
        }
        if group.is_empty() {
            return 0;
        }
        let connection = match self.take_connection() {
            Ok(connection) => connection,
            Err(error) => {
                let message = error.to_string();
                fail(group, || Error::unavailable(message.clone()));
                return 0;
            }
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

        let now = || rounded(self.clock.now());
        let outcome = group.works().try_for_each(|command| command.run(&connection, now()));
        if let Err(fault) = outcome {
            let _ = execute(&connection, "ROLLBACK");
            self.keep(connection, &fault);
            return self.retry_alone(group, fault);
        }

        let bytes = group.works().map(|command| command.log_bytes()).sum();
        let began = Instant::now();
        if let Err(error) = execute(&connection, "COMMIT") {
            telemetry::store_failed("commit", &transient(&error));
            let _ = execute(&connection, "ROLLBACK");
            fail(group, || transient(&error));
            // It is unknown what was committed. The next group begins with another connection.
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
            command.answer(failed.then(not_erased));
        }
        bytes
    }

    /// The connection, if its file is still the one at the path, or else a new one.
    fn take_connection(&mut self) -> Result<Connection, Error> {
        let Some(connection) = self.connection.take() else {
            let opened = connection::open_writer(&self.path, self.access);
            let opened = opened.inspect_err(|error| telemetry::store_failed("open", error))?;
            self.identity = database_file::identity(&self.path);
            return Ok(opened);
        };
        if database_file::identity(&self.path) == self.identity {
            return Ok(connection);
        }
        // The path no longer leads to the open file, so a commit to that file would be lost.
        self.connection = Some(connection);
        let moved = Error::unavailable("the database was moved, removed or replaced: put it back");
        telemetry::store_failed("begin", &moved);
        Err(moved)
    }

    /// Begins a transaction. It waits for the lock no longer than any command in the group may wait.
    fn begin(&self, connection: &Connection, group: &mut Commands) -> rusqlite::Result<()> {
        loop {
            connection.busy_timeout(group.patience(self.queue.now()))?;
            match execute(connection, "BEGIN IMMEDIATE") {
                Err(error) if fault::is_busy(&error) => {}
                outcome => return outcome,
            }
            for command in group.expire(self.queue.now()) {
                command.answer(Some(fault::translate(&rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    None,
                ))));
            }
            if group.is_empty() {
                return Ok(());
            }
            thread::sleep(LOCK_PAUSE);
        }
    }

    /// A command failed and its group was rolled back. Each command runs again alone, so that it cannot fail the
    /// others.
    fn retry_alone(&mut self, group: Commands, fault: Fault) -> u64 {
        if group.len() > 1 {
            return group.split().map(|alone| self.commit(alone)).sum();
        }
        let error = Error::from(fault);
        if let Some(command) = group.into_works().next() {
            command.answer(Some(error));
        }
        0
    }

    /// Keeps the connection for the next group, unless it may be broken.
    fn keep(&mut self, connection: Connection, fault: &Fault) {
        if !fault.is_of_the_connection() && connection.is_autocommit() {
            self.connection = Some(connection);
        }
    }

    /// Whether this process copies the log into the database.
    pub(super) fn may_checkpoint(&self) -> bool {
        self.access == Access::Exclusive
    }

    /// Copies the log into the database as far as readers allow, and returns how much is left. `None` without a
    /// connection.
    pub(super) fn checkpoint(&self) -> Option<Result<u64, Fault>> {
        let connection = self.connection.as_ref()?;
        Some(connection::checkpoint(connection, Checkpoint::Passive))
    }

    /// Closes the connection, and leaves an empty log if this process copies it.
    pub(super) fn close(&mut self) {
        if let Some(connection) = self.connection.take()
            && self.may_checkpoint()
        {
            // The rest is safe in the log, and is copied at the next start.
            let _ = connection.busy_timeout(BUSY);
            let _ = connection::checkpoint(&connection, Checkpoint::Truncate);
        }
    }
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

fn fail(group: Commands, error: impl Fn() -> Error) {
    for command in group.into_works() {
        command.answer(Some(error()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::store::sqlite::{schema, statements, writer::command_queue::Next};

    fn committer(path: PathBuf) -> Committer {
        let queue = Arc::new(CommandQueue::new());
        Committer::new(queue, Clock::system(), path, Access::Exclusive)
    }

    fn database(path: &std::path::Path) {
        database_file::create_private(path).unwrap();
        let mut connection = connection::open_writer(path, Access::Exclusive).unwrap();
        schema::migrate(&mut connection, path).unwrap();
    }

    fn probes(tx: &Connection, _: SystemTime) -> Result<i64, Fault> {
        statements::probe(tx)?;
        let probes = "SELECT value FROM article_inbox_meta WHERE name = 'probes'";
        Ok(tx.query_row(probes, [], |row| row.get(0))?)
    }

    /// Commits all calls that wait.
    fn commit(committer: &mut Committer) {
        let Next::Group(group, expired) = committer.queue.next(None) else {
            panic!("nothing waits")
        };
        assert!(expired.is_empty());
        committer.commit(group);
    }

    #[test]
    fn a_failed_commit_fails_all_its_calls_and_the_next_group_has_another_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut committer = committer(path);
        let mut before = committer.queue.push(1, probes).unwrap();
        let rollback = |tx: &Connection, _| Ok(tx.execute_batch("ROLLBACK")?);
        let mut after = committer.queue.push(1, rollback).unwrap();
        commit(&mut committer);
        assert!(before.now().unwrap().unwrap_err().is_transient());
        assert!(after.now().unwrap().unwrap_err().is_transient());
        assert!(committer.connection.is_none());

        let mut next = committer.queue.push(1, probes).unwrap();
        commit(&mut committer);
        assert_eq!(next.now().unwrap().unwrap(), 1);
    }

    #[test]
    fn a_call_that_fails_does_not_fail_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut committer = committer(path);
        let mut before = committer.queue.push(1, probes).unwrap();
        let refused = "INSERT INTO article_inbox_meta (name, value) VALUES ('probes', 0)";
        let poison = move |tx: &Connection, _| Ok(tx.execute_batch(refused)?);
        let mut poison = committer.queue.push(1, poison).unwrap();
        let mut after = committer.queue.push(1, probes).unwrap();
        commit(&mut committer);
        assert_eq!(before.now().unwrap().unwrap(), 1);
        assert!(!poison.now().unwrap().unwrap_err().is_transient());
        assert_eq!(after.now().unwrap().unwrap(), 2);
        assert!(committer.connection.is_some());
    }

    #[test]
    fn a_file_that_comes_back_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let mut committer = committer(path.clone());
        let mut gone = committer.queue.push(1, probes).unwrap();
        commit(&mut committer);
        assert!(gone.now().unwrap().unwrap_err().is_transient());

        database(&path);
        let mut back = committer.queue.push(1, probes).unwrap();
        commit(&mut committer);
        assert_eq!(back.now().unwrap().unwrap(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_committed_to_a_file_that_is_gone_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut committer = committer(path.clone());
        let answer = |committer: &mut Committer| {
            let mut call = committer.queue.push(1, probes).unwrap();
            commit(committer);
            call.now().unwrap()
        };
        assert_eq!(answer(&mut committer).unwrap(), 1);

        let away = folder.path().join("away.db");
        std::fs::rename(&path, &away).unwrap();
        let error = answer(&mut committer).unwrap_err();
        assert_eq!(error.to_string(), "the database was moved, removed or replaced: put it back");
        std::fs::write(&path, "").unwrap();
        assert!(answer(&mut committer).unwrap_err().is_transient());

        std::fs::rename(&away, &path).unwrap();
        assert_eq!(answer(&mut committer).unwrap(), 2);
    }

    #[test]
    fn a_group_is_one_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        database(&path);
        let mut committer = committer(path);
        let mut calls: Vec<_> = (0..3).map(|_| committer.queue.push(1, probes).unwrap()).collect();
        let changes = |tx: &Connection, _| Ok(tx.total_changes());
        let mut total = committer.queue.push(1, changes).unwrap();
        commit(&mut committer);
        let answers = calls.iter_mut().map(|call| call.now().unwrap().unwrap());
        assert_eq!(answers.collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(total.now().unwrap().unwrap(), 3);
    }
}
