//! In which order entries are handed out, and when none is.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook_inbox::{Failed, Job, Since, State};

use super::scene::{Count, HOUR, Scene, bounded, until_true};

/// Which jobs ran, in their order. Each claim is of one entry.
async fn order(scene: &Scene, entries: u64) -> Vec<String> {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&ran);
    let worker = scene.inbox.worker(move |job: Job| {
        note.lock().unwrap().push(job.job_id().to_string());
        async { Ok(()) }
    });
    let done = scene.inbox.counts().await.unwrap().of(State::Done) + entries;
    let worker = worker.concurrency(1).poll(HOUR);
    bounded(worker.run(scene.until(State::Done, done))).await.unwrap();
    ran.lock().unwrap().clone()
}

/// Stores entries that have failed once, and are due.
async fn fail(scene: &Scene, jobs: &[&str]) {
    for job in jobs {
        scene.deliver(job).await;
    }
    let failing = |_| async { Err(Failed::retry_after("no", Duration::from_secs(1))) };
    bounded(scene.inbox.worker(failing).run_until_idle()).await.unwrap();
    scene.clock.advance(Duration::from_secs(1));
}

/// Neither starves: a backlog of failures delays no new article, and each fourth claim takes one that failed.
#[tokio::test]
async fn new_entries_go_first_and_each_fourth_claim_takes_a_retry() {
    let scene = Scene::new();
    fail(&scene, &["old_1", "old_2"]).await;
    for job in 1..=9 {
        scene.deliver(&format!("new_{job}")).await;
    }
    let order = order(&scene, 11).await;
    let place = |job: &str| order.iter().position(|ran| ran == job).unwrap();
    assert!(place("old_1") < 4, "{order:?}");
    assert_eq!(place("old_2") - place("old_1"), 4, "{order:?}");
    let new: Vec<_> = order.iter().filter(|job| job.starts_with("new")).cloned().collect();
    assert_eq!(new, (1..=9).map(|job| format!("new_{job}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn while_the_inbox_is_paused_deliveries_are_stored_and_nothing_is_handed_out() {
    let (scene, runs) = (Scene::new(), Count::default());
    let since = Since::new(scene.clock.now(), Some("ops@db1".into()));
    assert_eq!(scene.inbox.health().await.paused_since.unwrap(), None);
    scene.inbox.pause("ops@db1").await.unwrap();
    scene.clock.advance(Duration::from_secs(5));
    scene.inbox.pause("ops@db1").await.unwrap();
    assert_eq!(scene.inbox.health().await.paused_since.unwrap(), Some(since));
    let worker = scene.worker_counting(&runs);
    let story = async {
        let claims = scene.store.calls("Claim");
        scene.deliver("job_1").await;
        until_true(|| scene.store.calls("Claim") > claims).await;
        assert_eq!(scene.show("job_1").await.0.state, State::Waiting);
        scene.inbox.resume().await.unwrap();
        scene.until(State::Done, 1).await;
    };
    bounded(worker.poll(HOUR).run(story)).await.unwrap();
    assert_eq!(runs.now(), 1);
    assert_eq!(scene.inbox.health().await.paused_since.unwrap(), None);
}
