use std::sync::{Arc, Mutex};

use article_webhook::{Reply, fixture};
use article_webhook_inbox::{
    Digest, EntryKey, Failed, Job, JobKind, State, Worker,
    store::{Expect, Quarantine, Quarantined, Store},
};
use article_webhook_inbox_contract::arrival;

use super::scene::{Count, HOUR, Scene, bounded, key};

fn article() -> Vec<u8> {
    fixture::complete().job_id("job_1").bytes().to_vec()
}

/// A worker, and how often its handler ran.
fn counting(scene: &Scene) -> (Worker, Count) {
    let runs = Count::default();
    let worker = scene.worker_counting(&runs);
    (worker.poll(HOUR), runs)
}

/// A body of a refused delivery, with what stands for a body that an earlier version refused.
async fn quarantine(scene: &Scene, job: &str, body: &[u8]) {
    let arrival = arrival(job, body);
    let expect = Some(Expect::job(job.parse().unwrap(), scene.clock.now()));
    let quarantine =
        Quarantine { arrival, cause: "refused".into(), expect, statement: None, budget: 1 << 20 };
    assert_eq!(scene.store.quarantine(quarantine).await.unwrap(), Quarantined::Kept);
}

#[tokio::test]
async fn what_is_in_quarantine_reaches_no_handler_and_a_worker_reads_it_again_when_it_starts() {
    let scene = Scene::new();
    quarantine(&scene, "job_1", &article()).await;
    quarantine(&scene, "job_2", br#"{"job_id": "job_2""#).await;
    let jobs = Arc::new(Mutex::new(Vec::new()));
    let [handled, undecodable] = [Arc::clone(&jobs), Arc::clone(&jobs)].map(|jobs| {
        move |job: Job| {
            jobs.lock().unwrap().push((job.job_id().to_string(), job.kind()));
            async { Ok(()) }
        }
    });
    let worker = scene.inbox.worker(handled).on_undecodable(undecodable);
    worker.run_until_idle().await.unwrap();
    assert_eq!(*jobs.lock().unwrap(), [("job_1".to_owned(), JobKind::Article)]);
    let counts = scene.inbox.counts().await.unwrap();
    assert_eq!((counts.of(State::Done), counts.of(State::Quarantined)), (1, 1));
}

#[tokio::test]
async fn what_is_no_article_reaches_a_handler_for_it_as_it_came_with_all_its_attempts() {
    let scene = Scene::new();
    let body = br#"{"job_id": "job_1", "note": "\u00e9"}"#;
    scene.record(key("job_1"), body).await;
    let retracted = EntryKey { event: "article.retracted".into(), ..key("job_2") };
    scene.record(retracted, &article()).await;
    scene.deliver("job_3").await;
    let (worker, runs) = counting(&scene);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let worker = worker.concurrency(1).attempts(2).on_undecodable(move |job: Job| {
        assert_eq!((job.kind(), job.cause().is_some()), (JobKind::Undecodable, true));
        let event = job.event().as_str().to_owned();
        let shown = (job.job_id().to_string(), event, job.attempt(), job.body().to_vec());
        noted.lock().unwrap().push(shown);
        let refused = job.job_id().as_str() == "job_1";
        async move {
            match refused {
                true => Err(Failed::retry_after("no", std::time::Duration::ZERO)),
                false => Ok(()),
            }
        }
    });
    bounded(worker.run_until_idle()).await.unwrap();
    let first =
        |attempt| ("job_1".to_owned(), "article.complete".to_owned(), attempt, body.to_vec());
    let second = ("job_2".to_owned(), "article.retracted".to_owned(), 1, article());
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    assert_eq!(seen, [first(1), first(2), second]);
    assert_eq!(runs.now(), 1, "the article reached its own handler");
    assert_eq!(scene.show("job_1").await.0.state, State::Dead);
    assert_eq!(scene.inbox.counts().await.unwrap().of(State::Done), 2);
}

/// Durable acknowledgement: never a wrong body, and the next delivery repairs it.
#[tokio::test]
async fn a_damaged_body_reaches_no_handler_until_it_is_delivered_again() {
    let scene = Scene::new();
    scene.record_as(key("job_1"), b"flipped", Digest::of(&article())).await;
    let (worker, runs) = counting(&scene);
    let ran = runs.clone();
    let shutdown = async {
        scene.until(State::Corrupt, 1).await;
        let (entry, _) = scene.show("job_1").await;
        let cause = "the stored body is not the one that was received";
        assert_eq!((entry.attempts, entry.cause.as_deref(), ran.now()), (0, Some(cause), 0));
        scene.deliver("job_1").await;
        scene.until(State::Done, 1).await;
    };
    bounded(worker.run(shutdown)).await.unwrap();
    assert_eq!((runs.now(), scene.show("job_1").await.0.attempts), (1, 1));
}

#[tokio::test]
async fn health_names_each_way_in_which_the_service_has_changed_once() {
    let scene = Scene::new();
    for job in ["job_1", "job_2"] {
        let post = fixture::complete().job_id(job);
        let post = post.field("tone", "warm").field("credits_used", "2");
        assert_eq!(scene.accept(&post).await, Reply::Stored);
    }
    assert_eq!(scene.inbox.health().await.drift, [""; 0], "nothing was decoded yet");
    bounded(scene.inbox.worker(|_| async { Ok(()) }).run_until_idle()).await.unwrap();
    let drift =
        ["credits_used: expected a number, found a string", "tone: unknown field, a string"];
    assert_eq!(scene.inbox.health().await.drift, drift);
}
