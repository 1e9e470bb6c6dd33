use std::{future::pending, sync::Arc, time::Duration};

use article_webhook_inbox::State;
use article_webhook_inbox_contract::faulty::Fault;
use tokio::{runtime::Handle, sync::Notify};

use super::scene::{Count, HOUR, Scene, bounded, until_true};

#[tokio::test]
async fn a_handler_that_ends_in_the_grace_is_done_and_nothing_is_claimed_meanwhile() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let finish = Arc::new(Notify::new());
    let worker = scene.worker_until(&finish);
    let stop = Notify::new();
    let meanwhile = async {
        scene.until(State::Leased, 1).await;
        stop.notify_one();
        tokio::task::yield_now().await;
        let claims = scene.store.calls("Claim");
        scene.deliver("job_2").await;
        finish.notify_one();
        scene.until(State::Done, 1).await;
        claims
    };
    let (ran, claims) = bounded(async {
        tokio::join!(worker.shutdown_grace(HOUR).run(stop.notified()), meanwhile)
    })
    .await;
    ran.unwrap();
    assert_eq!(scene.show("job_2").await.0.attempts, 0);
    assert_eq!(scene.store.calls("Claim"), claims);
}

#[tokio::test]
async fn a_handler_that_outlives_the_grace_is_ended_and_its_attempt_does_not_count() {
    let (scene, ended) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let worker = scene.worker_without_end(&ended);
    let worker = worker.shutdown_grace(Duration::from_millis(50));
    bounded(worker.run(scene.until(State::Leased, 1))).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts, ended.now()), (State::Waiting, 0, 1));
}

/// At least once: an entry that could not be given back is claimed again after its lease.
#[tokio::test]
async fn a_store_that_is_down_or_hangs_keeps_no_worker_from_stopping() {
    for fault in [Fault::DOWN, Fault::Hangs] {
        let scene = Scene::new();
        scene.deliver("job_1").await;
        let worker = scene.inbox.worker(|_| std::future::pending());
        let worker = worker.shutdown_grace(Duration::ZERO).lease(Duration::from_secs(300));
        let stop = async {
            scene.until(State::Leased, 1).await;
            scene.store.fault_everywhere(&fault);
        };
        bounded(worker.run(stop)).await.unwrap();
        assert_eq!(scene.show("job_1").await.0.state, State::Leased);
        scene.store.repair();
        scene.clock.advance(Duration::from_secs(300));
        let worker = scene.inbox.worker(|_| async { Ok(()) });
        bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    }
}

#[tokio::test]
async fn entries_that_are_claimed_while_stopping_are_given_back() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let go_on = Arc::new(Notify::new());
    scene.store.fault("Claim", Fault::Waits(Arc::clone(&go_on)));
    let worker = scene.worker_counting(&runs);
    let stop = Notify::new();
    let meanwhile = async {
        until_true(|| scene.store.calls("Claim") == 1).await;
        stop.notify_one();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        go_on.notify_one();
    };
    let (ran, ()) = bounded(async { tokio::join!(worker.run(stop.notified()), meanwhile) }).await;
    ran.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts, runs.now()), (State::Waiting, 0, 0));
}

/// Bounded attempts: the process that dropped the worker may end, and the handler had begun.
#[tokio::test]
async fn an_attempt_that_has_begun_counts_although_its_worker_is_dropped() {
    let (scene, starts) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let counted = starts.clone();
    let worker = scene.inbox.worker(move |_| {
        counted.add();
        pending()
    });
    let tasks = Handle::current().metrics();
    let others = tasks.num_alive_tasks();
    let dropped = tokio::spawn(worker.run(pending::<()>()));
    bounded(until_true(|| starts.now() == 1)).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    // Nothing of the worker runs any more that could store something.
    bounded(until_true(|| tasks.num_alive_tasks() == others)).await;
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Leased, 1));
}

/// At least once, and not more often than needed.
#[tokio::test]
async fn an_outcome_that_is_known_is_stored_although_the_worker_is_dropped() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let go_on = Arc::new(Notify::new());
    scene.store.fault("Settle", Fault::Waits(Arc::clone(&go_on)));
    let dropped = tokio::spawn(scene.worker_counting(&runs).run(pending::<()>()));
    bounded(until_true(|| scene.store.calls("Settle") == 1)).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    go_on.notify_one();
    bounded(scene.until(State::Done, 1)).await;
}
