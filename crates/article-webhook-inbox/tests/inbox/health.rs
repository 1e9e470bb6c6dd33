use std::{future::pending, time::Duration};

use article_webhook::{Reply, fixture};
use article_webhook_inbox_contract::faulty::Fault;
use tokio::time::{Instant, advance, timeout};

use super::scene::{HOUR, Scene};

/// Bounded resources.
#[tokio::test(start_paused = true)]
async fn the_store_is_probed_once_in_ten_seconds_however_often_health_is_read() {
    let scene = Scene::new();
    for _ in 0..100 {
        scene.inbox.ready().await.unwrap();
        assert!(scene.inbox.health().await.writable.is_ok());
    }
    assert_eq!(scene.store.calls("Probe"), 1);
    advance(Duration::from_secs(10)).await;
    scene.inbox.ready().await.unwrap();
    assert_eq!(scene.store.calls("Probe"), 2);

    advance(Duration::from_secs(9)).await;
    scene.deliver("job_1").await;
    advance(Duration::from_secs(9)).await;
    scene.inbox.ready().await.unwrap();
    assert_eq!(scene.store.calls("Probe"), 2, "the delivery was stored");
    advance(Duration::from_secs(1)).await;
    scene.inbox.ready().await.unwrap();
    assert_eq!(scene.store.calls("Probe"), 3, "that was ten seconds ago");
}

/// Nothing is written for it, so it does not show that anything can be.
#[tokio::test(start_paused = true)]
async fn a_duplicate_makes_no_inbox_ready_that_cannot_store() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    scene.store.fault("Record", Fault::DOWN);
    for job in ["job_2", "job_3"] {
        scene.accept(&fixture::complete().job_id(job)).await;
    }
    scene.store.repair();
    let known = fixture::complete().job_id("job_1");
    assert_eq!(scene.accept(&known).await, Reply::Duplicate);
    assert_eq!(scene.inbox.ready().await.unwrap_err().to_string(), "the store is down");
    scene.deliver("job_2").await;
    scene.inbox.ready().await.unwrap();
}

/// Receiver independence and bounded resources: concurrent questions share one probe.
#[tokio::test(start_paused = true)]
async fn questions_are_answered_in_time_while_the_store_hangs() {
    let (scene, began) = (Scene::new(), Instant::now());
    scene.store.fault_everywhere(&Fault::Hangs);
    let (ready, again, health) =
        tokio::join!(scene.inbox.ready(), scene.inbox.ready(), scene.inbox.health());
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    for error in [ready, again, health.writable].map(Result::unwrap_err) {
        assert_eq!(error.to_string(), "the store took longer than two seconds");
    }
    assert_eq!(scene.store.calls("Probe"), 1);
}

#[tokio::test]
async fn a_closed_inbox_is_not_ready_whatever_the_last_probe_found() {
    let scene = Scene::new();
    scene.inbox.ready().await.unwrap();
    scene.inbox.close().await.unwrap();
    assert_eq!(scene.inbox.ready().await.unwrap_err().to_string(), "the inbox is closed");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_not_ready_and_says_why() {
    let scene = Scene::new();
    scene.store.fault("Probe", Fault::DOWN);
    assert_eq!(scene.inbox.ready().await.unwrap_err().to_string(), "the store is down");
    assert_eq!(scene.inbox.health().await.writable.unwrap_err().to_string(), "the store is down");
    assert_eq!(scene.store.calls("Probe"), 1, "a failure is used for a second");
    advance(Duration::from_secs(1)).await;
    scene.store.fault("Probe", Fault::Unusable);
    assert!(scene.inbox.ready().await.unwrap_err().is_unusable(), "a person must act");
    assert!(scene.inbox.health().await.writable.unwrap_err().is_unusable());
}

async fn workers(scene: &Scene) -> (u64, u32, Option<String>) {
    let workers = scene.inbox.health().await.workers;
    let failure = workers.failure.map(|failure| {
        assert_eq!(failure.at, scene.clock.now());
        failure.error.to_string()
    });
    (workers.started, workers.running, failure)
}

#[tokio::test]
async fn health_shows_whether_a_worker_runs_and_why_one_ended() {
    let scene = Scene::new();
    assert_eq!(workers(&scene).await, (0, 0, None), "none was ever started");

    let worker = || scene.inbox.worker(|_| async { Ok(()) });
    let watched = async { assert_eq!(workers(&scene).await, (1, 1, None)) };
    worker().run(watched).await.unwrap();
    assert_eq!(workers(&scene).await, (1, 0, None), "a stop was requested");

    assert!(timeout(Duration::ZERO, worker().run(pending::<()>())).await.is_err());
    let dropped = "the worker was dropped before a stop was requested".to_owned();
    assert_eq!(workers(&scene).await, (2, 0, Some(dropped)));

    worker().poll(Duration::ZERO).run(pending::<()>()).await.unwrap_err();
    let wrong = "worker: poll: expected at least 10ms, found 0ns".to_owned();
    assert_eq!(workers(&scene).await, (3, 0, Some(wrong)));

    scene.store.fault("Claim", Fault::Unusable);
    worker().run(pending::<()>()).await.unwrap_err();
    let unusable = "an operator must repair the store".to_owned();
    assert_eq!(workers(&scene).await, (4, 0, Some(unusable)));
}

/// Receiver independence: the server runs on, as in the README, where the worker has a task of its own.
#[tokio::test]
async fn deliveries_are_stored_after_the_worker_ended_with_an_error() {
    let scene = Scene::new();
    scene.store.fault("Claim", Fault::Unusable);
    let worker = scene.inbox.worker(|_| async { Ok(()) });
    let ended = tokio::spawn(worker.run(pending::<()>())).await.unwrap();
    assert_eq!(ended.unwrap_err().to_string(), "an operator must repair the store");
    scene.deliver("job_1").await;
    scene.clock.advance(HOUR);
    let health = scene.inbox.health().await;
    assert_eq!((health.writable.unwrap(), health.overdue.unwrap()), ((), Some(HOUR)));
    assert_eq!((health.workers.running, health.workers.failure.is_some()), (0, true));
}
