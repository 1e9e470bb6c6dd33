use std::time::Duration;

use article_webhook_inbox::{Failed, Job, State};

use super::scene::{Scene, bounded};

/// The longest time that a setting may name.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn once_more(job: Job) -> Result<(), Failed> {
    match job.attempt() {
        1 => Err(Failed::retry_after("again", Duration::ZERO)),
        2 => Err("again")?,
        _ => Ok(()),
    }
}

#[tokio::test]
async fn the_longest_times_are_settings_like_others() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(once_more);
    let worker = worker
        .poll(YEAR)
        .lease(YEAR)
        .shutdown_grace(YEAR)
        .handler_timeout(YEAR)
        .backoff(DAY, DAY)
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
    assert!(entry.at <= scene.clock.now() + DAY);
}

#[tokio::test]
async fn the_smallest_settings_are_settings_like_others() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async { Ok(()) });
    let worker = worker
        .concurrency(1)
        .attempts(1)
        .poll(Duration::from_millis(10))
        .lease(Duration::from_millis(100))
        .shutdown_grace(Duration::ZERO)
        .backoff(Duration::ZERO, Duration::ZERO);
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
}

#[tokio::test]
async fn a_setting_out_of_range_is_an_error_before_anything_is_claimed() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = || scene.inbox.worker(|_| async { Ok(()) });
    let wrong = [
        (worker().concurrency(0), "concurrency: expected at least 1, found 0"),
        (worker().lease(Duration::ZERO), "lease: expected at least 100ms, found 0ns"),
        (worker().poll(YEAR * 2), "poll: expected at most 31536000s, found 63072000s"),
        (
            worker().backoff(DAY, Duration::ZERO),
            "backoff, first pause: expected at most 0ns, found 86400s",
        ),
    ];
    for (worker, message) in wrong {
        let error = bounded(worker.run(std::future::pending::<()>())).await.unwrap_err();
        assert_eq!(error.to_string(), format!("worker: {message}"));
        assert!(!error.is_transient());
    }
    assert_eq!(scene.show("job_1").await.0.attempts, 0);
}

#[tokio::test]
async fn a_handler_without_any_time_is_dead_and_the_worker_goes_on() {
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
