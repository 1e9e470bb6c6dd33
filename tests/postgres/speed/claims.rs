use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use article_webhook_inbox::{Inbox, store::Store};
use article_webhook_postgres::PostgresStore;
use tokio::{sync::Notify, task::JoinSet};

use crate::bodies::workable;

/// Stores that many entries that a worker can handle.
pub(crate) async fn deliver(store: &PostgresStore, entries: usize, bytes: usize) {
    let mut deliveries = JoinSet::new();
    for task in 0..64 {
        let store = store.clone();
        deliveries.spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..entries / 64 + usize::from(task < entries % 64) {
                store.record(workable(bytes, &mut random)).await.unwrap();
            }
        });
    }
    deliveries.join_all().await;
}

/// How many entries a worker claims and completes in a second, until it has completed that many.
pub(crate) async fn rate(store: PostgresStore, concurrency: u32, entries: usize) -> f64 {
    let inbox = Inbox::new(store);
    let (handled, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let shutdown = {
        let all = Arc::clone(&all);
        async move { all.notified().await }
    };
    let worker = inbox.worker(move |_| {
        if handled.fetch_add(1, Relaxed) + 1 == entries {
            all.notify_one();
        }
        async { Ok(()) }
    });
    let start = Instant::now();
    // It stops once what it began is completed.
    worker.concurrency(concurrency).run(shutdown).await.unwrap();
    entries as f64 / start.elapsed().as_secs_f64()
}
