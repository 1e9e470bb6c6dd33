use std::{sync::Arc, time::Duration};

use article_webhook::{
    CapabilityKey, Reply, Sink as _,
    fixture::{self, Defect},
};
use article_webhook_inbox::{
    Digest, ExpectedJob, Filter, IntentState, JobFilter, JobState, MAX_BODIES_PER_ENTRY, Reason,
    Source, State, store::Store,
};
use article_webhook_inbox_contract::{arrival, faulty::Fault};
use tokio::{sync::Notify, time::advance};

use super::scene::{HOUR, Scene, key};

/// Waits until the inbox holds no job that is to be expected.
async fn until_stored(scene: &Scene) {
    for _ in 0..10_000 {
        if scene.inbox.health().await.expected_held == 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the jobs are not stored");
}

async fn jobs(scene: &Scene) -> Vec<String> {
    expected(scene).await.into_iter().map(|job| job.job_id.as_str().to_owned()).collect()
}

async fn expected(scene: &Scene) -> Vec<ExpectedJob> {
    scene.inbox.jobs(JobFilter { limit: 10_000, ..JobFilter::default() }).await.unwrap().items
}

/// Known jobs.
#[tokio::test]
async fn the_job_of_a_refused_delivery_is_expected() {
    let scene = Scene::new();
    scene.refuse("job_1");
    until_stored(&scene).await;
    let jobs = expected(&scene).await;
    let shown: Vec<_> = jobs.iter().map(|job| (job.job_id.as_str(), job.state, job.at)).collect();
    let polled = scene.clock.now() + Duration::from_secs(400);
    assert_eq!(shown, [("job_1", JobState::Expected, polled)], "after the last delivery");
    assert_eq!(jobs[0].reason, Reason::Refused { code: "unsupported_media_type".into() });
}

/// Nothing is thrown away: a body that came with the token and the id of its job is kept before the refusal is answered, with
/// its reason and the place. The job is expected.
#[tokio::test]
async fn the_body_of_a_refused_delivery_is_in_quarantine_until_a_good_copy_comes() {
    let cut = |job: &str| fixture::complete().job_id(job).defect(Defect::TruncatedBody);
    let scene = Scene::new();
    scene.keep(&cut("job_1")).await;
    let of_another = fixture::complete().job_id("job_2").field("job_id", "job_3");
    scene.keep(&of_another).await;
    for (job, post, cause, reason) in [
        ("job_1", cut("job_1"), "the body is malformed JSON: ", "malformed_json"),
        ("job_2", of_another, "the job ids of header and body differ", "job_id_mismatch"),
    ] {
        let (entry, bodies) = scene.inbox.show(key(job).quarantine()).await.unwrap().unwrap();
        assert_eq!((entry.state, bodies.len()), (State::Quarantined, 1));
        assert!(entry.cause.unwrap().starts_with(cause));
        assert_eq!(
            (bodies[0].bytes.as_ref(), bodies[0].source),
            (Some(post.bytes()), Source::Webhook)
        );
        let ledger = expected(&scene).await;
        let expected = ledger.iter().find(|expected| expected.job_id.as_str() == job).unwrap();
        assert_eq!(expected.reason, Reason::Refused { code: reason.into() });
        assert_eq!(expected.at, scene.clock.now() + Duration::from_secs(400));
    }
    scene.clock.advance(Duration::from_secs(1));
    scene.keep(&fixture::unicode().job_id("job_1").field("job_id", "job_3")).await;
    let (entry, bodies) = scene.inbox.show(key("job_1").quarantine()).await.unwrap().unwrap();
    assert_eq!((entry.conflicts, bodies.len()), (1, 2));
    assert_eq!((entry.since, entry.failures.len()), (scene.clock.now(), 2));
    assert!(entry.cause.unwrap().starts_with("the job ids of header and body differ"));
    assert_eq!(scene.inbox.health().await.quarantined.unwrap(), 2);
    assert_eq!(scene.inbox.export_entries(Filter::default(), Vec::new()).await.unwrap(), 2);

    scene.deliver("job_1").await;
    scene.deliver("job_2").await;
    assert_eq!(scene.inbox.health().await.quarantined.unwrap(), 0);
    assert_eq!(scene.inbox.counts().await.unwrap().total(), 2, "and there is nothing of job_3");
}

/// It came to the URL of an order, and header and body name different jobs: neither is taken for the one that was ordered.
#[tokio::test]
async fn a_body_that_names_another_job_than_its_header_says_nothing_of_an_order() {
    let scene = Scene::new();
    scene.store.intend("post-17", HOUR, 1, None).await.unwrap();
    let urls = CapabilityKey::new(b"0123456789abcdef0123456789abcdef").unwrap();
    let now = scene.clock.now();
    let url = urls.mint("post-17", now + HOUR).unwrap();
    let post = fixture::complete().job_id("job_2").field("job_id", "job_3");
    let opened = fixture::receiver().open_capability(&urls, url.as_str(), now, post.headers());
    let refused = opened.unwrap().read(post.bytes().clone()).unwrap_err();
    scene.inbox.keep_refused(refused).await;
    let intent = scene.store.intent("post-17").await.unwrap().unwrap();
    assert_eq!((intent.state, intent.job_id), (IntentState::Ordering, None));
    let jobs = expected(&scene).await;
    let found: Vec<_> = jobs.iter().map(|job| (job.job_id.as_str(), &job.intent)).collect();
    assert_eq!(found, [("job_2", &None)], "it is expected all the same");
    assert_eq!(scene.inbox.health().await.quarantined.unwrap(), 1);
}

/// Known jobs: the answer stays the refusal, and the failure is in the health as that of any other delivery.
#[tokio::test]
async fn the_job_of_a_refused_body_that_could_not_be_kept_is_expected() {
    let scene = Scene::new();
    scene.store.fault("Quarantine", Fault::Fails(2));
    for job in ["job_1", "job_2"] {
        scene.keep(&fixture::complete().job_id(job).defect(Defect::TruncatedBody)).await;
    }
    assert!(scene.inbox.health().await.writable.is_err());
    until_stored(&scene).await;
    assert_eq!(jobs(&scene).await, ["job_1", "job_2"]);
    assert_eq!(scene.inbox.health().await.quarantined.unwrap(), 0);
}

/// A delivery that says that its job has failed is no article, also if it has one. It counts as the first of two answers: the
/// API is polled once more.
#[tokio::test]
async fn a_delivery_that_reports_a_failure_is_in_quarantine_and_the_api_decides() {
    let scene = Scene::new();
    let failures = [("job_1", "status", "Failed"), ("job_2", "error", "generation_failed")];
    for (job, field, says) in failures {
        let post = fixture::complete().job_id(job).field(field, says);
        let replies = [scene.accept(&post).await, scene.accept(&post).await];
        assert_eq!(replies, [Reply::Stored, Reply::Duplicate]);
        let (entry, bodies) = scene.inbox.show(key(job).quarantine()).await.unwrap().unwrap();
        let cause = format!("{field}: the service reports a failure, `{}`", says.to_lowercase());
        assert_eq!((entry.cause, bodies.len()), (Some(cause), 1));
        assert_eq!(scene.inbox.show(key(job)).await.unwrap(), None, "no worker gets it");
    }
    for (job, statement) in expected(&scene).await.iter().zip(["failed", "generation_failed"]) {
        assert_eq!((job.state, job.at), (JobState::Expected, scene.clock.now() + HOUR / 60));
        assert_eq!(job.unconfirmed, Some(Digest::of(statement.as_bytes())));
    }
    // Under another event it says nothing of the article.
    let other = fixture::complete().job_id("job_3").field("status", "failed");
    let other = other.header("X-Service-Event", "article.updated");
    assert_eq!(scene.accept(&other).await, Reply::Stored);
    assert_eq!(scene.inbox.health().await.quarantined.unwrap(), 2);

    scene.deliver("job_1").await;
    assert_eq!(scene.inbox.health().await.quarantined.unwrap(), 1, "the article came after all");
}

/// While it cannot be kept, it is not acknowledged.
#[tokio::test]
async fn a_failure_that_cannot_be_kept_is_not_acknowledged() {
    let scene = Scene::new();
    let post = fixture::complete().job_id("job_1").field("status", "failed");
    scene.store.fault("Quarantine", Fault::Fails(1));
    assert_eq!(scene.accept(&post).await, Reply::Unavailable);
    until_stored(&scene).await;
    assert_eq!(jobs(&scene).await, ["job_1"]);
    let full = scene.inbox.clone().quarantine_budget(0);
    assert_eq!(scene.accept(&post).await, Reply::Retry);
    drop(full.quarantine_budget(1 << 20));
    assert_eq!(scene.accept(&post).await, Reply::Stored);
}

/// What a refusal reports that no adapter waits for is kept as well.
#[tokio::test]
async fn the_body_of_a_refusal_that_is_only_reported_is_kept() {
    let scene = Scene::new();
    scene.hear(&fixture::complete().job_id("job_1").defect(Defect::TruncatedBody));
    until_stored(&scene).await;
    while scene.inbox.health().await.quarantined.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(jobs(&scene).await, ["job_1"]);
}

/// Known jobs: an outage that outlasts the attempts of the service leaves a trace of every job.
#[tokio::test]
async fn the_job_of_a_delivery_that_could_not_be_stored_is_expected() {
    let scene = Scene::new();
    scene.store.fault("Record", Fault::Fails(1));
    assert_eq!(scene.accept(&fixture::complete().job_id("job_1")).await, Reply::Unavailable);
    until_stored(&scene).await;
    let jobs = expected(&scene).await;
    assert_eq!(jobs[0].reason, Reason::Refused { code: "unavailable".into() });
    let counts = scene.inbox.health().await.ledger.unwrap().counts;
    assert_eq!((counts.open(), counts.oldest_expected), (1, Some(scene.clock.now())));
}

/// Known jobs: the entry has no room for the article, and no body that can be read.
#[tokio::test]
async fn the_job_of_a_delivery_without_room_is_expected() {
    let scene = Scene::new();
    for number in 0..MAX_BODIES_PER_ENTRY {
        scene.store.record(arrival("job_1", &format!("[{number}]"))).await.unwrap();
    }
    let post = fixture::complete().job_id("job_1");
    assert_eq!(scene.accept(&post).await, Reply::Retry);
    until_stored(&scene).await;
    assert_eq!(expected(&scene).await[0].state, JobState::Arrived, "a body may be readable");

    scene.inbox.worker(|_| async { Ok(()) }).run_until_idle().await.unwrap();
    let job = expected(&scene).await.remove(0);
    assert_eq!((job.state, job.at), (JobState::Expected, scene.clock.now()));
    assert_eq!(job.reason, Reason::Refused { code: "retry_later".into() });
}

#[tokio::test]
async fn the_job_of_an_unauthorized_delivery_is_not_expected() {
    let scene = Scene::new();
    scene.hear(&fixture::complete().job_id("job_1").defect(Defect::WrongToken));
    assert_eq!(scene.inbox.health().await.expected_held, 0);
    assert!(jobs(&scene).await.is_empty());
}

/// A person erased it while its delivery waited for the store.
#[tokio::test(start_paused = true)]
async fn an_erased_job_is_not_expected_by_a_delivery_that_was_refused_before() {
    let scene = Scene::new();
    scene.store.fault("Expecting", Fault::DOWN);
    scene.refuse("job_1");
    scene.refuse("job_2");
    tokio::task::yield_now().await;
    scene.inbox.erase("job_1".parse().unwrap()).await.unwrap();
    scene.store.repair();
    advance(Duration::from_secs(60)).await;
    until_stored(&scene).await;
    assert_eq!(jobs(&scene).await, ["job_2"]);

    scene.refuse("job_1");
    until_stored(&scene).await;
    assert_eq!(jobs(&scene).await, ["job_2", "job_1"], "the service delivered it again");
}

/// Convergence and known jobs.
#[tokio::test(start_paused = true)]
async fn a_job_is_held_until_the_store_accepts_it() {
    let scene = Scene::new();
    scene.store.fault("Expecting", Fault::Fails(3));
    scene.refuse("job_1");
    tokio::task::yield_now().await;
    assert_eq!(scene.inbox.health().await.expected_held, 1);
    for pause in [1, 2, 4] {
        assert!(jobs(&scene).await.is_empty());
        advance(Duration::from_secs(pause)).await;
        tokio::task::yield_now().await;
    }
    until_stored(&scene).await;
    assert_eq!((jobs(&scene).await, scene.store.calls("Expecting")), (vec!["job_1".to_owned()], 4));
}

/// Bounded resources.
#[tokio::test]
async fn while_the_store_is_down_a_thousand_jobs_are_held_and_the_others_counted() {
    let scene = Scene::new();
    scene.store.fault("Expecting", Fault::DOWN);
    for job in 0..1030 {
        scene.refuse(&format!("job_{job}"));
    }
    let health = scene.inbox.health().await;
    assert_eq!((health.expected_held, health.expected_dropped), (1024, 6));
}

/// Known jobs: some servers have a runtime for each thread, and some tests share an inbox.
#[test]
fn a_job_outlives_the_runtime_on_which_it_was_to_be_stored() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (scene, first) = (Scene::new(), runtime());
    scene.store.fault("Expecting", Fault::Waits(Arc::new(Notify::new())));
    first.block_on(async {
        scene.refuse("job_1");
        while scene.store.calls("Expecting") == 0 {
            tokio::task::yield_now().await;
        }
    });
    drop(first);
    scene.store.repair();
    runtime().block_on(async {
        scene.refuse("job_2");
        until_stored(&scene).await;
        let mut jobs = jobs(&scene).await;
        jobs.sort_unstable();
        assert_eq!(jobs, ["job_1", "job_2"]);
    });
}

/// Known jobs: a blocking server reports refusals outside of a runtime.
#[test]
fn a_job_from_outside_a_runtime_is_stored_with_the_next_one_inside() {
    let scene = Scene::new();
    scene.refuse("job_1");
    scene.refuse("job_1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        assert_eq!(scene.inbox.health().await.expected_held, 1, "it is held once");
        scene.refuse("job_1");
        until_stored(&scene).await;
        assert_eq!(jobs(&scene).await, ["job_1"]);
    });
}
