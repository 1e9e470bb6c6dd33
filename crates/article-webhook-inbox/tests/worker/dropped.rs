//! What becomes of the entries of a worker whose future is dropped.

use std::{future::pending, sync::Arc, time::Duration};

use article_webhook_inbox::State;
use article_webhook_inbox_contract::faulty::Fault;
use tokio::sync::Notify;

use super::scene::{Count, Scene, bounded, until_true};

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
    let dropped = tokio::spawn(worker.run(pending::<()>()));
    bounded(until_true(|| starts.now() == 1)).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Leased, 1));
}

/// At least once, and not more often than needed.
#[tokio::test]
async fn an_outcome_that_is_known_is_stored_although_the_worker_is_dropped() {
    let (scene, ended) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let go_on = Arc::new(Notify::new());
    scene.store.fault("Settle", Fault::Waits(Arc::clone(&go_on)));
    let worker = scene.worker_counting(&ended);
    let dropped = tokio::spawn(worker.run(pending::<()>()));
    bounded(until_true(|| scene.store.calls("Settle") == 1)).await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    go_on.notify_one();
    bounded(scene.until(State::Done, 1)).await;
    assert_eq!(ended.now(), 1);
}
