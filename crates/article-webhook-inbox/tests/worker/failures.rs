//! Failed jobs reach the application as surely as articles.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook_inbox::{
    EntryKey, Failed, Job, JobKind, State, Worker,
    store::{BucketSettings, Expect, PollClaim, PollOutcome, Store},
};
use article_webhook_inbox_contract::answer;

use super::scene::{Count, HOUR, Scene, bounded, key};

const REPORT: &str = r#"{"error":"generation_failed","message":"It failed at draft.","details":{"step":"draft","credits_refunded":3}}"#;

fn failure(job: &str) -> EntryKey {
    EntryKey::failure(job.parse().unwrap())
}

impl Scene {
    async fn fail(&self, job: &str) {
        self.record(failure(job), REPORT.as_bytes()).await;
    }

    fn publisher(&self) -> Worker {
        self.inbox.worker(|_| async { Ok(()) })
    }

    async fn state(&self, key: EntryKey) -> (State, u32) {
        let (entry, _) = self.inbox.show(key).await.unwrap().expect("it was stored");
        (entry.state, entry.attempts)
    }
}

#[tokio::test]
async fn a_failure_reaches_its_handler_with_what_the_service_reported() {
    let scene = Scene::new();
    scene.fail("job_1").await;
    scene.record(failure("job_2"), b"<html>").await;
    let handled = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&handled);
    let on_failure = move |job: Job| {
        let failure = job.failure().unwrap().clone();
        let fields = (failure.code, failure.message, failure.step, failure.credits_refunded);
        assert_eq!((job.kind(), job.cause()), (JobKind::Failure, None));
        assert!(job.article().is_err());
        let of = (job.job_id().to_string(), job.attempt(), job.received_at());
        seen.lock().unwrap().push((of, fields, job.body().clone()));
        assert!(!format!("{job:?}").contains("draft"));
        async { Ok(()) }
    };
    bounded(scene.publisher().concurrency(1).on_failure(on_failure).run_until_idle())
        .await
        .unwrap();

    let text = |text: &str| Some(text.to_owned());
    let fields = (text("generation_failed"), text("It failed at draft."), text("draft"), Some(3));
    let of = |job: &str| (job.to_owned(), 1, scene.clock.now());
    let expected = [
        (of("job_1"), fields, REPORT.into()),
        (of("job_2"), (None, None, None, None), "<html>".into()),
    ];
    assert_eq!(*handled.lock().unwrap(), expected);
    assert_eq!(scene.inbox.counts().await.unwrap().of(State::Done), 2);
}

/// An article that no handler could read came before, and a person requeues it after the failure.
#[tokio::test]
async fn a_failure_is_not_handled_any_more_once_the_article_of_its_job_is_requeued() {
    let scene = Scene::new();
    let expect = Expect::job(key("job_1").job_id, scene.clock.now());
    scene.store.expect(vec![expect]).await.unwrap();
    scene.record(key("job_1"), b"{}").await;
    bounded(scene.publisher().run_until_idle()).await.unwrap();
    scene.clock.advance(24 * HOUR);
    let bucket = BucketSettings { per_minute: 60, burst: 5, key: 1 };
    let claim = PollClaim { limit: 1, lease: HOUR, bucket };
    let lease = scene.store.claim_polls(claim).await.unwrap().polls[0].lease;
    let failed = PollOutcome::Failed { answer: answer(REPORT), cause: "generation_failed".into() };
    scene.store.settle_poll(lease, failed, 1).await.unwrap();
    assert_eq!(scene.state(failure("job_1")).await, (State::Waiting, 0));
    assert!(scene.inbox.requeue(key("job_1")).await.unwrap());
    assert_eq!(scene.inbox.show(failure("job_1")).await.unwrap(), None);
}

/// At least once and bounded attempts: pauses that cost an attempt, one that costs none, and the end.
#[tokio::test]
async fn a_failure_has_the_attempts_of_an_article() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.fail("job_1").await;
    let counted = runs.clone();
    let on_failure = move |job: Job| {
        let ended = match counted.add() {
            1 => Err(Failed::snooze(Duration::from_secs(1))),
            _ if job.attempt() == 1 => Err(Failed::retry_after("no", Duration::ZERO)),
            _ => panic!("no author"),
        };
        async { ended }
    };
    let worker = || {
        let worker = scene.publisher().attempts(2).backoff(Duration::ZERO, Duration::ZERO);
        worker.on_failure(on_failure.clone())
    };
    bounded(worker().run_until_idle()).await.unwrap();
    assert_eq!(scene.state(failure("job_1")).await, (State::Waiting, 0));
    scene.clock.advance(Duration::from_secs(1));
    bounded(worker().run_until_idle()).await.unwrap();
    assert_eq!((scene.state(failure("job_1")).await, runs.now()), ((State::Dead, 2), 3));
    let (entry, _) = scene.inbox.show(failure("job_1")).await.unwrap().unwrap();
    assert_eq!(entry.cause.as_deref(), Some("the handler panicked: no author"));
}

/// The store keeps it, health shows it, and no claim is repeated for it.
#[tokio::test]
async fn a_failure_waits_for_a_worker_that_has_a_handler_for_it() {
    let scene = Scene::new();
    scene.fail("job_1").await;
    scene.clock.advance(HOUR);
    let story = async {
        scene.deliver("job_2").await;
        scene.until(State::Done, 1).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let claims = scene.store.calls("Claim");
        assert!(claims <= 4, "{claims} claims for an entry that is not wanted");
        let health = scene.inbox.health().await;
        assert_eq!((health.overdue.unwrap(), health.workers.failures_wait), (Some(HOUR), true));
    };
    bounded(scene.publisher().poll(HOUR).run(story)).await.unwrap();
    assert_eq!(scene.state(failure("job_1")).await, (State::Waiting, 0));

    let worker = scene.publisher().on_failure(|_| async { Ok(()) });
    bounded(worker.run(scene.until(State::Done, 2))).await.unwrap();
    let health = scene.inbox.health().await;
    assert_eq!((health.overdue.unwrap(), health.workers.failures_wait), (None, false));
}
