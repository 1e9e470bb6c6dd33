use std::{future::pending, time::Duration};

use article_webhook_inbox::State;
use article_webhook_inbox_contract::faulty::Fault;
use tokio::sync::Notify;

use super::scene::{Scene, bounded, until_true};

async fn ends_with(scene: &Scene, trouble: impl Future) -> String {
    let worker = scene.inbox.worker(|_| async { Ok(()) }).poll(Duration::from_millis(10));
    let (ran, _) = bounded(async { tokio::join!(worker.run(pending::<()>()), trouble) }).await;
    ran.unwrap_err().to_string()
}

#[tokio::test]
async fn a_worker_ends_with_an_error_when_its_inbox_is_closed() {
    let scene = Scene::new();
    let closed = async {
        scene.deliver("job_1").await;
        scene.until(State::Done, 1).await;
        scene.inbox.close().await.unwrap();
    };
    assert_eq!(ends_with(&scene, closed).await, "the inbox is closed");
}

#[tokio::test]
async fn a_worker_ends_with_an_error_when_nothing_can_be_claimed_any_more() {
    let scene = Scene::new();
    let unusable = async { scene.store.fault("Claim", Fault::Unusable) };
    assert_eq!(ends_with(&scene, unusable).await, "an operator must repair the store");
}

#[tokio::test]
async fn a_worker_ends_with_an_error_when_no_outcome_can_be_stored_any_more() {
    let scene = Scene::new();
    scene.store.fault("Settle", Fault::Unusable);
    scene.deliver("job_1").await;
    assert_eq!(ends_with(&scene, async {}).await, "an operator must repair the store");
}

#[tokio::test]
async fn a_store_that_is_down_is_asked_nothing_for_a_second_however_often_the_worker_is_woken() {
    let scene = Scene::new();
    scene.store.fault("Claim", Fault::DOWN);
    let stop = Notify::new();
    let deliveries = async {
        until_true(|| scene.store.calls("Claim") == 1).await;
        for job in 0..20 {
            scene.deliver(&format!("job_{job}")).await;
            tokio::task::yield_now().await;
        }
        stop.notify_one();
    };
    let worker = scene.inbox.worker(|_| async { Ok(()) });
    let (ran, ()) = bounded(async { tokio::join!(worker.run(stop.notified()), deliveries) }).await;
    ran.unwrap();
    assert!(scene.store.calls("Claim") <= 2, "{}", scene.store.calls("Claim"));
}

/// Damage stays where it is: the worker goes on with everything else.
#[tokio::test]
async fn a_worker_outlives_a_store_that_finds_damage() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    for call in ["Claim", "Settle", "Prune"] {
        scene.store.fault(call, Fault::Damaged(1));
    }
    let worker = scene.inbox.worker(|_| async { Ok(()) }).poll(Duration::from_millis(10));
    let lease = Duration::from_secs(60);
    let story = async {
        // Its outcome could not be stored: the lease ends, and the entry is claimed again.
        until_true(|| scene.store.calls("Settle") == 1).await;
        scene.deliver("job_2").await;
        scene.until(State::Done, 1).await;
        scene.clock.advance(lease);
        scene.until(State::Done, 2).await;
    };
    bounded(worker.lease(lease).run(story)).await.unwrap();
    assert_eq!(scene.show("job_1").await.0.attempts, 2);
    assert!(scene.store.calls("Claim") >= 2 && scene.store.calls("Prune") >= 1);
}
