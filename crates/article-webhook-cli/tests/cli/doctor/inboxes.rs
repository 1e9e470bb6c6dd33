use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use article_webhook::fixture::{self, DeliveryRequest};
use article_webhook_inbox::{
    Clock, EntryKey, Failed, Inbox, Job, Source, SqliteSettings, SqliteStore,
    store::{BucketEvent, Claim, Expect, Quarantine, Store},
};
use article_webhook_inbox_contract::CLAIM_ONE;
use article_webhook_simulator::Simulator;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Found, doctor, found};
use crate::{
    damaged::flip_a_body,
    sample,
    tool::{self, seen, text, tool},
};

const HOUR: Duration = Duration::from_secs(3600);

const CLAIM: Claim = Claim { lease: Duration::from_secs(7200), ..CLAIM_ONE };

/// An inbox that was last used some time ago.
struct Old {
    _folder: TempDir,
    file: PathBuf,
    store: SqliteStore,
}

impl Old {
    fn new(age: Duration) -> Self {
        let (folder, file) = sample::place();
        let clock = Clock::stepped(SystemTime::now() - age);
        let store = SqliteStore::open_with(&file, SqliteSettings::default().clock(clock)).unwrap();
        Self { _folder: folder, file, store }
    }

    async fn with_two(age: Duration) -> Self {
        let old = Self::new(age);
        old.deliver("job_1").await;
        old.deliver("job_2").await;
        old
    }

    async fn deliver(&self, job: &str) {
        let inbox = Inbox::new(self.store.clone());
        sample::deliver(&inbox, fixture::complete().job_id(job)).await;
    }

    async fn found(&self) -> Found {
        self.store.close().await.unwrap();
        run(&self.file)
    }

    /// The same, once a worker has run that handles failures as well.
    async fn found_after_a_worker(&self) -> Found {
        let inbox = Inbox::open(&self.file).await.unwrap();
        let worker = inbox.worker(async |_| Ok(())).on_failure(async |_| Ok(()));
        worker.run_until_idle().await.unwrap();
        inbox.close().await.unwrap();
        run(&self.file)
    }
}

fn run(file: &Path) -> Found {
    found(&mut doctor(&["--inbox", text(file)]))
}

#[tokio::test]
async fn a_sound_inbox_passes_beside_its_receiver_with_its_settings() {
    let (_folder, file) = sample::place();
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
async fn an_inbox_without_a_worker_is_found_and_distinguished_from_one_that_is_behind() {
    let old = Old::with_two(HOUR).await;
    let none = old.found().await;
    let status = || tool::run(&["inbox", "status", text(&old.file)]);
    let (exit, out, _) = status();
    assert!(out.contains("\noldest due  for 60 min: does a worker run?\n"), "{out}");
    assert_eq!(exit, Some(1), "nothing ended badly, and nothing is worked on: {out}");
    let worked = old.found_after_a_worker().await;
    worked.has("inbox.nothing_due", "ok");
    none.is_cured(
        "inbox.no_worker",
        "fail",
        "run `inbox.worker(handler).run(stop)` in the receiver's process, and look into its log for why it ended",
        &worked,
    );
    let (exit, out, _) = status();
    assert!(out.starts_with("nothing is dead, unhandled, quarantined or corrupt\n"), "{out}");
    assert!(out.contains("\noldest due  nothing waits for a worker\n"), "{out}");
    assert_eq!(exit, Some(0));

    let old = Old::with_two(HOUR).await;
    assert_eq!(old.store.claim(CLAIM).await.unwrap().claimed.len(), 1);
    let behind = old.found().await;
    behind.is_cured(
        "inbox.slow_worker",
        "warn",
        "raise the `concurrency` of the worker, or look at what its handler waits for",
        &old.found_after_a_worker().await,
    );
    assert_eq!(behind.of("inbox.no_worker"), "none");

    let new = Old::new(Duration::ZERO);
    new.deliver("job_1").await;
    let found = new.found().await;
    found.has("inbox.due", "ok");
    assert!(
        found.out.contains("the oldest entry has been due for less than a minute"),
        "{}",
        found.out
    );
}

#[tokio::test]
async fn a_lease_that_has_ended_is_no_worker() {
    let old = Old::with_two(HOUR).await;
    let claim = Claim { lease: HOUR / 2, ..CLAIM };
    assert_eq!(old.store.claim(claim).await.unwrap().claimed.len(), 1);
    let found = old.found().await;
    found.has("inbox.no_worker", "fail");
    assert_eq!(found.of("inbox.slow_worker"), "none");
}

#[tokio::test]
async fn failures_that_wait_for_a_handler_are_distinguished_from_articles_without_a_worker() {
    let fails = async |old: &Old, job: &str| old.store.record(sample::failure(job)).await.unwrap();
    let old = Old::new(HOUR);
    fails(&old, "job_1").await;
    let found = old.found().await;
    found.is_cured(
        "inbox.failures_wait",
        "warn",
        "give a handler with `Worker::on_failure` to the worker in the receiver's process",
        &old.found_after_a_worker().await,
    );
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
        calls.spawn(async move {
            store.record(sample::failure(&format!("job_{number}"))).await.unwrap()
        });
    }
    calls.join_all().await;
    old.deliver("job_last").await;
    let found = old.found().await;
    found.has("inbox.failures_wait", "warn");
    found.has("inbox.no_worker", "fail");
}

#[track_caller]
fn collect(inbox: &Path, service: &Simulator, jobs: &[&str]) {
    let mut collect = tool(["collect", "--inbox", text(inbox), "--api-url", &service.base_url()]);
    let output = collect.args(jobs).env("ARTICLE_API_KEY", "sk-simulator").output().unwrap();
    let (exit, _, error) = seen(&output);
    assert_eq!(exit, Some(0), "{error}");
}

const OF_DAMAGE: &str = "article-webhook collect --inbox INBOX JOB for each job that is named, once a worker has found its entry \
    corrupt; for all else, stop the receiver and start it again, which builds indexes again, or says what to do";

#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn a_flipped_bit_is_found_before_and_after_a_worker_met_it_until_the_job_is_collected() {
    let (old, service) = (Old::new(Duration::ZERO), sample::service().await);
    let job = service.order("Shoes").await.unwrap().job_id;
    // The service delivers what its API gives.
    let mut get = tool(["get", &job, "--wait", "--json", "--api-url", &service.base_url()]);
    let body = get.env("ARTICLE_API_KEY", "sk-simulator").output().unwrap().stdout;
    let delivered = DeliveryRequest::new(body.trim_ascii().to_vec());
    let inbox = Inbox::new(old.store.clone());
    sample::deliver(&inbox, delivered.header("X-Service-Job-Id", &job)).await;
    old.store.close().await.unwrap();
    let mut bytes = fs::read(&old.file).unwrap();
    flip_a_body(&mut bytes);
    fs::write(&old.file, bytes).unwrap();
    let handled = Arc::new(Mutex::new(Vec::new()));
    let work = async || {
        let inbox = Inbox::open(&old.file).await.unwrap();
        let handled = Arc::clone(&handled);
        let handler = move |job: Job| {
            handled.lock().unwrap().push(job.job_id().to_string());
            async { Ok::<_, Failed>(()) }
        };
        inbox.worker(handler).run_until_idle().await.unwrap();
        inbox.close().await.unwrap();
    };
    let damaged = run(&old.file);
    work().await;
    let corrupt = run(&old.file);
    collect(&old.file, &service, &[&job]);
    let collected = run(&old.file);
    damaged.is_cured("inbox.damage", "fail", OF_DAMAGE, &collected);
    let each = "article-webhook collect --inbox INBOX JOB for each; then check the disk";
    corrupt.is_cured("inbox.corrupt", "fail", each, &collected);
    work().await;
    assert_eq!(*handled.lock().unwrap(), [job]);
}

#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn what_is_in_quarantine_is_found_until_its_job_is_collected() {
    let (old, service) = (Old::new(Duration::ZERO), sample::service().await);
    let job = service.order("Shoes").await.unwrap().job_id;
    let mut arrival = sample::failure(&job);
    arrival.key = EntryKey::article(job.parse().unwrap());
    let cause = "no object".to_owned();
    let expect = Some(Expect::job(arrival.key.job_id.clone(), old.store.now()));
    let quarantine = Quarantine { arrival, cause, expect, statement: None, budget: 1 << 20 };
    old.store.quarantine(quarantine).await.unwrap();
    let before = old.found().await;
    let (exit, list, _) = tool::run(&["inbox", "list", text(&old.file), "--state", "quarantined"]);
    assert!(exit == Some(0) && list.contains(&job), "{list}");
    collect(&old.file, &service, &[&job]);
    let fix = "article-webhook inbox list INBOX --state quarantined; then article-webhook collect --inbox INBOX JOB";
    before.is_cured("inbox.quarantined", "warn", fix, &run(&old.file));
}

#[tokio::test]
async fn an_index_that_differs_is_found_until_the_receiver_starts_again() {
    let old = Old::new(Duration::ZERO);
    old.deliver("job_1").await;
    // The pages of the index, as a table.
    let sql = Connection::open(&old.file).unwrap();
    sql.execute_batch(
        "PRAGMA writable_schema = ON; \
         INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) \
         SELECT 'table', 'changed', 'changed', rootpage, \
         'CREATE TABLE changed (state, kind, at, id, PRIMARY KEY (state, kind, at, id)) WITHOUT ROWID' \
         FROM sqlite_schema WHERE name = 'article_inbox_entries_by_time'",
    )
    .unwrap();
    let other = Connection::open(&old.file).unwrap();
    other.execute("DELETE FROM changed", []).unwrap();
    drop(other);
    sql.execute("DELETE FROM sqlite_schema WHERE name = 'changed'", []).unwrap();
    drop(sql);
    let differs = run(&old.file);
    old.store.close().await.unwrap();
    let receiver = SqliteStore::open(&old.file).unwrap();
    differs.is_cured("inbox.damage", "fail", OF_DAMAGE, &run(&old.file));
    assert_eq!(receiver.claim(CLAIM).await.unwrap().claimed.len(), 1);
}

#[tokio::test(flavor = "multi_thread")] // the service answers while the test waits for the tool
async fn what_a_ledger_waits_for_is_found_until_it_comes() {
    let (old, service) = (Old::new(96 * HOUR), sample::service().await);
    let asked = SystemTime::now() - 96 * HOUR;
    let job = service.order("Shoes").await.unwrap().job_id;
    old.store.expect(vec![Expect::job(job.parse().unwrap(), asked)]).await.unwrap();
    old.store.intend("post-17", Duration::from_secs(60), sample::BUCKET.key, None).await.unwrap();
    let late = old.found().await;
    late.has("inbox.overdue_jobs", "fail");
    late.has("inbox.unknown_orders", "warn");
    collect(&old.file, &service, &[]);
    // The delivery of the order comes.
    let receiver = SqliteStore::open(&old.file).unwrap();
    let mut delivered = sample::failure("job_2");
    delivered.key = EntryKey::article("job_2".parse().unwrap());
    (delivered.source, delivered.intent) = (Source::Webhook, Some("post-17".into()));
    receiver.record(delivered).await.unwrap();
    receiver.close().await.unwrap();
    let settled = run(&old.file);
    late.is_cured(
        "inbox.overdue_jobs",
        "fail",
        "article-webhook collect --inbox INBOX; ask the service about jobs that stay",
        &settled,
    );
    late.is_cured(
        "inbox.unknown_orders",
        "warn",
        "look at the service whether the job exists; a delivery to its webhook URL settles it, and `article-webhook order --again` \
         orders it all the same",
        &settled,
    );
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
async fn the_fix_is_distinguished_from_the_cause() {
    let (_folder, file) = sample::inbox().await;
    let mut bytes = fs::read(&file).unwrap();
    bytes[100..].fill(0);
    fs::write(&file, bytes).unwrap();
    let found = run(&file);
    found.has("inbox.refused", "fail");
    let line = found.out.lines().find(|line| line.contains("inbox.refused")).unwrap();
    let refused: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(refused["found"], format!("{} is damaged (SQLite cannot read it)", text(&file)));
    assert!(refused["cause"].as_str().unwrap().ends_with("image is malformed"), "{line}");
    let fix = refused["fix"].as_str().unwrap();
    assert!(fix.starts_with("stop the receiver, and read what can be trusted "), "{fix}");
}

#[tokio::test]
async fn a_lock_that_is_held_is_found() {
    let old = Old::new(Duration::ZERO);
    old.store.close().await.unwrap();
    let other = Connection::open(&old.file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked = run(&old.file);
    drop(other);
    locked.is_cured(
        "inbox.not_writable",
        "fail",
        "look into the log of the receiver; close other programs that write to the inbox; make room on the disk",
        &run(&old.file),
    );
}

/// An hour is over for an inbox of two hours ago.
#[tokio::test]
async fn a_pause_that_is_waited_for_is_over() {
    for (event, code, severity, fix) in [
        (
            BucketEvent::KeyRefused { key: sample::BUCKET.key },
            "inbox.key_refused",
            "fail",
            "give the collector the key that the service issued; the pause is of the refused key alone",
        ),
        (
            BucketEvent::RateLimited { retry_after: HOUR },
            "inbox.rate_limited",
            "warn",
            "wait; if it happens often, lower the rate of the collector",
        ),
        (
            BucketEvent::Unavailable { retry_after: HOUR },
            "inbox.unavailable",
            "warn",
            "wait; if it does not end, ask the service",
        ),
    ] {
        let [now, waited] = [Duration::ZERO, 2 * HOUR].map(Old::new);
        for old in [&now, &waited] {
            old.store.intend("post-18", HOUR / 60, sample::BUCKET.key, None).await.unwrap();
            old.store.report(event).await.unwrap();
        }
        now.found().await.is_cured(code, severity, fix, &waited.found().await);
    }
}
