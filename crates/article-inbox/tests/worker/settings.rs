use std::time::Duration;

use article_inbox::{Failed, Job, State};

use super::scene::{Scene, bounded};

async fn once_more(job: Job) -> Result<(), Failed> {
    match job.attempt() {
        1 => Err(Failed::retry_after("again", Duration::ZERO)),
        2 => Err("again")?,
        _ => Ok(()),
    }
}

#[tokio::test]
async fn times_without_end_are_settings_like_others() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(once_more);
    let worker = worker
        .poll(Duration::MAX)
        .lease(Duration::MAX)
        .grace(Duration::MAX)
        .handler_timeout(Duration::MAX)
        .backoff(Duration::MAX, Duration::MAX)
        .attempts(u32::MAX);
    let failed_twice = async {
        while scene.show("job_1").await.0.attempts < 2
            || scene.show("job_1").await.0.state != State::Waiting
        {
            tokio::task::yield_now().await;
        }
    };
    bounded(worker.run(failed_twice)).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    // Nothing is put off for longer.
    assert!(entry.at <= scene.clock.now() + Duration::from_secs(24 * 3600));
}

#[tokio::test]
async fn settings_of_nothing_are_the_least_there_can_be() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async { Ok(()) });
    let worker = worker
        .concurrency(0)
        .attempts(0)
        .poll(Duration::ZERO)
        .lease(Duration::ZERO)
        .grace(Duration::ZERO)
        .backoff(Duration::ZERO, Duration::ZERO);
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
}

#[tokio::test]
async fn a_handler_that_may_take_no_time_at_all_is_dead_and_no_worker_is() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| std::future::pending());
    let worker = worker.attempts(1).handler_timeout(Duration::ZERO);
    bounded(worker.run(scene.until(State::Dead, 1))).await.unwrap();
    assert_eq!(
        scene.show("job_1").await.0.cause.as_deref(),
        Some("the handler did not end within 0ns")
    );
}
