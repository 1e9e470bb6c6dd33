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

use crate::{
    bodies::workable,
    form::{Form, median},
    scratch,
    table::{Table, at_least, plain},
    tombstones::fill,
};

const TOMBSTONES: i64 = 1_000_000;
const ENTRIES: u64 = 5_000;
const TARGET: f64 = 5_000.0;

/// How many entries per second a worker claims, reads and completes, in a file with many tombstones.
pub(crate) fn run(form: Form) {
    let runtime = crate::runtime();
    let folder = scratch::folder();
    let path = folder.path().join("inbox.db");
    fill(&path, TOMBSTONES);
    let mut table = Table::new(
        "entries of 16 KB a second, claimed and completed by one worker, in a file with 1,000,000 tombstones",
        &["handlers at once", "a second"],
    );
    for concurrency in [4, 16, 64] {
        let rates = (0..form.rounds()).map(|_| runtime.block_on(rate(&path, concurrency)));
        let rate = median(rates);
        let figure = if concurrency == 4 { at_least(rate, TARGET, "") } else { plain(rate, "") };
        table.row(concurrency, [figure]);
    }
    println!("{table}");
}

async fn rate(path: &Path, concurrency: u32) -> f64 {
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
