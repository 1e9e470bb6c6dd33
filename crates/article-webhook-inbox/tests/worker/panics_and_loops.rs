use std::{fmt, future::poll_fn, mem, task::Poll, time::Duration};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Job, State};

use super::{
    gate::Gate,
    scene::{Count, HOUR, Scene, bounded, key},
};

#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it has no name")
    }
}

impl std::error::Error for Unspeakable {}

#[tokio::test]
async fn a_panic_is_a_failed_attempt() {
    fn broken(_: Job) -> std::future::Ready<Result<(), Failed>> {
        panic!("at once")
    }
    let inbox = Scene::new().inbox;
    for (worker, cause) in [
        (inbox.worker(|_| async { panic!("no such {}", "blog") }), "no such blog"),
        (inbox.worker(broken), "at once"),
        (inbox.worker(|_| async { std::panic::panic_any(7) }), "no text"),
        (inbox.worker(|_| async { Err(Failed::from(Unspeakable)) }), "it has no name"),
    ] {
        let delivery = fixture::complete().job_id("job_1").delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
        bounded(worker.attempts(1).run_until_idle()).await.unwrap();
        let (entry, _) = inbox.show(key("job_1")).await.unwrap().unwrap();
        let panicked = format!("the handler panicked: {cause}");
        assert_eq!((entry.state, entry.cause.as_deref()), (State::Dead, Some(&*panicked)));
        inbox.erase(key("job_1").job_id).await.unwrap();
    }
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
    let (scene, gate, runs) = (Scene::new(), Gate::closed(), Count::default());
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
