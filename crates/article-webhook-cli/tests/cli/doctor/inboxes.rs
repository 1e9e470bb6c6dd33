//! Inboxes that a program has open. What the file alone shows is in the steps of `tests/advice`.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::fixture;
use article_webhook_inbox::{
    Clock, Inbox, SqliteSettings, SqliteStore,
    store::{Claim, Store},
};
use article_webhook_inbox_contract::CLAIM_ONE;
use futures_util::future::join_all;
use rusqlite::Connection;

use super::{Found, doctor, found};
use crate::{sample, tool::text};

const HOUR: Duration = Duration::from_secs(3600);

fn run(file: &Path) -> Found {
    found(&mut doctor(&["--inbox", text(file)]))
}

#[tokio::test]
async fn a_sound_inbox_passes_beside_its_receiver_with_its_settings() {
    let (_folder, file) = sample::place();
    let receiver = SqliteStore::open(&file).unwrap();
    let sound = run(&file);
    for code in ["opened", "writable", "sound", "oldest_due"] {
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
async fn what_is_due_for_an_hour_is_found_by_its_kind_and_by_what_a_worker_has() {
    const NO_WORKER: [&str; 3] = [
        "inbox.no_worker",
        "fail",
        "run `inbox.worker(handler).run(stop)` in the receiver's process, and look into its log for why it ended",
    ];
    const SLOW: [&str; 3] = [
        "inbox.slow_worker",
        "fail",
        "raise the `concurrency` of the worker, or look at what its handler waits for",
    ];
    const FAILURES: [&str; 3] = [
        "inbox.failures_wait",
        "fail",
        "give a handler with `Worker::on_failure` to the worker in the receiver's process",
    ];
    for (failures, articles, lease, expected) in [
        (0, 2, Some(2 * HOUR), &[SLOW][..]),
        // The lease has ended.
        (0, 2, Some(HOUR / 2), &[NO_WORKER]),
        (1, 0, None, &[FAILURES]),
        // The lease of all that is due has ended.
        (1, 0, Some(HOUR / 2), &[FAILURES]),
        // The worker has a handler for failures.
        (2, 0, Some(2 * HOUR), &[SLOW]),
        // The article is not among the oldest.
        (1200, 1, None, &[FAILURES, NO_WORKER]),
    ] {
        let (_folder, file) = sample::place();
        let clock = Clock::stepped(SystemTime::now() - HOUR);
        let store = SqliteStore::open_with(&file, SqliteSettings::default().clock(clock)).unwrap();
        let fail = |job| store.record(sample::failure(&format!("job_{job}")));
        // Not all at once: on a busy machine the last would wait for longer than a call may.
        for first in (0..failures).step_by(100) {
            let some = first..failures.min(first + 100);
            for recorded in join_all(some.map(fail)).await {
                recorded.unwrap();
            }
        }
        for job in failures..failures + articles {
            let article = fixture::complete().job_id(&format!("job_{job}"));
            sample::deliver(&Inbox::new(store.clone()), article).await;
        }
        if let Some(lease) = lease {
            let claim = store.claim(Claim { lease, ..CLAIM_ONE }).await.unwrap();
            assert_eq!(claim.claimed.len(), 1);
        }
        store.close().await.unwrap();
        let before = run(&file);

        let inbox = Inbox::open(&file).await.unwrap();
        let worker = inbox.worker(async |_| Ok(())).on_failure(async |_| Ok(()));
        worker.run_until_idle().await.unwrap();
        inbox.close().await.unwrap();
        let after = run(&file);
        for finding in [NO_WORKER, SLOW, FAILURES] {
            let [code, severity, fix] = finding;
            match expected.contains(&finding) {
                true => before.is_cured(code, severity, fix, &after),
                false => before.has(code, "none"),
            }
        }
    }
}

#[tokio::test]
async fn a_lock_that_is_held_is_found() {
    let (_folder, file) = sample::inbox().await;
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked = run(&file);
    drop(other);
    locked.is_cured(
        "inbox.refused",
        "fail",
        "look into the log of the receiver; close other programs that write to the inbox; make room on the disk",
        &run(&file),
    );
}
