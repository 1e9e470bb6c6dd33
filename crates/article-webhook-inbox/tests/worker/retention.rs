use std::time::Duration;

use article_webhook::fixture;
use article_webhook_inbox::{
    Failed, Job, JobFilter, Retention, State,
    store::{Expect, Recorded, Store},
};

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

/// Bodies after a week, done entries after a month, and dead ones after their own limit. At least once: never without a limit.
#[tokio::test]
async fn a_worker_removes_what_is_old() {
    let (default, endless) = (Retention::default(), Duration::MAX);
    let dead = default.dead(90 * DAY).unwrap();
    let endless = Retention::new(endless, endless).unwrap();
    let hour = Retention::new(HOUR, HOUR).unwrap();
    let (whole, bare, none) = (Some(true), Some(false), None);
    for (time, retention, of_done, of_dead) in [
        (7 * DAY + HOUR, default, bare, whole),
        (30 * DAY + HOUR, default, none, whole),
        (90 * DAY, dead, none, whole),
        (90 * DAY + HOUR, dead, none, none),
        (3650 * DAY, hour, none, whole),
        (3650 * DAY, endless, whole, whole),
    ] {
        let scene = after(time).await;
        sweep(&scene, retention).await;
        for (job, expected) in [("job_done", of_done), ("job_dead", of_dead)] {
            let shown = scene.inbox.show(key(job)).await.unwrap();
            let has_bytes = shown.map(|(_, bodies)| bodies[0].bytes.is_some());
            assert_eq!(has_bytes, expected, "{job} after {time:?}");
        }
    }
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
