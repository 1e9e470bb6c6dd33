//! Export and import of the ledger.

use std::io::Cursor;
use std::time::Duration;

use article_webhook::{Reply, fixture};
use article_webhook_inbox::{
    EntryKey, ExpectedJob, Intent, JobFilter, JobState, Reason,
    store::{BucketEvent, BucketSettings, Expect, Intended, PollClaim, PollOutcome, Store},
};
use article_webhook_inbox_contract::answer;

use super::scene::{HOUR, Scene, exported, key};

const MINUTE: Duration = Duration::from_secs(60);
const BUCKET: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 7 };

async fn ledger(scene: &Scene) -> (Vec<ExpectedJob>, Vec<Intent>) {
    let filter = JobFilter { limit: 1000, ..JobFilter::default() };
    let mut jobs = scene.store.jobs(filter).await.unwrap().items;
    let mut intents = scene.store.intents(None, 0, 1000).await.unwrap().items;
    // The ids are those of this store.
    jobs.iter_mut().for_each(|job| job.id = 0);
    intents.iter_mut().for_each(|intent| intent.id = 0);
    jobs.sort_by(|a, b| a.job_id.as_str().cmp(b.job_id.as_str()));
    (jobs, intents)
}

/// The entries that are not here although their jobs have ended with them.
async fn missing(scene: &Scene) -> Vec<EntryKey> {
    let mut missing = Vec::new();
    for job in ledger(scene).await.0 {
        let key = match job.state {
            JobState::Arrived | JobState::Collected => EntryKey::article(job.job_id),
            JobState::Failed => EntryKey::failure(job.job_id),
            _ => continue,
        };
        if scene.inbox.show(key.clone()).await.unwrap().is_none() {
            missing.push(key);
        }
    }
    missing
}

/// Jobs in several states, an intent in each, a paused bucket, and an article that came.
async fn shop() -> Scene {
    let scene = Scene::new();
    let store = &scene.store;
    let first = store.now() + HOUR;
    for post in ["post-1", "post-2", "post-3"] {
        assert!(matches!(
            store.intend(post, MINUTE, BUCKET.key, None).await.unwrap(),
            Intended::Begun(_)
        ));
    }
    store.ordered("post-1", "job_1".parse().unwrap(), first, BUCKET.key).await.unwrap();
    let reason = Reason::Refused { code: "too_large".into() };
    let refused = Expect { reason, ..Expect::job("job_2".parse().unwrap(), first) };
    let due = |id: &str| Expect::job(id.parse().unwrap(), store.now());
    store.expect(vec![refused, due("job_3"), due("job_4")]).await.unwrap();
    let claim = PollClaim { limit: 1, lease: HOUR, bucket: BUCKET };
    let lease = store.claim_polls(claim).await.unwrap().polls[0].lease;
    let missing = PollOutcome::Missing { after: HOUR, cause: "job_not_found".into() };
    store.settle_poll(lease, missing, BUCKET.key).await.unwrap();
    let lease = store.claim_polls(claim).await.unwrap().polls[0].lease;
    let failed = PollOutcome::Failed { answer: answer("{}"), cause: "generation_failed".into() };
    store.settle_poll(lease, failed, BUCKET.key).await.unwrap();
    scene.deliver("job_1").await;
    scene.clock.advance(2 * MINUTE);
    store.abandon("post-3").await.unwrap();
    store.report(BucketEvent::RateLimited { retry_after: MINUTE }).await.unwrap();
    store.report(BucketEvent::Unavailable { retry_after: HOUR }).await.unwrap();
    store.report(BucketEvent::KeyRefused { key: BUCKET.key }).await.unwrap();
    scene
}

/// The place to which a scene moves has its time.
fn elsewhere() -> Scene {
    let to = Scene::new();
    to.clock.advance(2 * MINUTE);
    to
}

#[tokio::test]
async fn a_ledger_is_imported_as_it_was() {
    let (from, to) = (shop().await, elsewhere());
    let lines = exported(&from.inbox).await;
    let first = to.inbox.import(Cursor::new(&lines)).await.unwrap();
    assert_eq!((first.added, first.present), (2, 0));
    assert_eq!((first.ledger_added, first.ledger_present), (7, 0));
    assert_eq!(ledger(&to).await, ledger(&from).await);
    let failure = EntryKey::failure("job_4".parse().unwrap());
    assert!(to.inbox.show(failure).await.unwrap().is_some());
    let (here, there) = (to.store.bucket().await.unwrap(), from.store.bucket().await.unwrap());
    assert_eq!(here, there);
    assert!(here.pause.is_some() && here.key_refused_at.is_some());

    let again = to.inbox.import(Cursor::new(&lines)).await.unwrap();
    assert_eq!((again.added, again.ledger_added, again.ledger_present), (0, 0, 7));
    assert_eq!(ledger(&to).await, ledger(&from).await);
    assert_eq!(to.store.bucket().await.unwrap(), here);
    assert_eq!(exported(&to.inbox).await, lines);
}

/// Wherever it ends, the rest is imported by the next, and no job is taken for arrived whose article is not here.
#[tokio::test]
async fn a_part_of_an_export_is_imported_and_then_the_rest() {
    let from = shop().await;
    let whole = exported(&from.inbox).await;
    for end in 0..whole.lines().count() {
        let first: String = whole.split_inclusive('\n').take(end).collect();
        let to = elsewhere();
        to.inbox.import_partial(first.as_bytes()).await.unwrap();
        assert_eq!(missing(&to).await, [], "after {end} lines");
        to.inbox.import(Cursor::new(&whole)).await.unwrap();
        assert_eq!(ledger(&to).await, ledger(&from).await, "after {end} lines");

        let to = elsewhere();
        to.inbox.import_partial(first.as_bytes()).await.unwrap();
        let is_here = to.inbox.show(key("job_1")).await.unwrap().is_some();
        let reply = to.accept(&fixture::complete().job_id("job_1")).await;
        let expected = if is_here { Reply::Duplicate } else { Reply::Stored };
        assert_eq!(reply, expected, "after {end} lines");
    }
}

#[tokio::test]
async fn a_ledger_of_several_pages_is_exported_whole() {
    let (from, to) = (Scene::new(), Scene::new());
    let job = |number: u32| format!("job_{number}").parse().unwrap();
    let jobs = (0..250).map(|number| Expect::job(job(number), from.store.now()));
    from.store.expect(jobs.collect()).await.unwrap();
    for number in 0..250 {
        from.store.intend(&format!("post-{number}"), MINUTE, BUCKET.key, None).await.unwrap();
    }
    let imported = to.inbox.import(Cursor::new(exported(&from.inbox).await)).await.unwrap();
    assert_eq!(imported.ledger_added, 500);
}

#[tokio::test]
async fn a_line_of_the_ledger_that_is_none_is_refused() {
    for (line, error) in [
        (r#"{"kind": "secret canary"}"#, "line of an export: its kind is not known"),
        (
            r#"{"kind":"intent","name":"secret canary","state":"ordered","created_at":0,"at":0,"calls":1}"#,
            "intent: name: an intent is 1 to 64 ASCII letters, digits, `-` or `_`",
        ),
        (
            r#"{"kind":"intent","name":"post-1","state":"secret canary","created_at":0,"at":0}"#,
            "intent: not a state of an intent before column 56",
        ),
        (
            r#"{"kind":"job","job_id":"job_1","state":"expected","reason":"secret canary","expected_at":0,"at":0,"polls":0}"#,
            "job: not a reason to expect a job before column 108",
        ),
    ] {
        let scene = Scene::new();
        let refused = scene.inbox.import(Cursor::new(format!("{line}\n"))).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("line 1 is no {error}"));
        assert!(ledger(&scene).await.0.is_empty());
    }
}

/// An import would not know that orders may be missing, and would order them again.
#[tokio::test]
async fn a_ledger_with_gaps_is_exported_once_its_orders_are_checked() {
    let from = shop().await;
    from.store.note_gaps().await.unwrap();
    let mut written = Vec::new();
    let error = from.inbox.export(&mut written).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "orders may be missing in the ledger, and an import would not know it: compare the orders with the jobs of the service, run \
         `article-webhook inbox orders-checked`, and export again"
    );
    assert_eq!(written, b"");
    assert!(from.inbox.orders_checked().await.unwrap());
    let to = elsewhere();
    to.inbox.import(Cursor::new(exported(&from.inbox).await)).await.unwrap();
    assert_eq!(ledger(&to).await, ledger(&from).await);
}
