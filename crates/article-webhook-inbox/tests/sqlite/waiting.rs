//! A store that waits for the end of another process. The other process is a lock, which belongs to the file that was opened.
//! The proof with processes that are killed is in the tests of the tool, `taking_over`.

use std::{fs::File, future::pending, time::Duration};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{
    Failed, Inbox, Job, JobFilter, SqliteSettings, SqliteStore, State,
    store::{Outcome, Store},
};

use super::{Fixture, claimed, record, within};

/// Locks the file, as another process does.
fn other_process(fixture: &Fixture) -> File {
    let lock = File::options().create(true).append(true).open(fixture.beside("-lock")).unwrap();
    lock.lock().unwrap();
    lock
}

fn waiting(fixture: &Fixture, wait: Duration) -> SqliteStore {
    let settings = SqliteSettings::default().clock(fixture.clock.clone()).wait_for_lock(wait);
    SqliteStore::open_with(&fixture.path, settings).unwrap()
}

async fn accept(inbox: &Inbox, job_id: &str) -> Reply {
    inbox.accept(fixture::complete().job_id(job_id).delivery().unwrap()).await
}

async fn publish(_: Job) -> Result<(), Failed> {
    Ok(())
}

#[tokio::test]
async fn deliveries_are_refused_until_the_other_process_has_ended_and_their_jobs_are_known() {
    let fixture = Fixture::new();
    record(&fixture.open(), 0..1).await;
    let other = other_process(&fixture);
    let inbox = Inbox::new(waiting(&fixture, Duration::MAX));
    let worker = tokio::spawn(inbox.worker(publish).run(pending::<()>()));
    let why = format!(
        "another process uses {}: this one opens it once that process has ended",
        fixture.shown()
    );
    let not_ready = inbox.ready().await.unwrap_err();
    assert!(not_ready.is_transient());
    assert_eq!(not_ready.to_string(), why);
    assert_eq!(accept(&inbox, "job_1").await, Reply::Unavailable);
    let health = inbox.health().await;
    assert_eq!((health.store.unwrap_err().to_string(), health.expected_held), (why, 1));

    other.unlock().unwrap();
    inbox.opened().await.unwrap();
    assert_eq!(accept(&inbox, "job_2").await, Reply::Stored);
    within(20, async || inbox.ready().await.is_ok()).await;
    within(20, async || inbox.health().await.expected_held == 0).await;
    let jobs = inbox.jobs(JobFilter::default()).await.unwrap().items;
    let jobs: Vec<_> = jobs.iter().map(|job| job.job_id.as_str()).collect();
    assert_eq!(jobs, ["job_1"]);
    // That of the other process, whose body is no article, and the new one.
    let left = async || inbox.counts().await.unwrap().of(State::Waiting);
    within(20, async || left().await == 0).await;
    assert!(!worker.is_finished());
    worker.abort();
}

#[tokio::test]
async fn a_wait_that_is_over_is_the_error_of_every_call() {
    let fixture = Fixture::new();
    let _other = other_process(&fixture);
    let refused = SqliteStore::open(&fixture.path).unwrap_err().to_string();
    assert!(refused.contains("`SqliteSettings::wait_for_lock`"), "{refused}");

    let inbox = Inbox::new(waiting(&fixture, Duration::from_millis(1)));
    let error = inbox.opened().await.unwrap_err();
    assert!(!error.is_transient());
    assert_eq!(error.to_string(), refused);
    assert_eq!(accept(&inbox, "job_1").await, Reply::Unavailable);
    for error in [
        inbox.counts().await.map(drop).unwrap_err(),
        inbox.worker(publish).run(pending::<()>()).await.unwrap_err(),
        inbox.close().await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), refused);
    }
}

#[tokio::test]
async fn a_store_that_is_closed_or_dropped_while_it_waits_leaves_the_file_to_others() {
    let fixture = Fixture::new();
    let other = other_process(&fixture);
    let closed = waiting(&fixture, Duration::MAX);
    drop(waiting(&fixture, Duration::MAX));
    closed.close().await.unwrap();
    for error in [
        closed.opened().await.unwrap_err(),
        closed.probe().await.unwrap_err(),
        closed.close().await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "the inbox is closed");
    }
    other.unlock().unwrap();
    let store = fixture.open();
    record(&store, 0..1).await;
    let lease = claimed(&store).await.lease;
    store.settle(lease, Outcome::Done).await.unwrap();
}
