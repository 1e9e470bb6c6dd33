use std::{fmt, future::poll_fn, mem, task::Poll, time::Duration};

use article_webhook_inbox::{Failed, Job, State, Worker};

use super::{
    gate::Gate,
    scene::{Count, HOUR, Scene, bounded},
};

/// Runs the handler for one entry with one attempt, and checks the cause of its death.
async fn dies_of(scene: &Scene, worker: Worker, cause: &str) {
    scene.deliver("job_1").await;
    bounded(worker.attempts(1).run(scene.until(State::Dead, 1))).await.unwrap();
    assert_eq!(scene.show("job_1").await.0.cause.as_deref(), Some(cause));
}

#[tokio::test]
async fn a_panic_is_a_failed_attempt() {
    let scene = Scene::new();
    let worker = scene.inbox.worker(|_| async { panic!("no such {}", "blog") });
    dies_of(&scene, worker, "the handler panicked: no such blog").await;
}

#[tokio::test]
async fn a_panic_before_the_handler_is_a_future_is_a_failed_attempt() {
    fn broken(_: Job) -> std::future::Ready<Result<(), Failed>> {
        panic!("at once")
    }
    let scene = Scene::new();
    let worker = scene.inbox.worker(broken);
    dies_of(&scene, worker, "the handler panicked: at once").await;
}

#[tokio::test]
async fn a_panic_without_a_text_is_a_failed_attempt() {
    let scene = Scene::new();
    let worker = scene.inbox.worker(|_| async { std::panic::panic_any(7) });
    dies_of(&scene, worker, "the handler panicked: no text").await;
}

#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it has no name")
    }
}

impl std::error::Error for Unspeakable {}

#[tokio::test]
async fn an_error_whose_text_panics_is_a_failed_attempt() {
    let scene = Scene::new();
    let worker = scene.inbox.worker(|_| async { Err(Failed::from(Unspeakable)) });
    dies_of(&scene, worker, "the handler panicked: it has no name").await;
}

#[tokio::test]
async fn after_a_panic_the_next_attempt_runs() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|job: Job| async move {
        assert!(job.attempt() > 1, "the first one fails");
        Ok(())
    });
    let worker = worker.backoff(Duration::ZERO, Duration::ZERO);
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    assert_eq!(scene.show("job_1").await.0.attempts, 2);
}

/// Bounded attempts.
#[tokio::test]
async fn a_handler_that_waits_for_ever_is_ended_at_its_limit() {
    let (scene, ended) = (Scene::new(), Count::default());
    let worker = scene.worker_without_end(&ended);
    let worker = worker.handler_timeout(Duration::from_millis(50));
    dies_of(&scene, worker, "the handler did not end within 50ms").await;
    assert_eq!(ended.now(), 1);
}

/// At least once: it has published, so it is not handled again. It is polled a second time because it is cancelled.
#[tokio::test]
async fn a_success_that_comes_with_the_limit_counts() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let counted = runs.clone();
    let worker = scene.inbox.worker(move |_| {
        counted.add();
        let mut was_polled = false;
        poll_fn(move |_| match mem::replace(&mut was_polled, true) {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        })
    });
    let worker = worker.handler_timeout(Duration::from_millis(50)).backoff(HOUR, HOUR);
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    assert_eq!(runs.now(), 1);
}

/// Bounded attempts, on a runtime of one thread, which the handler does not block.
#[tokio::test]
async fn a_handler_that_never_yields_is_given_up_and_blocks_no_other() {
    let (scene, gate, runs) = (Scene::new(), Gate::default(), Count::default());
    for job in ["job_bad", "job_1", "job_2", "job_3"] {
        scene.deliver(job).await;
    }
    let (blocks, counted) = (gate.clone(), runs.clone());
    let worker = scene.inbox.worker(move |job: Job| {
        let (blocks, counted) = (blocks.clone(), counted.clone());
        async move {
            if job.job_id().as_str() == "job_bad" {
                counted.add();
                blocks.block();
            }
            Ok(())
        }
    });
    let worker = worker.concurrency(2).attempts(2).backoff(Duration::ZERO, Duration::ZERO);
    let shutdown = async {
        scene.until(State::Done, 3).await;
        assert_eq!(scene.inbox.counts().await.unwrap().of(State::Dead), 0);
        scene.until(State::Dead, 1).await;
        scene.deliver("job_4").await;
        scene.until(State::Done, 4).await;
    };
    let worker = worker.handler_timeout(Duration::from_millis(200)).poll(HOUR);
    bounded(worker.run(shutdown)).await.unwrap();
    assert_eq!(runs.now(), 2);
    gate.open();
}
