//! Jobs whose deliveries could not be stored are known after the next start, and a tool sees why they could not.
#![cfg(unix)]

use std::fs;

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Inbox, JobFilter, SqliteStore, store::Store};

use super::{Fixture, copy, within};

const JOBS: u32 = 300;

/// The ids of the jobs that are expected.
async fn expected(inbox: &Inbox) -> Vec<String> {
    let filter = JobFilter { limit: 1000, ..JobFilter::default() };
    let jobs = inbox.jobs(filter).await.unwrap().items;
    jobs.iter().map(|job| job.job_id.to_string()).collect()
}

fn all() -> Vec<String> {
    (0..JOBS).map(|job| format!("job_{job}")).collect()
}

/// An inbox whose file was moved away, and to which deliveries were made meanwhile.
async fn in_an_outage(fixture: &Fixture) -> Inbox {
    let inbox = Inbox::new(fixture.open());
    fs::rename(&fixture.path, fixture.beside("-away")).unwrap();
    for job in all() {
        let delivery = fixture::complete().job_id(&job).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Unavailable);
    }
    inbox
}

#[tokio::test]
async fn after_an_outage_the_jobs_are_known_to_the_next_start_also_after_a_kill() {
    let fixture = Fixture::new();
    let inbox = in_an_outage(&fixture).await;
    let killed = Fixture { clock: fixture.clock.clone(), ..Fixture::new() };
    for (from, to) in [("-away", ""), ("-wal", "-wal"), ("-lock", "-lock")] {
        copy(&fixture.beside(from), &killed.beside(to));
    }
    inbox.close().await.unwrap();
    drop(inbox);
    fs::rename(fixture.beside("-away"), &fixture.path).unwrap();

    for fixture in [fixture, killed] {
        let inbox = Inbox::new(fixture.open());
        within(20, async || expected(&inbox).await.len() == JOBS as usize).await;
        assert_eq!(expected(&inbox).await, all());
        within(20, async || inbox.health().await.expected_held == 0).await;
        let lock = fs::read(fixture.beside("-lock")).unwrap();
        assert!(
            !lock.windows(4).any(|bytes| bytes == b"job_"),
            "the lock file keeps them no longer"
        );
    }
}

#[tokio::test]
async fn a_job_that_is_erased_is_not_kept() {
    let fixture = Fixture::new();
    let inbox = in_an_outage(&fixture).await;
    let kept = || {
        let lock = fs::read(fixture.beside("-lock")).unwrap();
        lock.windows(8).any(|bytes| bytes == b"job_299\"")
    };
    assert!(kept());
    inbox.erase("job_299".parse().unwrap()).await.unwrap_err();
    assert!(!kept());
}

#[tokio::test]
async fn a_tool_sees_why_the_receiver_stores_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let tool = SqliteStore::open_shared(&fixture.path).unwrap();
    let seen = async || tool.health().await.unwrap().blocked.map(|why| why.to_string());
    assert_eq!(seen().await, None);
    fs::rename(fixture.beside("-lock"), fixture.beside("-lock-away")).unwrap();
    let why = store.probe().await.unwrap_err().to_string();
    assert_eq!(seen().await, None, "the note is not at its fixture");
    fs::rename(fixture.beside("-lock-away"), fixture.beside("-lock")).unwrap();
    let reason = Some(format!("the receiver cannot commit: {why}"));
    assert_eq!(seen().await, reason);
    store.probe().await.unwrap();
    assert_eq!(seen().await, None);

    fs::rename(fixture.beside("-lock"), fixture.beside("-lock-away")).unwrap();
    store.probe().await.unwrap_err();
    fs::rename(fixture.beside("-lock-away"), fixture.beside("-lock")).unwrap();
    assert_eq!(seen().await, reason);
    store.close().await.unwrap();
    assert_eq!(seen().await, None, "it says nothing of the next receiver");
}
