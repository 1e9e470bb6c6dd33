//! Scripts that give the metrics something to count.

use std::{
    future::{pending, ready},
    panic::resume_unwind,
    path::Path,
    time::{Duration, SystemTime},
};

use article_webhook::{
    Delivery, Reply, Sink,
    fixture::{self, Defect, DeliveryRequest},
};
use article_webhook_inbox::{
    Clock, Digest, EntryKey, Failed, Filter, Inbox, Job, JobFilter, MemoryStore, Source, State,
    store::{ApiAnswer, Arrival, BucketSettings, Claim, Expect, PollClaim, PollOutcome, Store},
};
use article_webhook_inbox_contract::CLAIM_ONE;
use tokio::task::yield_now;

use crate::recorder::Recorder;

const SECOND: Duration = Duration::from_secs(1);

fn delivery(post: &DeliveryRequest) -> Delivery {
    fixture::receiver().open(post.headers()).unwrap().read(post.bytes().clone()).unwrap()
}

async fn deliver(inbox: &Inbox, job: &str) {
    assert_eq!(inbox.accept(delivery(&fixture::complete().job_id(job))).await, Reply::Stored);
}

async fn refuse(inbox: &Inbox, job: &str) {
    let post = fixture::complete().defect(Defect::TruncatedBody).header("X-Service-Job-Id", job);
    let opened = fixture::receiver().open(post.headers()).unwrap();
    inbox.keep_refused(opened.read(post.bytes().clone()).unwrap_err()).await;
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
    let body = |note: &str| delivery(&fixture::complete().job_id("job_1").field("note", note));
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
    let again = delivery(&fixture::complete().job_id("job_2"));
    assert_eq!(inbox.accept(again).await, Reply::Duplicate);
}

/// One job per way in which an attempt can end, with two attempts each.
pub(crate) async fn attempts(recorder: &Recorder) {
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let store = MemoryStore::new(clock.clone());
    let article = fixture::complete();
    let arrival = |job: &str, digest| Arrival {
        key: EntryKey::article(job.parse().unwrap()),
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest,
        bytes: article.bytes().clone(),
    };
    // The process was killed in both attempts, and in the one after them.
    store.record(arrival("killed", Digest::of(article.bytes()))).await.unwrap();
    for _ in 0..3 {
        let claims = store.claim(Claim { lease: SECOND, attempts: 2, ..CLAIM_ONE }).await.unwrap();
        assert_eq!(claims.claimed.len(), 1);
        clock.advance(SECOND);
    }
    store.record(arrival("damaged", Digest::of(b"another"))).await.unwrap();

    let inbox = Inbox::new(store);
    for job in
        ["succeeds", "fails_once", "is_put_off", "gives_up", "panics", "is_erased", "never_ends"]
    {
        deliver(&inbox, job).await;
    }
    let undecodable = fixture::complete().defect(Defect::NoArticle);
    assert_eq!(inbox.accept(delivery(&undecodable)).await, Reply::Stored);

    let own = inbox.clone();
    let handler = move |job: Job| {
        let inbox = own.clone();
        async move {
            match (job.job_id().as_str(), job.attempt()) {
                ("fails_once", 1) => Err(Failed::from("no")),
                ("is_put_off", _) => Err(Failed::snooze(SECOND)),
                ("gives_up", _) => Err(Failed::dead("never")),
                ("panics", _) => resume_unwind(Box::new("oh")),
                ("is_erased", _) => {
                    inbox.erase(job.job_id().clone()).await.map(|_| ()).map_err(Failed::from)
                }
                ("never_ends", _) => pending().await,
                _ => Ok(()),
            }
        }
    };
    let all_have_ended = async {
        let ends = [
            (State::Done, 2),
            (State::Dead, 3),
            (State::Unhandled, 1),
            (State::Corrupt, 1),
            (State::Waiting, 1),
            (State::Leased, 1),
        ];
        until(&inbox, &ends).await;
        while recorder.count("article_inbox_lost_leases_total", "") == 0.0 {
            yield_now().await;
        }
    };
    let worker =
        inbox.worker(handler).concurrency(10).attempts(2).backoff(Duration::ZERO, Duration::ZERO);
    worker.shutdown_grace(Duration::ZERO).run(all_have_ended).await.unwrap();
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
        let digest = Digest::of(body.as_bytes());
        let answer = ApiAnswer { target: "api".into(), digest, bytes: body.into() };
        ledger.settle_poll(lease, PollOutcome::Answered(answer), 1).await.unwrap();
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
