use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use article_webhook_inbox::{Inbox, SqliteStore, State, store::Store};
use tokio::{sync::Notify, task::JoinSet};

use crate::bodies::workable;

/// How many entries are stored for a worker.
pub(crate) const ENTRIES: u64 = 5_000;

/// Stores entries, and counts how many a worker claims, reads and completes in a second.
pub(crate) async fn rate(path: &Path, concurrency: u32) -> f64 {
    let store = SqliteStore::open(path).unwrap();
    let mut deliveries = JoinSet::new();
    for _ in 0..64 {
        let store = store.clone();
        deliveries.spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..ENTRIES.div_ceil(64) {
                store.record(workable(16 * 1024, &mut random)).await.unwrap();
            }
        });
    }
    deliveries.join_all().await;
    tokio::time::sleep(Duration::from_millis(400)).await; // it checkpoints
    let waiting = store.counts().await.unwrap().of(State::Waiting);

    let inbox = Inbox::new(store);
    let (handled, all) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let shutdown = {
        let all = Arc::clone(&all);
        async move { all.notified().await }
    };
    let worker = inbox.worker(move |_| {
        if handled.fetch_add(1, Relaxed) + 1 == waiting {
            all.notify_one();
        }
        async { Ok(()) }
    });
    let start = Instant::now();
    // It stops once what it began is completed.
    worker.concurrency(concurrency).run(shutdown).await.unwrap();
    let rate = waiting as f64 / start.elapsed().as_secs_f64();
    assert_eq!(inbox.counts().await.unwrap().of(State::Waiting), 0);
    inbox.close().await.unwrap();
    rate
}
