use std::{
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
    write_connection::WriteConnection,
};
use crate::{
    Clock, Error,
    store::sqlite::{
        connection::{self, Checkpoint},
        fault::{self, Fault},
    },
    telemetry,
    timestamp::rounded,
};

/// The longest wait for readers when erased bytes are removed from the log. All other calls wait meanwhile.
const ERASE: Duration = Duration::from_millis(500);

/// The pause between two attempts at the lock of the database. SQLite itself would soon pause for 100 ms, and would lose
/// the lock each time to a process that writes much and pauses less.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

type Commands = Group<Box<dyn Command>>;

/// Commits groups of commands.
pub(super) struct Committer {
    queue: Arc<CommandQueue>,
    clock: Clock,
    connection: WriteConnection,
}

impl Committer {
    pub(super) fn new(queue: Arc<CommandQueue>, clock: Clock, connection: WriteConnection) -> Self {
        Self { queue, clock, connection }
    }

    pub(super) fn connection(&mut self) -> &mut WriteConnection {
        &mut self.connection
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
        let mut connection = match self.connection.take() {
            Ok(connection) => connection,
            Err(error) => {
                telemetry::failed_while_blocked();
                fail_for_now(group, &error);
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
            self.connection.put(connection);
            return 0;
        }

        let now = rounded(self.clock.now());
        let begun = self.connection.number_wal(&connection);
        let begun = begun.and_then(|()| self.connection.follow_clock(&mut connection, now));
        let findings = Arc::clone(&self.connection.findings);
        let run = |command: &mut Box<dyn Command>| command.run(&mut connection, now, &findings);
        let outcome = begun.and_then(|()| group.works().try_for_each(run));
        if let Err(fault) = outcome {
            let _ = execute(&connection, "ROLLBACK");
            self.keep(connection, &fault);
            return self.retry_alone(group, fault);
        }

        let bytes = group.works().map(|command| command.wal_bytes()).sum();
        let began = Instant::now();
        if let Err(error) = execute(&connection, "COMMIT") {
            telemetry::store_failed("commit", &transient(&error));
            if !fault::is_busy(&error) {
                self.connection.failed(&transient(&error));
            }
            let _ = execute(&connection, "ROLLBACK");
            fail(group, || transient(&error));
            if Fault::from(error).leaves_doubt() || !connection.is_autocommit() {
                // It is unknown what was committed. The next group begins with another connection.
                self.connection.doubt(connection);
            } else {
                self.connection.put(connection);
            }
            return bytes;
        }
        telemetry::committed(group.len(), began.elapsed());
        let is_erased = group.works().any(|command| command.erases()).then(|| {
            let _ = connection.busy_timeout(ERASE);
            connection::checkpoint(&connection, Checkpoint::Truncate).is_ok_and(|left| left == 0)
        });
        self.connection.put(connection);
        if let Err(error) = self.connection.committed(now) {
            // The commit may have gone to a file that is no longer at its path.
            telemetry::store_failed("commit", &error);
            fail_for_now(group, &error);
            return bytes;
        }
        for command in group.into_works() {
            let failed = command.erases() && is_erased == Some(false);
            command.answer(failed.then(not_erased));
        }
        bytes
    }

    /// Begins a transaction. Each command in the group waits for the lock as long as it may wait.
    fn begin(&self, connection: &Connection, group: &mut Commands) -> rusqlite::Result<()> {
        connection.busy_timeout(Duration::ZERO)?;
        let begun = loop {
            let busy = match execute(connection, "BEGIN IMMEDIATE") {
                Err(error) if fault::is_busy(&error) => error,
                begun => break begun,
            };
            for command in group.expire(self.queue.now()) {
                command.answer(Some(fault::translate(&busy)));
            }
            if group.is_empty() {
                break Ok(());
            }
            thread::sleep(LOCK_PAUSE);
        };
        begun.and(connection.busy_timeout(connection::BUSY))
    }

    /// A command failed and its group was rolled back. Each command runs again alone, so that it cannot fail the
    /// others.
    fn retry_alone(&mut self, group: Commands, fault: Fault) -> u64 {
        if group.len() > 1 {
            return group.split().map(|alone| self.commit(alone)).sum();
        }
        let is_full = fault.is_full();
        let error = Error::from(fault);
        if is_full {
            self.connection.failed(&error);
        }
        if let Some(command) = group.into_works().next() {
            command.answer(Some(error));
        }
        0
    }

    /// Keeps the connection for the next group, unless it may be broken.
    fn keep(&mut self, connection: Connection, fault: &Fault) {
        if !fault.is_of_the_connection() && connection.is_autocommit() {
            self.connection.put(connection);
        }
    }
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

fn fail_for_now(group: Commands, error: &Error) {
    let message = error.to_string();
    fail(group, || Error::unavailable(message.clone()));
}

fn fail(group: Commands, error: impl Fn() -> Error) {
    for command in group.into_works() {
        command.answer(Some(error()));
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::SystemTime};

    use super::*;
    use crate::{
        script::Effect,
        store::sqlite::{
            connection::Access,
            damage::Findings,
            files::Lock,
            writer::{Shared, command_queue::Next, status::Status},
        },
    };

    fn committer(path: &Path) -> Committer {
        with_status(path).0
    }

    fn with_status(path: &Path) -> (Committer, Arc<Status>) {
        let lock = Lock::take(path).unwrap();
        let connection = connection::open(path, Access::Exclusive).unwrap();
        connection::make_durable(&connection, path, Access::Exclusive).unwrap();
        let clock = Clock::system();
        let shared = Shared::new(path.to_owned(), clock.clone());
        let status = shared.status.clone();
        let connection = WriteConnection::new(shared, connection, Some(lock), Vec::new());
        (Committer::new(Arc::new(CommandQueue::new()), clock, connection), status)
    }

    fn probes(tx: &mut Connection, _: SystemTime, _: &Findings) -> Result<i64, Fault> {
        let probe = "UPDATE article_inbox_meta SET value = value + 1 WHERE name = 'probes'";
        tx.execute(probe, [])?;
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

    fn probe(committer: &mut Committer) -> Result<i64, Error> {
        let mut call = committer.queue.push(Effect::Adds(0), probes).unwrap();
        commit(committer);
        call.now().unwrap()
    }

    #[test]
    fn a_failed_commit_fails_all_its_calls_and_the_next_group_has_another_connection() {
        let folder = tempfile::tempdir().unwrap();
        let mut committer = committer(&folder.path().join("inbox.db"));
        let mut before = committer.queue.push(Effect::Adds(0), probes).unwrap();
        let rollback = |tx: &mut Connection, _, _: &Findings| Ok(tx.execute_batch("ROLLBACK")?);
        let mut after = committer.queue.push(Effect::Adds(0), rollback).unwrap();
        commit(&mut committer);
        assert!(before.now().unwrap().unwrap_err().is_transient());
        assert!(after.now().unwrap().unwrap_err().is_transient());
        assert_eq!(probe(&mut committer).unwrap(), 1);
    }

    #[test]
    fn a_start_that_failed_goes_on_with_another_connection() {
        let folder = tempfile::tempdir().unwrap();
        let mut committer = committer(&folder.path().join("inbox.db"));
        let connection = committer.connection.connection().unwrap();
        // This connection can never write.
        connection.execute_batch("PRAGMA query_only = ON").unwrap();
        assert!(probe(&mut committer).unwrap_err().is_transient());
        assert_eq!(probe(&mut committer).unwrap(), 1);
    }

    #[test]
    fn after_a_failed_sync_the_store_waits_for_readers_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let mut committer = committer(&path);
        probe(&mut committer).unwrap();
        let reader = Connection::open(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").unwrap();
        probe(&mut committer).unwrap();
        // SQLite does not say which step of a commit failed.
        let rollback = |tx: &mut Connection, _, _: &Findings| Ok(tx.execute_batch("ROLLBACK")?);
        let mut failed = committer.queue.push(Effect::Adds(0), rollback).unwrap();
        commit(&mut committer);
        assert!(failed.now().unwrap().is_err());

        let error = probe(&mut committer).unwrap_err();
        assert!(error.to_string().starts_with("another program reads the log "), "{error}");
        assert!(error.is_transient());
        drop(reader);
        assert_eq!(probe(&mut committer).unwrap(), 3);
    }

    #[test]
    fn a_call_that_fails_does_not_fail_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let mut committer = committer(&folder.path().join("inbox.db"));
        let mut before = committer.queue.push(Effect::Adds(0), probes).unwrap();
        let refused = "INSERT INTO article_inbox_meta (name, value) VALUES ('probes', 0)";
        let poison = move |tx: &mut Connection, _, _: &Findings| Ok(tx.execute_batch(refused)?);
        let mut poison = committer.queue.push(Effect::Adds(0), poison).unwrap();
        let mut after = committer.queue.push(Effect::Adds(0), probes).unwrap();
        commit(&mut committer);
        assert_eq!(before.now().unwrap().unwrap(), 1);
        assert!(!poison.now().unwrap().unwrap_err().is_transient());
        assert_eq!(after.now().unwrap().unwrap(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_committed_to_a_file_that_is_gone_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let mut committer = committer(&path);
        assert_eq!(probe(&mut committer).unwrap(), 1);

        let away = folder.path().join("away.db");
        std::fs::rename(&path, &away).unwrap();
        let error = probe(&mut committer).unwrap_err();
        assert_eq!(error.to_string(), "the database was moved, removed or replaced: put it back");
        std::fs::write(&path, "").unwrap();
        assert!(probe(&mut committer).unwrap_err().is_transient());

        std::fs::rename(&away, &path).unwrap();
        assert_eq!(probe(&mut committer).unwrap(), 2);
    }

    #[test]
    fn a_full_disk_blocks_until_a_commit_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let (mut committer, status) = with_status(&folder.path().join("inbox.db"));
        probe(&mut committer).unwrap();
        assert_eq!(status.blocked(), None);
        let fill = |tx: &mut Connection, _, _: &Findings| {
            tx.execute_batch("PRAGMA max_page_count = 1")?;
            Ok(tx
                .execute_batch("INSERT INTO article_inbox_meta VALUES (hex(zeroblob(90000)), 0)")?)
        };
        let mut full = committer.queue.push(Effect::Adds(0), fill).unwrap();
        commit(&mut committer);
        let full = full.now().unwrap().unwrap_err().to_string();
        assert_eq!(full, "the disk is full: free some space");
        assert_eq!(status.blocked(), Some(full));
        probe(&mut committer).unwrap();
        assert_eq!(status.blocked(), None);
    }

    #[test]
    fn a_group_is_one_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let mut committer = committer(&folder.path().join("inbox.db"));
        let changes = |tx: &mut Connection, _, _: &Findings| Ok(tx.total_changes());
        // The first commit gives the log a number.
        probe(&mut committer).unwrap();
        let mut earlier = committer.queue.push(Effect::Adds(0), changes).unwrap();
        commit(&mut committer);
        let mut calls: Vec<_> =
            (0..3).map(|_| committer.queue.push(Effect::Adds(0), probes).unwrap()).collect();
        let mut total = committer.queue.push(Effect::Adds(0), changes).unwrap();
        commit(&mut committer);
        let answers = calls.iter_mut().map(|call| call.now().unwrap().unwrap());
        assert_eq!(answers.collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(total.now().unwrap().unwrap() - earlier.now().unwrap().unwrap(), 3);
    }
}
