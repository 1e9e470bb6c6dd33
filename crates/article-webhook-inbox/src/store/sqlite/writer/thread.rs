use std::{
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    calls::{Call, Calls, Groups, Next, too_busy},
    connection::WriteConnection,
    shared::Shared,
};
use crate::{
    Error,
    script::Effect,
    store::sqlite::{
        connection::{Access, Checkpoint, PAGE_BYTES, WAL_BYTES},
        fault::{self, Fault},
    },
    telemetry,
    timestamp::rounded,
};

/// The pause between two attempts at the lock of the database. SQLite itself would soon pause for 100 ms, and would lose
/// the lock each time to a process that writes much and pauses less.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// How long a tool leaves the lock to the receiver after each transaction.
const TOOL_PAUSE: Duration = Duration::from_millis(10);

/// What a call adds to the log besides the bytes that it brings, roughly: pages of tables and of indexes.
const WAL_BYTES_PER_CALL: u64 = 4 * PAGE_BYTES as u64;

/// The log is copied into the database and synced once it has grown by this much, after the callers were answered, or once
/// no call has come for the pause between two checks.
const CHECKPOINT_BYTES: u64 = 32 << 20;

/// What was committed before is copied ahead each time the log has grown by this much, so that a checkpoint is short.
const COPY_AHEAD_BYTES: u64 = 2 << 20;

/// The pause between two checks of the size of the log, to which other programs write as fast as the disk lets them,
/// and between two attempts to recover without a call.
const LOG_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The interval between two checks of what the next start would refuse.
const START_CHECK_INTERVAL: Duration = Duration::from_secs(300);

/// A log above this size is emptied, for which other programs must stop for a moment.
const MAX_WAL_BYTES: u64 = WAL_BYTES.unsigned_abs();

/// The longest wait for that. All calls wait meanwhile. After a wait in vain, none follows for ten times as long.
const LOG_RESET_TIMEOUT: Duration = Duration::from_millis(400);

/// The thread that writes: it commits what waits, and copies the log into the database.
pub(super) struct WriterThread {
    groups: Groups,
    shared: Shared,
    connection: WriteConnection,
    log: LogGrowth,
    /// The next check of what a start would refuse.
    next_start_check: Instant,
}

/// How the log has grown.
struct LogGrowth {
    /// By how much since the last checkpoint, roughly, and how much of it readers kept from being copied then.
    grown: u64,
    /// By how much since the last copy ahead.
    grown_ahead: u64,
    /// The size at the last check.
    size: u64,
    next_check: Instant,
    next_wait: Instant,
}

impl WriterThread {
    pub(super) fn new(groups: Groups, shared: Shared, connection: WriteConnection) -> Self {
        let now = Instant::now();
        let log = LogGrowth { grown: 0, grown_ahead: 0, size: 0, next_check: now, next_wait: now };
        Self { groups, shared, connection, log, next_start_check: now + START_CHECK_INTERVAL }
    }

    /// Runs until the calls are closed and all of them are answered.
    pub(super) fn start(self, calls: Arc<Calls>) -> Result<JoinHandle<()>, Error> {
        let thread = thread::Builder::new().name("article-webhook-inbox".into());
        thread.spawn(move || self.run(CloseOnDrop(calls))).map_err(|error| {
            Error::unusable("no thread can be started for the store: raise the limit of threads")
                .because(error)
        })
    }

    fn run(mut self, _close: CloseOnDrop) {
        // A tool leaves the log to the receiver.
        let is_exclusive = self.connection.access() == Access::Exclusive;
        let idle = is_exclusive.then_some(LOG_CHECK_INTERVAL);
        loop {
            match self.groups.next(idle) {
                Next::Group(group) => {
                    let bytes = self.commit(group);
                    if is_exclusive {
                        self.after_group(bytes);
                    } else {
                        thread::sleep(TOOL_PAUSE);
                    }
                }
                Next::Idle => self.after_pause(),
                Next::End => break,
            }
        }
        self.shared.reader.close();
        self.connection.close();
    }

    /// Commits a group, then answers its callers. Returns how much it added to the log, roughly.
    fn commit(&mut self, mut group: Vec<Call>) -> u64 {
        answer_late(&mut group, || too_busy("the call waited too long for the disk"));
        if group.is_empty() {
            return 0;
        }
        if let Err(error) = self.connection.be_ready() {
            telemetry::failed_while_blocked();
            fail(group, &error.into());
            return 0;
        }
        if let Err(fault) = self.begin(&mut group) {
            telemetry::store_failed("begin", &transient(&fault));
            fail(group, &fault);
            return 0;
        }
        if group.is_empty() {
            return 0;
        }

        let now = rounded(self.shared.clock.now());
        let outcome = self.connection.prepare_group(now).and_then(|began_at| {
            let findings = &self.shared.findings;
            let connection = self.connection.get()?;
            group.iter_mut().try_for_each(|call| call.work.run(connection, now, findings))?;
            self.connection.count(began_at)
        });
        if let Err(fault) = outcome {
            self.connection.roll_back(&fault);
            return self.run_alone(group, fault);
        }

        let bytes = group.iter().map(wal_bytes).sum();
        let began = Instant::now();
        if let Err(fault) = self.connection.commit() {
            telemetry::store_failed("commit", &transient(&fault));
            fail(group, &fault);
            return bytes;
        }
        telemetry::committed(group.len(), began.elapsed());
        let erases = |call: &Call| call.effect == Effect::Erases;
        let is_erased = !group.iter().any(erases) || self.connection.erase_log();
        if let Err(error) = self.connection.check_commit(now) {
            telemetry::store_failed("commit", &error);
            fail(group, &error.into());
            return bytes;
        }
        self.groups.answer(group, |call| (erases(call) && !is_erased).then(not_erased));
        bytes
    }

    /// Begins a transaction. Each call of the group waits for the lock as long as it may wait.
    fn begin(&mut self, group: &mut Vec<Call>) -> Result<(), Fault> {
        loop {
            match self.connection.begin() {
                Err(Fault::Sql(error)) if fault::is_busy(&error) => {
                    // A tool that erases has the lock, and waits for every reader.
                    self.connection.release_snapshot();
                    answer_late(group, || fault::translate(&error));
                }
                begun => return begun,
            }
            if group.is_empty() {
                return Ok(());
            }
            thread::sleep(LOCK_PAUSE);
        }
    }

    /// A call failed and its group was rolled back. Each call runs again alone, so that it cannot fail the others.
    fn run_alone(&mut self, mut group: Vec<Call>, fault: Fault) -> u64 {
        if group.len() > 1 {
            return group.into_iter().map(|call| self.commit(vec![call])).sum();
        }
        let is_full = fault.is_full();
        let error = Error::from(fault);
        if is_full {
            self.shared.status.note_commit(Err(&error));
        }
        if let Some(call) = group.pop() {
            call.work.answer(Some(error));
        }
        0
    }

    /// A group was committed, and the log has grown by this much.
    fn after_group(&mut self, bytes: u64) {
        self.log.grown += bytes;
        self.log.grown_ahead += bytes;
        let is_much = self.log.grown >= CHECKPOINT_BYTES;
        if is_much || Instant::now() >= self.log.next_check {
            self.look_at_log();
        }
        if is_much {
            self.checkpoint();
        } else if self.log.grown_ahead >= COPY_AHEAD_BYTES {
            self.log.grown_ahead = 0;
            self.connection.copy_ahead();
        }
    }

    /// No call came. The store recovers without one.
    fn after_pause(&mut self) {
        if self.connection.make_ready().is_err() {
            return;
        }
        self.connection.record_others();
        self.look_at_log();
        if self.log.grown > 0 {
            self.checkpoint();
        }
    }

    /// Looks at the size of the log, and empties it if it is too large.
    fn look_at_log(&mut self) {
        let now = Instant::now();
        self.log.next_check = now + LOG_CHECK_INTERVAL;
        if now >= self.next_start_check {
            self.next_start_check = now + START_CHECK_INTERVAL;
            self.connection.check_next_start();
        }
        self.log.size = self.connection.wal_bytes();
        telemetry::wal_bytes(self.log.size);
        if self.log.size > MAX_WAL_BYTES {
            self.empty_log();
        }
    }

    /// Copies what readers allow, without waiting for them. What they keep counts towards the next checkpoint.
    fn checkpoint(&mut self) {
        let left = self.connection.checkpoint(Checkpoint::Passive).unwrap_or(self.log.grown);
        self.log.grown = left.min(CHECKPOINT_BYTES / 4 * 3);
    }

    /// Empties a log that is too large. An application that writes without pause leaves only moments for it.
    fn empty_log(&mut self) {
        let start = Instant::now();
        // Soon after a wait in vain, one attempt is enough to see that a reader has ended.
        let wait = if start < self.log.next_wait { Duration::ZERO } else { LOG_RESET_TIMEOUT };
        while self.connection.checkpoint(Checkpoint::Truncate) != Some(0) {
            if start.elapsed() >= wait {
                telemetry::log_grows(self.log.size);
                self.log.next_wait = self.log.next_wait.max(start + wait * 10);
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        (self.log.grown, self.log.size) = (0, self.connection.wal_bytes());
        telemetry::wal_bytes(self.log.size);
    }
}

/// Closes the calls when the thread ends, even by a panic, so that no caller waits forever.
struct CloseOnDrop(Arc<Calls>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Answers the calls of a group that have waited too long, and takes them out of it.
fn answer_late(group: &mut Vec<Call>, error: impl Fn() -> Error) {
    for call in group.extract_if(.., |call| call.is_late()) {
        call.work.answer(Some(error()));
    }
}

/// Fails a group. None of its calls is the cause, so all may be retried.
fn fail(group: Vec<Call>, fault: &Fault) {
    for call in group {
        call.work.answer(Some(transient(fault)));
    }
}

fn transient(fault: &Fault) -> Error {
    match fault {
        Fault::Sql(error) => match fault::translate(error) {
            error if error.is_transient() => error,
            error => Error::unavailable(error.to_string()),
        },
        Fault::Ours(error) => Error::unavailable(error.to_string()),
    }
}

fn wal_bytes(call: &Call) -> u64 {
    call.effect.bytes() as u64 + WAL_BYTES_PER_CALL
}

/// The error of a call whose removed bytes are still in the log.
fn not_erased() -> Error {
    Error::unavailable(
        "the entries are removed, but another program reads the database, and its write-ahead log still holds them: call again",
    )
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::SystemTime};

    use rusqlite::Connection;

    use super::*;
    use crate::{
        Clock,
        store::sqlite::{connection, damage::Findings, files::Lock, writer::calls},
    };

    /// A writer whose thread is the test.
    struct Fixture {
        folder: tempfile::TempDir,
        calls: Calls,
        writer: WriterThread,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let lock = Lock::take(&path).unwrap().unwrap();
        let connection = connection::open(&path, Access::Exclusive).unwrap();
        connection::make_durable(&connection, &path, Access::Exclusive).unwrap();
        let shared = Shared::new(path, Clock::system(), None);
        let connection = WriteConnection::new(shared.clone(), connection, Some(lock), Vec::new());
        let (calls, groups) = calls::channel();
        Fixture { folder, calls, writer: WriterThread::new(groups, shared, connection) }
    }

    fn probes(tx: &mut Connection, _: SystemTime, _: &Findings) -> Result<i64, Fault> {
        let probe = "INSERT INTO article_inbox_meta (name, value) VALUES ('probes', 1) \
            ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
        Ok(tx.query_row(probe, [], |row| row.get(0))?)
    }

    fn roll_back(tx: &mut Connection, _: SystemTime, _: &Findings) -> Result<(), Fault> {
        Ok(tx.execute_batch("ROLLBACK")?)
    }

    /// What a call gets once it is answered.
    struct Caller<T>(tokio::sync::oneshot::Receiver<Result<T, Error>>);

    impl<T> Caller<T> {
        fn answer(mut self) -> Result<T, Error> {
            self.0.try_recv().unwrap()
        }
    }

    impl Fixture {
        fn path(&self) -> PathBuf {
            self.folder.path().join("inbox.db")
        }

        fn call<T: Send + 'static>(
            &self,
            run: impl FnMut(&mut Connection, SystemTime, &Findings) -> Result<T, Fault> + Send + 'static,
        ) -> Caller<T> {
            Caller(self.calls.push(Effect::Adds(0), run).unwrap())
        }

        /// The calls that wait.
        fn group(&mut self) -> Vec<Call> {
            let Next::Group(group) = self.writer.groups.next(None) else { panic!("nothing waits") };
            group
        }

        fn commit(&mut self) {
            let group = self.group();
            self.writer.commit(group);
        }

        fn probe(&mut self) -> Result<i64, Error> {
            let caller = self.call(probes);
            self.commit();
            caller.answer()
        }
    }

    #[test]
    fn a_call_that_fails_does_not_fail_its_group() {
        let mut fixture = fixture();
        let before = fixture.call(probes);
        let refused = "INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 1)";
        let poison = fixture.call(move |tx, _, _| Ok(tx.execute_batch(refused)?));
        let after = fixture.call(probes);
        fixture.commit();
        assert_eq!(before.answer().unwrap(), 1);
        assert!(!poison.answer().unwrap_err().is_transient());
        assert_eq!(after.answer().unwrap(), 2);
    }

    #[test]
    fn a_call_that_has_waited_too_long_is_not_run() {
        let mut fixture = fixture();
        let (late, other) = (fixture.call(probes), fixture.call(probes));
        let mut group = fixture.group();
        group[0].since -= Duration::from_secs(2);
        fixture.writer.commit(group);
        let says = "the store is too busy, because the call waited too long for the disk";
        assert_eq!(late.answer().unwrap_err().to_string(), says);
        assert_eq!(other.answer().unwrap(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_the_next_start_would_refuse_is_reported_while_it_lasts() {
        let mut fixture = fixture();
        fixture.probe().unwrap();
        let check = |fixture: &mut Fixture| {
            fixture.writer.next_start_check = Instant::now();
            fixture.writer.look_at_log();
            fixture.writer.shared.status.next_start().map(|why| why.to_string())
        };
        assert_eq!(check(&mut fixture), None);
        let other = fixture.folder.path().join("other.db");
        std::fs::hard_link(fixture.path(), &other).unwrap();
        assert!(check(&mut fixture).unwrap().contains(" is one file with 2 names "));
        std::fs::remove_file(&other).unwrap();
        assert_eq!(check(&mut fixture), None);

        let application = Connection::open(fixture.path()).unwrap();
        let trigger =
            "CREATE TRIGGER audit AFTER UPDATE ON article_inbox_entries BEGIN SELECT 1; END";
        application.execute_batch(trigger).unwrap();
        let reason = check(&mut fixture).unwrap();
        assert!(reason.contains("the trigger audit on article_inbox_entries"), "{reason}");
        application.execute_batch("DROP TRIGGER audit").unwrap();
        assert_eq!(check(&mut fixture), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_copied_ahead_stays_in_the_log_until_a_checkpoint() {
        let mut fixture = fixture();
        let path = fixture.path();
        let is_in_file = |letter: u8| {
            let file = std::fs::read(&path).unwrap();
            file.windows(8_000).any(|bytes| bytes.iter().all(|byte| *byte == letter))
        };
        let log = || std::fs::read(path.with_extension("db-wal")).unwrap()[16..24].to_vec();
        let mut write = |letter: &'static str| {
            let insert = "INSERT INTO article_inbox_meta (name, value) VALUES (?1, 0)";
            let call =
                fixture.call(move |tx, _, _| Ok(tx.execute(insert, [letter.repeat(30_000)])?));
            fixture.commit();
            call.answer().unwrap();
            fixture.writer.connection.copy_ahead();
            log()
        };
        // The first call takes a snapshot alone.
        let begun = write("a");
        assert!(!is_in_file(b'a'));
        assert_eq!(write("b"), begun);
        assert!(is_in_file(b'a') && !is_in_file(b'b'));
        assert_eq!(write("c"), begun);
        assert!(is_in_file(b'b') && !is_in_file(b'c'));

        assert_eq!(fixture.writer.connection.checkpoint(Checkpoint::Passive), Some(0));
        assert!(is_in_file(b'c'));
        fixture.probe().unwrap();
        assert_ne!(log(), begun);
    }

    #[test]
    fn a_failed_commit_fails_all_its_calls_and_the_next_group_has_another_connection() {
        let mut fixture = fixture();
        let (before, after) = (fixture.call(probes), fixture.call(roll_back));
        fixture.commit();
        assert!(before.answer().unwrap_err().is_transient());
        assert!(after.answer().unwrap_err().is_transient());
        assert_eq!(fixture.probe().unwrap(), 1);
    }

    #[test]
    fn a_start_that_failed_goes_on_with_another_connection() {
        let mut fixture = fixture();
        let connection = fixture.writer.connection.get().unwrap();
        // This connection can never write.
        connection.execute_batch("PRAGMA query_only = ON").unwrap();
        assert!(fixture.probe().unwrap_err().is_transient());
        assert_eq!(fixture.probe().unwrap(), 1);
    }

    #[test]
    fn after_a_failed_sync_the_store_waits_for_readers_of_the_log() {
        let mut fixture = fixture();
        fixture.probe().unwrap();
        let reader = Connection::open(fixture.path()).unwrap();
        reader.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").unwrap();
        fixture.probe().unwrap();
        // SQLite does not say which step of a commit failed.
        let failed = fixture.call(roll_back);
        fixture.commit();
        assert!(failed.answer().is_err());

        let error = fixture.probe().unwrap_err();
        assert!(error.to_string().starts_with("another program reads the log "), "{error}");
        assert!(error.is_transient());
        drop(reader);
        assert_eq!(fixture.probe().unwrap(), 3);
    }

    /// An application writes without pause to tables of its own, and copies no log.
    #[test]
    fn a_log_that_is_too_large_is_emptied_once_no_reader_needs_it() {
        let mut fixture = fixture();
        fixture.probe().unwrap();
        let [application, reader] = [(); 2].map(|()| Connection::open(fixture.path()).unwrap());
        reader.execute_batch("BEGIN; SELECT * FROM article_inbox_meta").unwrap();
        let write = format!(
            "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; CREATE TABLE application (page); \
             INSERT INTO application VALUES (zeroblob({MAX_WAL_BYTES}))"
        );
        application.execute_batch(&write).unwrap();
        fixture.writer.look_at_log();
        assert!(fixture.writer.connection.wal_bytes() > MAX_WAL_BYTES);
        drop(reader);
        fixture.writer.look_at_log();
        assert_eq!(fixture.writer.connection.wal_bytes(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn no_commit_is_answered_whose_file_is_gone_until_it_is_back() {
        let mut fixture = fixture();
        let (path, away) = (fixture.path(), fixture.folder.path().join("away.db"));
        assert_eq!(fixture.probe().unwrap(), 1);

        std::fs::rename(&path, &away).unwrap();
        let gone =
            format!("the database {} was moved, removed or replaced: put it back", path.display());
        // The probe is committed to the file that was moved away.
        assert_eq!(fixture.probe().unwrap_err().to_string(), gone);
        let blocked = fixture.writer.shared.status.blocked().unwrap();
        assert_eq!(blocked.to_string(), gone);
        // From then on nothing is.
        assert_eq!(fixture.probe().unwrap_err().to_string(), gone);
        std::fs::write(&path, "").unwrap();
        assert!(fixture.probe().unwrap_err().is_transient());

        std::fs::rename(&away, &path).unwrap();
        assert_eq!(fixture.probe().unwrap(), 3);
        assert!(fixture.writer.shared.status.blocked().is_none());
    }

    #[test]
    fn a_full_disk_blocks_until_a_commit_succeeds() {
        let mut fixture = fixture();
        fixture.probe().unwrap();
        let status = Arc::clone(&fixture.writer.shared.status);
        assert!(status.blocked().is_none());
        let full = fixture.call(|tx, _, _| {
            tx.execute_batch("PRAGMA max_page_count = 1")?;
            Ok(tx.execute_batch(
                "INSERT INTO article_inbox_meta (name, value) VALUES (hex(zeroblob(90000)), 0)",
            )?)
        });
        fixture.commit();
        let full = full.answer().unwrap_err().to_string();
        assert_eq!(full, "the disk is full: free some space");
        assert_eq!(status.blocked().unwrap().to_string(), full);
        fixture.probe().unwrap();
        assert!(status.blocked().is_none());
    }
}
