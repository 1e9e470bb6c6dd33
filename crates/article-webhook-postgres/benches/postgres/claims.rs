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

use crate::{
    bodies::workable,
    form::{Form, median},
    table::{Table, at_least, plain},
};

const ENTRIES: usize = 5_000;
const TARGET: f64 = 5_000.0;

/// How many entries per second a worker claims, reads and completes.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let mut table = Table::new(
        "postgres: claims",
        "entries of 16 KB a second, claimed and completed by one worker",
        &["handlers at once", "a second"],
    );
    for concurrency in [4, 16, 64] {
        let mut rates = Vec::new();
        for round in 0..form.rounds() {
            let schema = format!("claims_{concurrency}_{round}");
            rates.push(runtime.block_on(async {
                let store = crate::store(&url, &schema).await;
                deliver(&store, ENTRIES, 16 * 1024).await;
                let rate = rate(store.clone(), concurrency, ENTRIES).await;
                store.close().await.unwrap();
                let drop = format!("DROP SCHEMA {schema} CASCADE");
                crate::connect(&url).await.batch_execute(&drop).await.unwrap();
                rate
            }));
        }
        let rate = median(rates);
        let figure = if concurrency == 16 { at_least(rate, TARGET, "") } else { plain(rate, "") };
        table.row(concurrency, [figure]);
    }
    println!("{table}");
}

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
