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
async fn a_setting_out_of_range_is_an_error_before_anything_is_claimed() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async { Ok(()) }).poll(YEAR * 2);
    let error = bounded(worker.run(std::future::pending::<()>())).await.unwrap_err();
    let says = "worker: poll: expected at most 31536000s, found 63072000s";
    assert_eq!(error.to_string(), says);
    assert!(!error.is_transient());
    assert_eq!(scene.show("job_1").await.0.attempts, 0);
}
