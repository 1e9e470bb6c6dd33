use std::time::Duration;

use article_webhook_inbox::{State, store::Store};
use article_webhook_inbox_contract::{CLAIM_ONE, faulty::Fault};

use super::{
    gate::Gate,
    scene::{Count, HOUR, Scene, bounded, until_true},
};

/// Short enough for real time.
const LEASE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_handler_that_takes_longer_than_its_lease_keeps_it() {
    let (scene, runs) = (Scene::real(), Count::default());
    scene.deliver("job_1").await;
    let (counted, store) = (runs.clone(), scene.store.clone());
    let worker = scene.inbox.worker(move |_| {
        counted.add();
        let store = store.clone();
        async move {
            // A renewal at each third of the lease.
            until_true(|| store.calls("Extend") >= 6).await;
            Ok(())
        }
    });
    bounded(worker.lease(LEASE).run(scene.until(State::Done, 1))).await.unwrap();
    assert_eq!((runs.now(), scene.show("job_1").await.0.attempts), (1, 1));
}

/// Fencing: the worker that has the entry now is not disturbed.
#[tokio::test]
async fn a_lost_lease_ends_the_handler_and_changes_nothing() {
    let (scene, ended) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let worker = scene.worker_without_end(&ended);
    let shutdown = async {
        scene.until(State::Leased, 1).await;
        scene.clock.advance(LEASE);
        let thief = scene.store.claim(CLAIM_ONE).await.unwrap();
        assert_eq!((thief.claimed.len(), thief.expired), (1, 1));
        until_true(|| ended.now() == 1).await;
    };
    bounded(worker.lease(LEASE).run(shutdown)).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Leased, 2));
    assert_eq!(scene.store.calls("Settle"), 0);
}

/// Fencing.
#[tokio::test]
async fn the_result_of_a_handler_whose_lease_was_lost_is_dropped() {
    let (scene, gate) = (Scene::new(), Gate::closed());
    scene.deliver("job_1").await;
    // This handler cannot be cancelled.
    let worker = scene.inbox.worker(gate.handler());
    let shutdown = async {
        until_true(|| !gate.is_empty()).await;
        scene.clock.advance(LEASE);
        scene.store.claim(CLAIM_ONE).await.unwrap();
        let extended = scene.store.calls("Extend");
        until_true(|| scene.store.calls("Extend") > extended).await;
        gate.open();
    };
    bounded(worker.lease(LEASE).poll(HOUR).run(shutdown)).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Leased, 2));
}

/// Fencing.
#[tokio::test]
async fn a_handler_is_ended_with_its_lease_while_the_store_is_down_or_hangs() {
    for fault in [Fault::DOWN, Fault::Hangs] {
        let (scene, ended) = (Scene::real(), Count::default());
        scene.deliver("job_1").await;
        scene.store.fault("Extend", fault);
        let worker = scene.worker_without_end(&ended);
        let ended = until_true(|| ended.now() >= 1);
        bounded(worker.lease(LEASE).poll(HOUR).run(ended)).await.unwrap();
        assert!(scene.store.calls("Extend") >= 1);
    }
}
