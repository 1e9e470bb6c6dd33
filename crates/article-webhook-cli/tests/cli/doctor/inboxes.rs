use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use article_webhook::fixture;
use article_webhook_inbox::{
    Clock, Digest, EntryKey, Inbox, Source, SqliteSettings, SqliteStore,
    store::{Arrival, BucketEvent, Claim, Events, Expect, Outcome, Store},
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Found, doctor, found};
use crate::{sample, tool::text};

const HOUR: Duration = Duration::from_secs(3600);

const CLAIM: Claim = Claim {
    limit: 1,
    lease: Duration::from_secs(7200),
    attempts: 8,
    running: 0,
    events: Events::All,
    retries_first: false,
};

/// An inbox that was last used some time ago.
struct Old {
    _folder: TempDir,
    file: PathBuf,
    store: SqliteStore,
}

impl Old {
    fn new(age: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("inbox.db");
        let clock = Clock::stepped(SystemTime::now() - age);
        let store = SqliteStore::open_with(&file, SqliteSettings::default().clock(clock)).unwrap();
        Self { _folder: folder, file, store }
    }

    async fn deliver(&self, job: &str) {
        let inbox = Inbox::new(self.store.clone());
        sample::deliver(&inbox, fixture::complete().job_id(job)).await;
    }

    async fn found(&self) -> Found {
        self.store.close().await.unwrap();
        run(&self.file)
    }
}

fn run(file: &Path) -> Found {
    found(&mut doctor(&["--inbox", text(file)]))
}

#[tokio::test]
async fn a_sound_inbox_passes_beside_its_receiver_with_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let receiver = SqliteStore::open(&file).unwrap();
    let sound = run(&file);
    for code in ["opened", "writable", "sound", "nothing_due", "entries", "jobs"] {
        sound.has(&format!("inbox.{code}"), "ok");
    }
    assert_eq!(sound.findings.iter().find(|it| it.1 == "fail" && it.0.starts_with("inbox")), None);
    let version = format!("SQLite {} has", SqliteStore::sqlite_version());
    for part in [&*version, "journal_mode=wal", "synchronous=2", "secure_delete=1"] {
        assert!(sound.out.contains(part), "{part}: {}", sound.out);
    }
    let mut read_only = doctor(&["--inbox", text(&file)]);
    found(read_only.env("ARTICLE_INBOX_READ_ONLY", "1")).has("inbox.writable", "not_checked");
    receiver.close().await.unwrap();
}

#[tokio::test]
async fn an_inbox_without_a_worker_is_found_and_one_that_is_behind_is_told_from_it() {
    let old = Old::new(HOUR);
    old.deliver("job_1").await;
    old.deliver("job_2").await;
    let none = old.found().await;
    none.has("inbox.no_worker", "fail");

    let old = Old::new(HOUR);
    old.deliver("job_1").await;
    old.deliver("job_2").await;
    assert_eq!(old.store.claim(CLAIM).await.unwrap().claimed.len(), 1);
    let behind = old.found().await;
    behind.has("inbox.slow_worker", "warn");
    assert_eq!(behind.of("inbox.no_worker"), "none");

    let new = Old::new(Duration::ZERO);
    new.deliver("job_1").await;
    new.found().await.has("inbox.due", "ok");
}

#[tokio::test]
async fn a_lease_that_has_ended_is_no_worker() {
    let old = Old::new(HOUR);
    old.deliver("job_1").await;
    old.deliver("job_2").await;
    let claim = Claim { lease: HOUR / 2, ..CLAIM };
    assert_eq!(old.store.claim(claim).await.unwrap().claimed.len(), 1);
    let found = old.found().await;
    found.has("inbox.no_worker", "fail");
    assert_eq!(found.of("inbox.slow_worker"), "none");
}

fn failure(job: &str) -> Arrival {
    let bytes = r#"{"error":"generation_failed","message":"","details":{}}"#;
    Arrival {
        key: EntryKey::failure(job.parse().unwrap()),
        source: Source::Api,
        target: "api".into(),
        intent: None,
        digest: Digest::of(bytes.as_bytes()),
        bytes: bytes.into(),
    }
}

#[tokio::test]
async fn failures_that_wait_for_a_handler_are_told_from_articles_without_a_worker() {
    let fails = async |old: &Old, job: &str| old.store.record(failure(job)).await.unwrap();
    let old = Old::new(HOUR);
    fails(&old, "job_1").await;
    let found = old.found().await;
    found.has("inbox.failures_wait", "warn");
    assert!(found.out.contains("Worker::on_failure"), "{}", found.out);
    assert_eq!((found.of("inbox.no_worker"), found.of("inbox.slow_worker")), ("none", "none"));

    // A worker that has such a handler is behind.
    let old = Old::new(HOUR);
    fails(&old, "job_1").await;
    fails(&old, "job_2").await;
    assert_eq!(old.store.claim(CLAIM).await.unwrap().claimed.len(), 1);
    let found = old.found().await;
    found.has("inbox.slow_worker", "warn");
    assert_eq!(found.of("inbox.failures_wait"), "none");
}

#[tokio::test]
async fn an_article_is_found_behind_many_failures() {
    let old = Old::new(HOUR);
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..1200 {
        let store = old.store.clone();
        calls.spawn(async move { store.record(failure(&format!("job_{number}"))).await.unwrap() });
    }
    calls.join_all().await;
    old.deliver("job_last").await;
    let found = old.found().await;
    found.has("inbox.failures_wait", "warn");
    found.has("inbox.no_worker", "fail");
}

#[tokio::test]
async fn entries_that_nothing_works_on_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    sample::inbox(&file).await;
    let left = run(&file);
    left.has("inbox.dead", "warn");
    left.has("inbox.unhandled", "warn");
    assert_eq!(left.of("inbox.corrupt"), "none");
}

#[tokio::test]
async fn a_flipped_bit_is_found_before_and_after_it_was_met() {
    const WORD: &[u8] = b"\"title\":\"How to Choose";
    let old = Old::new(Duration::ZERO);
    old.deliver("job_1").await;
    old.store.close().await.unwrap();
    let mut bytes = fs::read(&old.file).unwrap();
    let place = bytes.windows(WORD.len()).position(|word| word == WORD);
    let place = place.expect("the body lies in the file as it came");
    bytes[place + 10] ^= 1;
    fs::write(&old.file, bytes).unwrap();
    run(&old.file).has("inbox.damage", "fail");

    let store = SqliteStore::open(&old.file).unwrap();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.settle(lease, Outcome::Corrupt { seen: 1, cause: "digest".to_owned() }).await.unwrap();
    store.close().await.unwrap();
    run(&old.file).has("inbox.corrupt", "fail");
}

#[tokio::test]
async fn what_a_ledger_waits_for_is_found() {
    let old = Old::new(96 * HOUR);
    let asked = SystemTime::now() - 96 * HOUR;
    old.store.expect(vec![Expect::job("job_1".parse().unwrap(), asked)]).await.unwrap();
    old.store.intend("post-17", Duration::from_secs(60), sample::BUCKET.key).await.unwrap();
    let late = old.found().await;
    late.has("inbox.overdue_jobs", "fail");
    late.has("inbox.unknown_orders", "warn");

    for (event, code, severity) in [
        (BucketEvent::KeyRefused { key: sample::BUCKET.key }, "inbox.key_refused", "fail"),
        (BucketEvent::RateLimited { retry_after: HOUR }, "inbox.rate_limited", "warn"),
        (BucketEvent::Unavailable { retry_after: HOUR }, "inbox.unavailable", "warn"),
    ] {
        let paused = Old::new(Duration::ZERO);
        // The key that was used last is the one that counts.
        paused.store.intend("post-18", Duration::from_secs(60), sample::BUCKET.key).await.unwrap();
        paused.store.report(event).await.unwrap();
        paused.found().await.has(code, severity);
    }
}

#[tokio::test]
async fn an_inbox_that_cannot_be_used_is_found_with_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    run(&path("no-folder/inbox.db")).has("inbox.refused", "fail");
    run(folder.path()).has("inbox.refused", "fail");
    fs::write(path("text.db"), "this is no database, and it is long enough to look at\n").unwrap();
    run(&path("text.db")).has("inbox.refused", "fail");
    symlink(path("text.db"), path("link.db")).unwrap();
    run(&path("none.db")).has("inbox.missing", "warn");
    fs::write(path("none.db-wal"), "a log").unwrap();
    run(&path("none.db")).has("inbox.refused", "fail");
    let postgres = run(Path::new("postgres://inbox:pass-word@db.example/articles"));
    postgres.has("inbox.refused", "fail");
    assert!(!postgres.out.contains("pass-word"), "{}", postgres.out);
}

#[tokio::test]
async fn the_fix_is_told_apart_from_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    sample::inbox(&file).await;
    let mut bytes = fs::read(&file).unwrap();
    bytes[100..].fill(0);
    fs::write(&file, bytes).unwrap();
    let found = run(&file);
    found.has("inbox.refused", "fail");
    let line = found.out.lines().find(|line| line.contains("inbox.refused")).unwrap();
    let refused: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        refused["found"],
        format!("{} is damaged (SQLite cannot make sense of it)", text(&file))
    );
    assert!(refused["cause"].as_str().unwrap().ends_with("image is malformed"), "{line}");
    let fix = refused["fix"].as_str().unwrap();
    assert!(fix.starts_with("stop the receiver, and read what can be trusted "), "{fix}");
}

#[tokio::test]
async fn files_that_others_may_read_and_a_lock_that_is_held_are_found() {
    let old = Old::new(Duration::ZERO);
    old.store.close().await.unwrap();
    assert_eq!(run(&old.file).of("inbox.open_to_others"), "none");
    fs::set_permissions(&old.file, Permissions::from_mode(0o644)).unwrap();
    run(&old.file).has("inbox.open_to_others", "warn");

    let other = Connection::open(&old.file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    run(&old.file).has("inbox.not_writable", "fail");
}

#[tokio::test]
async fn a_settled_entry_is_no_finding() {
    let old = Old::new(HOUR);
    old.deliver("job_1").await;
    let lease = old.store.claim(CLAIM).await.unwrap().claimed[0].lease;
    old.store.settle(lease, Outcome::Done).await.unwrap();
    old.found().await.has("inbox.nothing_due", "ok");
}
