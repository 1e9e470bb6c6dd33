use std::{future::pending, time::Duration};

use article_webhook_inbox::State;
use article_webhook_inbox_contract::faulty::Fault;

use super::scene::{Scene, bounded, until_true};

#[tokio::test]
async fn a_worker_ends_with_an_error_when_its_inbox_is_closed_or_no_outcome_can_be_stored() {
    let scene = Scene::new();
    let worker = || scene.inbox.worker(|_| async { Ok(()) }).poll(Duration::from_millis(10));
    scene.store.fault("Settle", Fault::Unusable);
    scene.deliver("job_1").await;
    let error = bounded(worker().run(pending::<()>())).await.unwrap_err();
    assert_eq!(error.to_string(), "an operator must repair the store");

    scene.store.repair();
    let closed = async {
        scene.deliver("job_2").await;
        scene.until(State::Done, 1).await;
        scene.inbox.close().await.unwrap();
    };
    let (ran, ()) = bounded(async { tokio::join!(worker().run(pending::<()>()), closed) }).await;
    assert_eq!(ran.unwrap_err().to_string(), "the inbox is closed");
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
