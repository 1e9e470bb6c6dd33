//! What the log says about a worker, and about the handlers that it cannot end.

use std::{
    future::pending,
    sync::{Arc, mpsc},
    time::{Duration, SystemTime},
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{
    Clock, Digest, EntryKey, Failed, Inbox, Job, MAX_BODIES_PER_ENTRY, MemoryStore,
    store::{Arrival, Claim, Store},
};
use article_webhook_inbox_contract::{CLAIM_ONE, arrival, job};

use crate::observe::{log, observe};

const SECOND: Duration = Duration::from_secs(1);

async fn deliver(inbox: &Inbox, job: &str) {
    let delivery = fixture::complete().job_id(job).delivery().unwrap();
    assert_eq!(inbox.accept(delivery).await, Reply::Stored);
}

/// The lines about this text.
fn logged(text: &str) -> Vec<String> {
    log().lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
}

/// The one line about this text, in which all the others are.
fn logged_once(text: &str, others: &[&str]) {
    let lines = logged(text);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    others.iter().for_each(|other| assert!(lines[0].contains(other), "{other} in {}", lines[0]));
}

/// The line is repeated while it lasts, but not at each look.
#[tokio::test]
async fn too_many_stuck_handlers_are_an_error_that_names_them() {
    observe();
    let inbox = Inbox::memory();
    // A zero-width space turns an id around on a terminal.
    let jobs =
        ["stuck_\u{200b}0", "stuck_1", "stuck_2", "stuck_3", "stuck_4", "stuck_5", "stuck_6"];
    for job in jobs {
        deliver(&inbox, job).await;
    }
    let (end, never) = mpsc::channel::<()>();
    let never = Arc::new(std::sync::Mutex::new(never));
    let worker = inbox.worker(move |_: Job| {
        let never = Arc::clone(&never);
        async move {
            let _ = never.lock().map(|never| never.recv()); // blocks its thread
            Ok::<(), Failed>(())
        }
    });
    let worker =
        worker.concurrency(7).attempts(2).handler_timeout(Duration::ZERO).stuck_handlers(7);
    let logged_it = async {
        for _ in 0..500 {
            tokio::time::sleep(SECOND / 100).await;
            if !logged("no entry is claimed, because").is_empty() {
                break;
            }
        }
        tokio::time::sleep(2 * SECOND).await;
    };
    worker.backoff(Duration::ZERO, Duration::ZERO).run(logged_it).await.unwrap();
    drop(end);

    let lines = logged("no entry is claimed, because");
    // It may also come just before and after a full minute.
    assert!((1..=2).contains(&lines.len()), "{lines:#?}");
    assert!(lines[0].contains("ERROR article_webhook_inbox: "), "{}", lines[0]);
    assert!(lines[0].contains("handlers=7"), "{}", lines[0]);
    let named = r"jobs=stuck_\u{200b}0 stuck_1 stuck_2 stuck_3 stuck_4";
    assert!(lines[0].ends_with(named), "{}", lines[0]);
    for job in &jobs[1..] {
        let given_up = logged("its handler goes on");
        assert!(given_up.iter().any(|line| line.contains(&format!("job_id={job:?} "))), "{job}");
    }
}

#[tokio::test]
async fn a_worker_that_ends_with_an_error_or_is_dropped_says_so() {
    observe();
    let inbox = Inbox::memory();
    let worker = || inbox.worker(|_: Job| async { Ok::<(), Failed>(()) });
    worker().lease(Duration::ZERO).run(pending::<()>()).await.unwrap_err();
    let line = "ERROR article_webhook_inbox: the worker has ended, and articles wait until another runs: \
                worker: lease: expected at least 100ms, found 0ns";
    assert_eq!(logged(line).len(), 1, "{:#?}", logged("the worker"));

    let line = "WARN article_webhook_inbox: the worker was dropped before a stop was requested";
    let before = logged(line).len();
    assert!(tokio::time::timeout(Duration::ZERO, worker().run(pending::<()>())).await.is_err());
    assert_eq!(logged(line).len(), before + 1);
}

#[tokio::test]
async fn an_entry_that_runs_alone_or_is_put_off_is_logged() {
    observe();
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let store = MemoryStore::new(clock.clone());
    let delivery = fixture::complete().job_id("job_alone").delivery().unwrap();
    store.record(Arrival::from(&delivery)).await.unwrap();
    for _ in 0..2 {
        let claim = Claim { lease: SECOND, ..CLAIM_ONE };
        assert_eq!(store.claim(claim).await.unwrap().claimed.len(), 1);
        clock.advance(SECOND);
    }
    let inbox = Inbox::new(store);
    let worker = inbox.worker(|_: Job| async { Err(Failed::snooze(SECOND)) });
    let alone = || logged(r#"job_id="job_alone" "#);
    let put_off = async {
        while !alone().iter().any(|line| line.contains("entry is postponed")) {
            tokio::task::yield_now().await;
        }
    };
    worker.run(put_off).await.unwrap();
    for text in ["entry runs alone", "entry is postponed"] {
        let lines = alone().into_iter().filter(|line| line.contains(text)).collect::<Vec<_>>();
        assert_eq!(lines.len(), 1, "{text}: {lines:#?}");
        assert!(lines[0].contains("INFO article_webhook_inbox: "), "{}", lines[0]);
    }
}

#[tokio::test]
async fn a_body_that_is_acknowledged_and_not_kept_is_logged_with_its_digest() {
    observe();
    let inbox = Inbox::memory();
    let post = |number: usize| fixture::complete().job_id("job_changes").field("number", number);
    for number in 0..MAX_BODIES_PER_ENTRY {
        inbox.accept(post(number).delivery().unwrap()).await;
    }
    inbox.worker(|_: Job| async { Ok::<(), Failed>(()) }).run_until_idle().await.unwrap();
    let fifth = post(MAX_BODIES_PER_ENTRY);
    assert_eq!(inbox.accept(fifth.delivery().unwrap()).await, Reply::Duplicate);
    let lines = logged("acknowledged but not kept");
    let line = lines.iter().find(|line| line.contains("job_changes")).unwrap();
    assert!(line.contains(" WARN article_webhook_inbox: "), "{line}");
    assert!(line.contains(&format!("digest={}", Digest::of(fifth.bytes()))), "{line}");
}

/// Once, however often a worker that has no handler for it claims. What the service reported is not in the log.
#[tokio::test]
async fn a_failure_that_no_worker_handles_is_logged_once() {
    observe();
    let store = MemoryStore::default();
    let report = r#"{"error":"generation_failed","message":"failed-for-nobody"}"#;
    let key = EntryKey::failure(job("job_failed"));
    store.record(Arrival { key, ..arrival("job_failed", report) }).await.unwrap();
    let inbox = Inbox::new(store);
    for _ in 0..2 {
        inbox.worker(|_: Job| async { Ok(()) }).run_until_idle().await.unwrap();
    }
    let advice = "no worker handles failures: add `Worker::on_failure`";
    logged_once("jobs have failed", &[" WARN article_webhook_inbox: ", advice]);

    let reported = |_| async { Ok(()) };
    inbox.worker(|_: Job| async { Ok(()) }).on_failure(reported).run_until_idle().await.unwrap();
    assert!(logged(r#"job_id="job_failed""#).iter().any(|line| line.contains("entry is done")));
    assert!(!log().contains("failed-for-nobody"));
}

/// Once a minute, and not while claims are paused or another process works.
#[tokio::test(start_paused = true)]
async fn a_receiver_whose_entries_no_worker_claims_says_so() {
    observe();
    let (clock, minute) = (Clock::stepped(SystemTime::UNIX_EPOCH), 60 * SECOND);
    let inbox = Inbox::new(MemoryStore::new(clock.clone()));
    let warned = async |after| {
        clock.advance(after);
        tokio::time::sleep(minute).await;
        // The look may come just after this.
        tokio::time::sleep(SECOND).await;
        logged("no worker has claimed the oldest due entry")
    };
    deliver(&inbox, "job_1").await;
    deliver(&inbox, "job_2").await;
    assert!(warned(minute - SECOND).await.is_empty(), "it is not due for long");
    inbox.pause("ops@db1").await.unwrap();
    assert!(warned(SECOND).await.is_empty(), "claims are paused");
    inbox.resume().await.unwrap();
    let claim = Claim { lease: minute, ..CLAIM_ONE };
    assert_eq!(inbox.ledger().claim(claim).await.unwrap().claimed.len(), 1);
    assert!(warned(SECOND).await.is_empty(), "another process works");
    let lines = warned(minute).await;
    let line = "WARN article_webhook_inbox: no worker has claimed the oldest due entry for 121 s: \
                run `inbox.worker(..)` in one of the processes that share the inbox";
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains(line), "{}", lines[0]);

    inbox.worker(|_: Job| async { Ok(()) }).run_until_idle().await.unwrap();
    assert_eq!(warned(minute).await.len(), 1, "nothing is due any more");
}

/// However many workers there are, and whoever paused them.
#[tokio::test(start_paused = true)]
async fn a_pause_and_its_end_are_logged_once_each() {
    observe();
    let inbox = Inbox::memory();
    inbox.pause("ops@db1").await.unwrap();
    let logs = async |text| {
        while logged(text).is_empty() {
            tokio::time::sleep(SECOND).await;
        }
        tokio::time::sleep(60 * SECOND).await;
        logged(text)
    };
    let (begun, ended) = ("has paused claims", "the pause of claims has ended");
    let operate = async {
        let lines = logs(begun).await;
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(
            lines[0].contains("paused_for=") && lines[0].contains("by=\"ops@db1\""),
            "{}",
            lines[0]
        );
        inbox.resume().await.unwrap();
        assert_eq!(logs(ended).await.len(), 1);
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let run = || {
        let mut stopped = stopped.clone();
        inbox.worker(|_: Job| async { Ok(()) }).run(async move { _ = stopped.changed().await })
    };
    let operate = async {
        operate.await;
        stop.send_replace(true);
    };
    let (_, one, other) = tokio::join!(operate, run(), run());
    assert!(one.is_ok() && other.is_ok());
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_start_names_the_file_and_the_version_of_its_tables() {
    observe();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("started.db");
    let inbox = Inbox::open(&file).await.unwrap();
    inbox.close().await.unwrap();
    let says = "INFO article_webhook_inbox: the inbox in ";
    logged_once("started.db is open", &[says, "started.db is open schema_version=1"]);
}
