//! A worker that runs what is due, and ends.

use std::time::Duration;

use article_webhook_inbox::{Failed, Job, State};
use article_webhook_inbox_contract::faulty::Fault;

use super::scene::{Count, Scene, bounded};

#[tokio::test]
async fn it_runs_everything_that_is_due_and_leaves_what_is_due_later() {
    let (scene, runs) = (Scene::new(), Count::default());
    for number in 0..20 {
        scene.deliver(&format!("job_{number}")).await;
    }
    scene.deliver("later").await;
    let handler = {
        let runs = runs.clone();
        move |job: Job| {
            runs.add();
            async move {
                match (job.job_id().as_str(), job.attempt()) {
                    ("later", 1) => Err(Failed::retry_after("not now", Duration::from_secs(10))),
                    (_, 1 | 2) => Err(Failed::retry_after("again", Duration::ZERO)),
                    _ => Ok(()),
                }
            }
        }
    };
    bounded(scene.inbox.worker(handler.clone()).run_until_idle()).await.unwrap();
    let counts = scene.inbox.counts().await.unwrap();
    assert_eq!((counts.of(State::Done), counts.of(State::Waiting)), (20, 1));
    assert_eq!(runs.now(), 61);

    scene.clock.advance(Duration::from_secs(10));
    bounded(scene.inbox.worker(handler).run_until_idle()).await.unwrap();
    assert_eq!(scene.inbox.counts().await.unwrap().of(State::Done), 21);
}

#[tokio::test]
async fn it_outlives_a_store_that_fails_for_a_while() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    scene.store.fault_everywhere(&Fault::Fails(1));
    // Only a worker that stops gives up an outcome that cannot be stored.
    scene.store.fault("Settle", Fault::Fails(6));
    bounded(scene.worker_counting(&runs).run_until_idle()).await.unwrap();
    assert_eq!(scene.inbox.counts().await.unwrap().of(State::Done), 1);
    assert_eq!(runs.now(), 1);
}
