//! A start knows how far was acknowledged, by the record in the lock file. A database that lacks some of it is refused, and
//! the steps of the message lead on.
#![cfg(unix)]

use std::{fs, time::Duration};

use article_webhook_inbox::{
    Filter, Prune, SqliteStore,
    store::{Outcome, Recorded, Store},
};
use rusqlite::Connection;

use super::{CLAIM, Fixture, PAGE, arrival, copy, key, record};

/// The files as a kill leaves them, with all that was written.
fn killed(fixture: &Fixture) -> Fixture {
    fixture.copied(&["", "-wal", "-shm", "-lock"])
}

/// A receiver that was killed after some deliveries, the last of which are in the log alone.
async fn after_deliveries() -> Fixture {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..20).await;
    killed(&fixture)
}

fn behind(fixture: &Fixture, missing: i64) -> String {
    let shown = fixture.shown();
    let last = if missing == 1 { "change" } else { &format!("{missing} changes") };
    format!(
        "{shown} lacks the last {last}, and what they stored was acknowledged, because its log {shown}-wal was removed or \
         cannot be read to its end, or this is an older copy: put the removed log or the latest copy back; or read what can be trusted into a \
         new file with `article-webhook inbox salvage {shown} NEW`; or restore a backup with `article-webhook inbox restore BACKUP {shown}`; or, to go on without them, move {shown}-lock away, start again, and fetch the jobs of that time from the API"
    )
}

fn lock_moved_away(fixture: &Fixture) {
    fs::rename(fixture.beside("-lock"), fixture.beside("-lock-away")).unwrap();
}

async fn jobs(fixture: &Fixture) -> usize {
    fixture.open().list(Filter::default()).await.unwrap().items.len()
}

#[tokio::test]
async fn a_tool_hides_nothing_of_what_is_missing() {
    let fixture = after_deliveries().await;
    fs::remove_file(fixture.beside("-wal")).unwrap();
    assert_eq!(fixture.refused(), behind(&fixture, 20));
    for _ in 0..2 {
        let refused = SqliteStore::open_shared(&fixture.path).unwrap_err();
        assert_eq!(refused.to_string(), behind(&fixture, 20));
    }
    assert_eq!(fixture.refused(), behind(&fixture, 20));
    lock_moved_away(&fixture);
    SqliteStore::open_shared(&fixture.path).unwrap();
}

#[tokio::test]
async fn a_torn_end_of_a_log_that_was_never_acknowledged_is_no_loss() {
    let fixture = after_deliveries().await;
    let log = fs::read(fixture.beside("-wal")).unwrap();
    // A commit that was cut off: the checksum of its frame does not fit.
    let frame = &log[log.len() - (24 + PAGE)..];
    fs::write(fixture.beside("-wal"), [&log[..], frame, &frame[..100]].concat()).unwrap();
    assert_eq!(jobs(&fixture).await, 20);
}

#[tokio::test]
async fn another_database_beside_the_lock_is_refused() {
    let fixture = after_deliveries().await;
    let other = Fixture::new();
    drop(other.open());
    for ending in ["-wal", "-shm"] {
        fs::rename(fixture.beside(ending), fixture.beside(&format!("{ending}-away"))).unwrap();
    }
    fs::rename(&fixture.path, fixture.beside("-away")).unwrap();
    copy(&other.path, &fixture.path);
    let shown = fixture.shown();
    let says = format!(
        "{shown} is not the database that was here last: put that one back; or restore a backup with `article-webhook inbox \
         restore BACKUP {shown}`; or, to go on with this one, move {shown}-lock away"
    );
    assert_eq!(fixture.refused(), says);
    Connection::open(&other.path).unwrap().execute_batch("DROP TABLE article_inbox_meta").unwrap();
    copy(&other.path, &fixture.path);
    assert_eq!(fixture.refused(), says, "a database without an inbox");

    for ending in ["", "-wal", "-shm"] {
        fs::rename(fixture.beside(&format!("{ending}-away")), fixture.beside(ending)).unwrap();
    }
    assert_eq!(jobs(&fixture).await, 20);
}

#[tokio::test]
async fn a_database_that_is_gone_is_missed_and_not_made_again() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    store.close().await.unwrap();
    let shown = fixture.shown();
    let says = format!(
        "the database {shown} is missing or empty, and {shown}-lock records that there was one: put it back; or restore a backup \
         with `article-webhook inbox restore BACKUP {shown}`; or, to start with an empty inbox, move {shown}-lock away"
    );
    let away = fixture.beside("-away");
    fs::rename(&fixture.path, &away).unwrap();
    assert_eq!(fixture.refused(), says);
    assert!(!fixture.path.exists());
    fs::write(&fixture.path, "").unwrap();
    assert_eq!(fixture.refused(), says);

    fs::rename(&away, &fixture.path).unwrap();
    assert_eq!(jobs(&fixture).await, 3);
    fs::remove_file(&fixture.path).unwrap();
    lock_moved_away(&fixture);
    assert_eq!(jobs(&fixture).await, 0);
}

/// The index of the log is missing, as after a reboot; and another program has copied the log.
#[tokio::test]
async fn what_loses_nothing_starts() {
    let fixture = after_deliveries().await;
    let moved = fixture.copied(&["", "-wal", "-lock"]);
    assert_eq!(jobs(&moved).await, 20);

    let read = fixture.copied(&["", "-wal", "-lock"]);
    let count = "SELECT count(*) FROM article_inbox_entries";
    let entries: u32 = read.sql().query_row(count, [], |row| row.get(0)).unwrap();
    assert!(!read.beside("-wal").exists(), "the other program has copied the log");
    assert_eq!((entries, jobs(&read).await), (20, 20));
}

#[tokio::test]
async fn what_is_removed_on_purpose_is_not_missed() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..4).await;
    store.erase(vec!["job_3".parse().unwrap()]).await.unwrap();
    // A later body of an older entry.
    let recorded = store.record(arrival("job_0", "{}")).await.unwrap();
    assert_eq!(recorded, Recorded::Conflict { kept: true });
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.settle(lease, Outcome::Done).await.unwrap();
    let now = fixture.clock.now() + Duration::from_secs(3600);
    let prune = Prune { bodies_before: now, entries_before: now, limit: 10, ..Prune::default() };
    store.prune(prune).await.unwrap();
    let killed = killed(&fixture);
    assert_eq!(jobs(&killed).await, 2);
    assert!(killed.open().show(key("job_3")).await.unwrap().is_none());
}

/// A tool beside a receiver that has nothing to do.
#[tokio::test]
async fn what_a_tool_commits_is_recorded_too() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    let backup = fixture.beside("-backup");
    fixture.sql().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    let lock = || fs::read(fixture.beside("-lock")).unwrap();
    let before = lock();
    SqliteStore::open_shared(&fixture.path).unwrap().probe().await.unwrap();
    super::within(20, async || lock() != before).await;
    let killed = fixture.copied(&["-lock"]);
    copy(&backup, &killed.path);
    assert_eq!(killed.refused(), behind(&killed, 1));
}

#[cfg(feature = "tracing")]
#[tokio::test]
async fn a_copy_that_was_made_in_use_warns_once() {
    use std::sync::Arc;

    use article_webhook_inbox_contract::log_buffer::LogBuffer;

    /// What a start logs.
    fn starts(fixture: &Fixture) -> String {
        let log = Arc::new(LogBuffer::new());
        let subscriber = tracing_subscriber::fmt()
            .with_writer(Arc::clone(&log))
            .with_ansi(false)
            .without_time()
            .finish();
        tracing::subscriber::with_default(subscriber, || drop(fixture.open()));
        // What the test's own folder is on is not its matter.
        log.text().lines().filter(|line| line.contains("closed cleanly")).collect()
    }

    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    let backup = fixture.beside("-backup");
    fixture.sql().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    let vacuumed = Fixture::new();
    copy(&backup, &vacuumed.path);
    let copies = [
        ("the database alone, as it is in use", fixture.copied(&[""])),
        ("the database and its log, without the lock", fixture.copied(&["", "-wal"])),
        ("VACUUM INTO, and so .backup", vacuumed),
        // Litestream restores a file that has the frames of the log, and neither the log nor the lock.
        ("a replica of the database and its log", {
            let other = fixture.copied(&["", "-wal"]);
            other.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
            other
        }),
    ];
    for (what, copy) in copies {
        let has = if what == "the database alone, as it is in use" { 0 } else { 3 };
        let shown = copy.shown();
        let says = format!(
            " WARN article_webhook_inbox: {shown} was not closed cleanly, and {shown}-lock does not record its \
             last commit. If {shown} is a copy that was made without {shown}-wal, the latest articles and orders may be missing: \
             collect the jobs of that time, and restore the copy with `article-webhook inbox restore`, so that no order is placed \
             twice. If only the lock file was removed, nothing is missing"
        );
        assert_eq!(starts(&copy), says, "{what}");
        assert_eq!(starts(&copy), "", "{what}, after a clean stop");
        assert_eq!(jobs(&copy).await, has, "{what}");
    }

    let copied = Fixture::new();
    SqliteStore::backup(&fixture.path, &copied.path).unwrap();
    assert_eq!(starts(&copied), "", "a backup of a file in use");

    // After a clean stop, the lock is not missed either.
    store.close().await.unwrap();
    let closed = fixture.copied(&[""]);
    assert_eq!(starts(&closed), "");
}
