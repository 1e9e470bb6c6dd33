//! What the log says about a worker, and about the handlers that it cannot end.

use std::{
    future::pending,
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
