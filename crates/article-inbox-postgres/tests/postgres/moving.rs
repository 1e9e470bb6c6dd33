//! An inbox and its ledger move from a file into the database, and back.

use std::time::Duration;

use article_inbox::{
    Digest, EntryKey, ExpectedJob, Inbox, Intent, JobFilter, Reason, SqliteStore,
    store::{
        Answer, AskClaim, AskOutcome, BucketEvent, BucketSettings, Expect, Intended, Ledger, Store,
    },
};
use article_inbox_postgres::PostgresStore;
use article_webhook::{Reply, Sink, fixture::DeliveryRequest};

use crate::{fresh, scene::wait, server::shared_url};

const HOUR: Duration = Duration::from_secs(3600);
const BUCKET: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 7 };

/// Entries in several states, jobs and intents in several states, and a bucket that pauses.
async fn fill(store: &SqliteStore, inbox: &Inbox) {
    let soon = store.now() + HOUR;
    let moment = Duration::from_millis(1);
    for (post, within) in [("post-1", HOUR), ("post-2", HOUR), ("post-3", moment)] {
        assert!(matches!(store.intend(post, within, BUCKET).await.unwrap(), Intended::Begun(_)));
    }
    tokio::time::sleep(moment * 5).await;
    assert!(store.abandon("post-3").await.unwrap());
    store.ordered("post-1", "job_1".parse().unwrap(), soon, BUCKET.key).await.unwrap();
    for job in ["job_1", "job_2", "job_3"] {
        let delivery = DeliveryRequest::complete().job_id(job).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    }
    let key = EntryKey::article("job_2".parse().unwrap());
    assert!(inbox.bury(key, "not wanted").await.unwrap());

    let reason = Reason::Refused { code: "too_large".into() };
    let refused = Expect { reason, ..Expect::job("job_4".parse().unwrap(), soon) };
    let due = |id: &str| Expect::job(id.parse().unwrap(), store.now());
    store.expect(vec![refused, due("job_5"), due("job_6")]).await.unwrap();
    let answer = Answer { target: "api".into(), digest: Digest::of(b"{}"), bytes: "{}".into() };
    let outcomes = [
        AskOutcome::Missing { after: HOUR, cause: "job_not_found".into() },
        AskOutcome::Failed { answer, cause: "generation_failed".into() },
    ];
    for outcome in outcomes {
        let claim = AskClaim { limit: 1, lease: HOUR, bucket: BUCKET };
        let lease = store.claim_asks(claim).await.unwrap().asks[0].lease;
        store.settle_ask(lease, outcome, BUCKET.key).await.unwrap();
    }
    store.report(BucketEvent::RateLimited { retry_after: Duration::from_secs(60) }).await.unwrap();
    store.report(BucketEvent::Unavailable { retry_after: HOUR }).await.unwrap();
    store.report(BucketEvent::KeyRefused { key: BUCKET.key }).await.unwrap();
}

/// The lines of an export without the bucket, which fills as time passes.
fn without_bucket(lines: &str) -> Vec<&str> {
    lines.lines().filter(|line| !line.contains(r#""kind":"bucket""#)).collect()
}

async fn exported(inbox: &Inbox) -> String {
    let mut lines = Vec::new();
    inbox.export(&mut lines).await.unwrap();
    String::from_utf8(lines).unwrap()
}

async fn ledger(store: &impl Ledger) -> (Vec<ExpectedJob>, Vec<Intent>) {
    let filter = JobFilter { limit: 1000, ..JobFilter::default() };
    let jobs = store.jobs(filter).await.unwrap().items.into_iter();
    let intents = store.intents(None, 0, 1000).await.unwrap().items.into_iter();
    // An id has no meaning elsewhere.
    let mut jobs: Vec<_> = jobs.map(|job| ExpectedJob { id: 0, ..job }).collect();
    jobs.sort_by(|a, b| a.job_id.as_str().cmp(b.job_id.as_str()));
    (jobs, intents.map(|intent| Intent { id: 0, ..intent }).collect())
}

#[test]
fn an_inbox_moves_with_its_ledger_from_a_file_into_the_database_and_back() {
    let Some(url) = shared_url() else { return };
    let settings = fresh(&url);
    wait(async move {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteStore::open(folder.path().join("inbox.db")).unwrap();
        let database = PostgresStore::connect(settings).await.unwrap();
        let back = SqliteStore::open(folder.path().join("back.db")).unwrap();
        let [from, there, again] =
            [Inbox::new(file.clone()), Inbox::new(database.clone()), Inbox::new(back.clone())];
        fill(&file, &from).await;

        let lines = exported(&from).await;
        let imported = there.import(lines.as_bytes()).await.unwrap();
        assert_eq!((imported.added, imported.present), (4, 0));
        assert_eq!(imported.ledger_added, 7, "four jobs and three intents");
        let moved = exported(&there).await;
        assert_eq!(without_bucket(&moved), without_bucket(&lines));
        assert_eq!(ledger(&database).await, ledger(&file).await);

        let imported = again.import(moved.as_bytes()).await.unwrap();
        assert_eq!((imported.added, imported.ledger_added), (4, 7));
        assert_eq!(without_bucket(&exported(&again).await), without_bucket(&lines));
        assert_eq!(ledger(&back).await, ledger(&file).await);
        let (here, there_too) = (file.bucket().await.unwrap(), back.bucket().await.unwrap());
        assert_eq!((here.share, here.limited), (there_too.share, there_too.limited));
        assert_eq!((&here.refused, here.refused_at), (&there_too.refused, there_too.refused_at));
        assert_eq!(here.refused.len(), 1);

        // The pause of the service and the refused key hold wherever it is.
        let intended = database.intend("post-9", HOUR, BUCKET).await.unwrap();
        assert!(matches!(intended, Intended::Paused(_)), "{intended:?}");
        let again = there.import(lines.as_bytes()).await.unwrap();
        assert_eq!((again.added, again.present, again.ledger_added), (0, 4, 0));
    });
}
