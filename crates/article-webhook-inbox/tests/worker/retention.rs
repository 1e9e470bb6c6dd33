use std::time::Duration;

use article_webhook::fixture;
use article_webhook_inbox::{
    Failed, Job, JobFilter, Retention, State,
    store::{Expect, Recorded, Store},
};
use article_webhook_inbox_contract::faulty::Fault;

use super::scene::{HOUR, Scene, bounded, key, until_true};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A done and a dead entry, that long after they ended.
async fn after(time: Duration) -> Scene {
    let scene = Scene::new();
    scene.deliver("job_done").await;
    scene.deliver("job_dead").await;
    let worker = scene.inbox.worker(|job: Job| async move {
        if job.job_id().as_str() == "job_done" { Ok(()) } else { Err(Failed::dead("no")) }
    });
    let ended = async {
        scene.until(State::Done, 1).await;
        scene.until(State::Dead, 1).await;
    };
    bounded(worker.run(ended)).await.unwrap();
    scene.clock.advance(time);
    scene
}

async fn sweep(scene: &Scene, retention: Retention) {
    let sweeps = scene.store.calls("Prune");
    let worker = scene.inbox.worker(|_| async { Ok(()) }).retention(retention).poll(HOUR);
    let swept = async {
        until_true(|| scene.store.calls("Prune") > sweeps).await;
        // The call has begun, and its transaction follows without a pause.
        scene.inbox.counts().await.unwrap();
    };
    bounded(worker.run(swept)).await.unwrap();
}

#[tokio::test]
async fn a_worker_removes_bodies_after_a_week_and_still_knows_their_duplicates() {
    let scene = after(7 * DAY + HOUR).await;
    sweep(&scene, Retention::default()).await;
    let (entry, bodies) = scene.show("job_done").await;
    assert_eq!((entry.state, bodies.len(), bodies[0].bytes.is_none()), (State::Done, 1, true));
}

#[tokio::test]
async fn a_worker_removes_done_entries_after_a_month() {
    let scene = after(30 * DAY + HOUR).await;
    sweep(&scene, Retention::default()).await;
    assert_eq!(scene.inbox.show(key("job_done")).await.unwrap(), None);
}

#[tokio::test]
async fn a_worker_removes_dead_entries_after_their_own_limit() {
    let retention = Retention::default().dead(90 * DAY).unwrap();
    let scene = after(90 * DAY).await;
    sweep(&scene, retention).await;
    assert_eq!(scene.show("job_dead").await.0.state, State::Dead);
    scene.clock.advance(HOUR);
    sweep(&scene, retention).await;
    assert_eq!(scene.inbox.show(key("job_dead")).await.unwrap(), None);
}

/// At least once.
#[tokio::test]
async fn a_dead_entry_is_never_removed_without_a_limit() {
    let scene = after(3650 * DAY).await;
    sweep(&scene, Retention::new(HOUR, HOUR).unwrap()).await;
    let (entry, bodies) = scene.show("job_dead").await;
    assert_eq!((entry.state, bodies[0].bytes.is_some()), (State::Dead, true));
}

/// Nothing is handled twice because it was removed early, and what is expected stays.
#[tokio::test]
async fn a_worker_removes_a_job_of_the_ledger_after_a_year_and_its_entry_earlier() {
    let scene = after(HOUR).await;
    let expect = |id: &str| Expect::job(id.parse().unwrap(), scene.store.now());
    scene.store.expect(vec![expect("job_done"), expect("job_lost")]).await.unwrap();
    scene.clock.advance(31 * DAY);
    sweep(&scene, Retention::default()).await;
    assert_eq!(scene.inbox.show(key("job_done")).await.unwrap(), None);
    let post = fixture::complete().job_id("job_done");
    assert_eq!(scene.record(key("job_done"), post.bytes()).await, Recorded::Duplicate);

    scene.clock.advance(334 * DAY);
    for left in [2, 1] {
        sweep(&scene, Retention::default()).await;
        let jobs = scene.inbox.jobs(JobFilter::default()).await.unwrap().items;
        assert_eq!(jobs.len(), left, "{jobs:?}");
        scene.clock.advance(HOUR);
    }
}

#[tokio::test]
async fn the_time_of_a_retention_is_read_after_the_store_was_asked_for_its_health() {
    let scene = after(HOUR).await;
    scene.store.is_ahead(3650 * DAY);
    sweep(&scene, Retention::default()).await;
    assert!(scene.show("job_done").await.1[0].bytes.is_some());
}

#[tokio::test]
async fn an_endless_retention_removes_nothing() {
    let scene = after(3650 * DAY).await;
    sweep(&scene, Retention::new(Duration::MAX, Duration::MAX).unwrap()).await;
    assert!(scene.show("job_done").await.1[0].bytes.is_some());
}

#[tokio::test]
async fn a_prune_that_fails_does_not_stop_the_work() {
    let scene = Scene::new();
    scene.store.fault("Prune", Fault::DOWN);
    let worker = scene.inbox.worker(|_| async { Ok(()) });
    let shutdown = async {
        until_true(|| scene.store.calls("Prune") == 1).await;
        scene.deliver("job_1").await;
        scene.until(State::Done, 1).await;
    };
    bounded(worker.run(shutdown)).await.unwrap();
}
