//! Scripts that give the metrics something to count.

use std::{
    future::{pending, ready},
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::{
    Reply, Sink,
    fixture::{self, Defect},
};
use article_webhook_inbox::{
    Clock, Filter, Inbox, JobFilter, MemoryStore, State,
    store::{BucketSettings, Expect, PollClaim, PollOutcome, Store},
};
use article_webhook_inbox_contract::answer;
use tokio::task::yield_now;

use crate::scene::Scene;

const SECOND: Duration = Duration::from_secs(1);

async fn deliver(inbox: &Inbox, job: &str) {
    assert_eq!(
        inbox.accept(fixture::complete().job_id(job).delivery().unwrap()).await,
        Reply::Stored
    );
}

async fn refuse(inbox: &Inbox, job: &str) {
    let post = fixture::complete().defect(Defect::TruncatedBody).header("X-Service-Job-Id", job);
    inbox.keep_refused(post.delivery().unwrap_err()).await;
}

async fn until(inbox: &Inbox, stands: &[(State, u64)]) {
    loop {
        let counts = inbox.counts().await.unwrap();
        if stands.iter().all(|(state, count)| counts.of(*state) == *count) {
            return;
        }
        yield_now().await;
    }
}

/// A body, the same again, three others, one too many, and two more after a worker has settled the entry; one that is
/// refused; one after the inbox was closed.
pub(crate) async fn deliveries() {
    let inbox = Inbox::memory();
    let body =
        |note: &str| fixture::complete().job_id("job_1").field("note", note).delivery().unwrap();
    for (note, reply) in [
        ("first", Reply::Stored),
        ("first", Reply::Duplicate),
        ("second", Reply::Duplicate),
        ("third", Reply::Duplicate),
        ("fourth", Reply::Duplicate),
        ("fifth", Reply::Retry),
    ] {
        assert_eq!(inbox.accept(body(note)).await, reply, "{note}");
    }
    inbox.worker(|_| ready(Ok(()))).run(until(&inbox, &[(State::Done, 1)])).await.unwrap();
    assert_eq!(inbox.accept(body("sixth")).await, Reply::Duplicate);
    refuse(&inbox, "job_2").await;
    inbox.close().await.unwrap();
    assert_eq!(inbox.accept(body("seventh")).await, Reply::Unavailable);
    let error = inbox.worker(|_| ready(Ok(()))).run(pending::<()>()).await.unwrap_err();
    assert_eq!(error.to_string(), "the inbox is closed");
}

/// Two orders that are delivered after an hour, the second one twice, and an article that was not ordered.
pub(crate) async fn orders() {
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let store = MemoryStore::new(clock.clone());
    let expect = |job: &str| Expect::job(job.parse().unwrap(), store.now());
    store.expect(vec![expect("job_1"), expect("job_2")]).await.unwrap();
    clock.advance(3600 * SECOND);
    let inbox = Inbox::new(store);
    for job in ["job_1", "job_2", "job_3"] {
        deliver(&inbox, job).await;
    }
    let again = fixture::complete().job_id("job_2");
    assert_eq!(inbox.accept(again.delivery().unwrap()).await, Reply::Duplicate);
}

/// One job per way in which an attempt can end, with two attempts each.
pub(crate) async fn attempts() {
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let (scene, store) = (Scene::new("metrics"), MemoryStore::new(clock.clone()));
    scene.before(&store, &clock).await;
    let inbox = Inbox::new(store);
    scene.deliver(&inbox).await;
    scene.work(&inbox).await;
}

/// An order of which the API gives only bodies that cannot be decoded, for 72 hours.
pub(crate) async fn unreadable() {
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let store = MemoryStore::new(clock.clone());
    let expect = Expect::job("job_1".parse().unwrap(), store.now());
    store.expect(vec![expect]).await.unwrap();
    let inbox = Inbox::new(store);
    let ledger = inbox.ledger();
    let bucket = BucketSettings { per_minute: 60, burst: 5, key: 1 };
    for body in ["[1]", "[2]"] {
        let claim = PollClaim { limit: 1, lease: SECOND, bucket };
        let lease = ledger.claim_polls(claim).await.unwrap().polls[0].lease;
        ledger.settle_poll(lease, PollOutcome::Answered(answer(body)), 1).await.unwrap();
        let worker = inbox.worker(|_| ready(Ok(())));
        worker.run(until(&inbox, &[(State::Unhandled, 1)])).await.unwrap();
        clock.advance(72 * 3600 * SECOND);
    }
}

/// A handler that runs into its time limit.
pub(crate) async fn time_limit() {
    let inbox = Inbox::memory();
    deliver(&inbox, "job_1").await;
    let worker = inbox.worker(|_| pending()).attempts(1).handler_timeout(Duration::ZERO);
    worker.run(until(&inbox, &[(State::Dead, 1)])).await.unwrap();
}

/// Done entries, a month later, and the ledger, a year later.
pub(crate) async fn retention() {
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let inbox = Inbox::new(MemoryStore::new(clock.clone()));
    deliver(&inbox, "job_1").await;
    deliver(&inbox, "job_2").await;
    let knows_jobs = async || !inbox.jobs(JobFilter::default()).await.unwrap().items.is_empty();
    refuse(&inbox, "job_1").await;
    while !knows_jobs().await {
        yield_now().await;
    }
    let worker = || inbox.worker(|_| ready(Ok(())));
    worker().run(until(&inbox, &[(State::Done, 2)])).await.unwrap();
    clock.advance(31 * 24 * 3600 * SECOND);
    let pruned = async {
        while inbox.counts().await.unwrap().total() > 0 {
            yield_now().await;
        }
    };
    worker().run(pruned).await.unwrap();
    clock.advance(365 * 24 * 3600 * SECOND);
    let pruned = async {
        while knows_jobs().await {
            yield_now().await;
        }
    };
    worker().run(pruned).await.unwrap();
}

/// An article that has been due for a minute and a half.
pub(crate) async fn health() {
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let inbox = Inbox::new(MemoryStore::new(clock.clone()));
    inbox.health().await;
    deliver(&inbox, "job_1").await;
    clock.advance(90 * SECOND);
    assert_eq!(inbox.health().await.overdue.unwrap(), Some(90 * SECOND));
    inbox.close().await.unwrap();
    assert!(inbox.health().await.overdue.is_err());
}

/// Three concurrent deliveries into a file.
pub(crate) async fn sqlite(folder: &Path) {
    let inbox = Inbox::open(folder.join("inbox.db")).await.unwrap();
    tokio::join!(deliver(&inbox, "job_1"), deliver(&inbox, "job_2"), deliver(&inbox, "job_3"));

    #[cfg(unix)]
    refused_without_the_file(&inbox, folder).await;
    inbox.close().await.unwrap();

    // One entry is damaged.
    let other = rusqlite::Connection::open(folder.join("inbox.db")).unwrap();
    other
        .execute("UPDATE article_inbox_entries SET document = '{}' WHERE job_id = 'job_1'", [])
        .unwrap();
    drop(other);
    let inbox = Inbox::open(folder.join("inbox.db")).await.unwrap();
    inbox.list(Filter::default()).await.unwrap();
}

/// A call whose commit is not answered, because the file is not at its path, and one that does not begin for that.
#[cfg(unix)]
async fn refused_without_the_file(inbox: &Inbox, folder: &Path) {
    let (path, away) = (folder.join("inbox.db"), folder.join("away.db"));
    std::fs::rename(&path, &away).unwrap();
    for _ in 0..2 {
        inbox.erase("job_4".parse().unwrap()).await.unwrap_err();
    }
    std::fs::rename(&away, &path).unwrap();
}
