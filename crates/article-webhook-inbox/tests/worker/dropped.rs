//! What becomes of the entries of a worker whose future is dropped.

use std::{
    collections::BTreeSet,
    future::{Future, pending},
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Inbox, Job, State};
use article_webhook_inbox_contract::faulty::Fault;
use tokio::{
    runtime::{Builder, Runtime},
    sync::Notify,
};

use super::scene::{Count, Scene, bounded, key, until, until_true};

const JOBS: [&str; 3] = ["job_1", "job_2", "job_3"];

async fn deliver_all(inbox: &Inbox, jobs: &[impl AsRef<str>]) {
    for job in jobs {
        let delivery = fixture::complete().job_id(job.as_ref()).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    }
}

/// Runs a worker on a runtime of its own, and drops the runtime after that many turns. Each entry then waits without an
/// attempt, or its handler has begun.
fn gives_back_when_its_runtime_is_dropped(inbox: &Inbox, new: fn() -> Runtime) {
    let ours = one_thread();
    for turns in 0..12 {
        let jobs: Vec<_> = (0..3).map(|job| format!("job_{turns}_{job}")).collect();
        ours.block_on(deliver_all(inbox, &jobs));
        let begun = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&begun);
        let worker = inbox.worker(move |job| {
            seen.lock().unwrap().insert(job.job_id().to_string());
            pending()
        });
        let runtime = new();
        drop(runtime.spawn(worker.concurrency(8).run(pending::<()>())));
        runtime.block_on(async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        for job in &jobs {
            ours.block_on(bounded(async {
                loop {
                    let (entry, _) = inbox.show(key(job)).await.unwrap().unwrap();
                    match (entry.state, begun.lock().unwrap().contains(job)) {
                        (State::Waiting, false) if entry.attempts == 0 => break,
                        (State::Leased, true) if entry.attempts == 1 => break,
                        _ => {}
                    }
                    tokio::task::yield_now().await;
                }
            }));
            // It is not claimed in the next round.
            ours.block_on(inbox.discard(key(job), "seen")).unwrap();
        }
    }
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn two_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A program that ends drops its runtime, and a task that is spawned then never runs.
#[test]
fn in_memory_a_worker_whose_runtime_is_dropped_gives_back_what_has_not_begun() {
    gives_back_when_its_runtime_is_dropped(&Inbox::memory(), one_thread);
    gives_back_when_its_runtime_is_dropped(&Inbox::memory(), two_threads);
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

/// A store may use timers and sockets of Tokio, which panic outside a runtime.
#[test]
fn a_worker_that_is_dropped_outside_its_runtime_calls_the_store_inside_it() {
    let runtime = one_thread();
    let scene = runtime.block_on(async { Scene::new() });
    runtime.block_on(deliver_all(&scene.inbox, &JOBS));
    scene.store.fault("Settle", Fault::Slow(Duration::from_millis(20)));
    let worker = scene.inbox.worker(|_: Job| async { Ok(()) });
    let mut run = Box::pin(worker.run(pending::<()>()));
    runtime.block_on(async {
        let once = std::future::poll_fn(|context| Poll::Ready(run.as_mut().poll(context)));
        assert!(once.await.is_pending());
        // The handlers end, and the worker does not see it any more.
        tokio::time::sleep(Duration::from_millis(200)).await;
    });
    drop(run);
    runtime.block_on(bounded(until(&scene.inbox, State::Done, JOBS.len() as u64)));
}
