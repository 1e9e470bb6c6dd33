use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook_inbox::{Job, State, store::Store};
use article_webhook_inbox_contract::{CLAIM_ONE, faulty::Fault};

use super::scene::{Count, HOUR, Scene, bounded, until_true};

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
    let (scene, starts) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let (finish, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let counted = starts.clone();
    let worker = scene.inbox.worker(move |_| {
        counted.add();
        let wait = Arc::clone(&wait);
        // This handler cannot be cancelled.
        async move { Ok(wait.lock().unwrap().recv()?) }
    });
    let shutdown = async {
        until_true(|| starts.now() == 1).await;
        scene.clock.advance(LEASE);
        scene.store.claim(CLAIM_ONE).await.unwrap();
        let extended = scene.store.calls("Extend");
        until_true(|| scene.store.calls("Extend") > extended).await;
        finish.send(()).unwrap();
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

/// Fencing and bounded attempts: one attempt per entry, and no two at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_workers_never_run_one_entry_at_the_same_time() {
    let (scene, runs) = (Scene::new(), Count::default());
    let at_work = Arc::new(Mutex::new(HashSet::new()));
    for job in 0..60 {
        scene.deliver(&format!("job_{job}")).await;
    }
    let worker = || {
        let (runs, at_work) = (runs.clone(), Arc::clone(&at_work));
        let worker = scene.inbox.worker(move |job: Job| {
            let (runs, at_work) = (runs.clone(), Arc::clone(&at_work));
            async move {
                runs.add();
                assert!(at_work.lock().unwrap().insert(job.job_id().clone()), "by two at a time");
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                at_work.lock().unwrap().remove(job.job_id());
                Ok(())
            }
        });
        worker.poll(Duration::from_millis(10)).run(scene.until(State::Done, 60))
    };
    let (one, two, three) = bounded(async { tokio::join!(worker(), worker(), worker()) }).await;
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert_eq!(runs.now(), 60);
}
