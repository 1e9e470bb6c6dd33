use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Clock, Inbox, Prune, SqliteSettings, SqliteStore, State, store::Store,
};
use tokio::task::JoinSet;

use crate::{
    bodies::workable,
    form::Form,
    resident::resident,
    scratch,
    table::{Table, at_most, plain},
};

const STAGES: u64 = 20;
const HOUR: Duration = Duration::from_secs(3600);

/// In MiB.
const MOST_MEMORY: f64 = 32.0;
const MOST_LOG: f64 = 128.0;

/// The size of the process and its files while deliveries are stored, worked on, and pruned when they are old.
pub(crate) fn run(form: Form) {
    let (deliveries, name) = match form {
        Form::Short => (40_000, "40,000"),
        Form::Long => (1_000_000, "1,000,000"),
    };
    let runtime = crate::runtime();
    let folder = scratch::folder();
    let path = folder.path().join("inbox.db");
    let sizes = || [resident(), mebibytes(&path.with_extension("db-wal")), mebibytes(&path)];

    let (before, after, largest) = runtime.block_on(async {
        let clock = Clock::stepped(SystemTime::now());
        let settings = SqliteSettings::default().clock(clock.clone());
        let store = SqliteStore::open_with(&path, settings).unwrap();
        let inbox = Inbox::new(store.clone());
        let handled = Arc::new(AtomicU64::new(0));
        let worker = inbox.worker({
            let handled = Arc::clone(&handled);
            move |_| {
                handled.fetch_add(1, Relaxed);
                async { Ok(()) }
            }
        });
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let worker = worker.concurrency(64).poll(Duration::from_millis(10));
        let worker = tokio::spawn(worker.run(stopped));

        // Before the first delivery: what the first ones fill, caches and pools, counts too.
        let (before, mut largest) = (sizes(), [0.0_f64; 3]);
        for _ in 0..STAGES {
            deliver(&store, deliveries / STAGES).await;
            loop {
                let counts = store.counts().await.unwrap();
                if counts.of(State::Waiting) + counts.of(State::Leased) == 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            for (largest, now) in largest.iter_mut().zip(sizes()) {
                *largest = largest.max(now);
            }
            clock.advance(2 * HOUR);
            prune(&store, clock.now() - HOUR).await;
        }
        assert_eq!(handled.load(Relaxed), deliveries / STAGES * STAGES);
        assert_eq!(store.counts().await.unwrap().total(), 0);
        drop(stop);
        worker.await.unwrap().unwrap();
        inbox.close().await.unwrap();
        (before, sizes(), largest)
    });

    let mut table = Table::new(
        "inbox: memory",
        "what is held while deliveries of 1 KB pass through, stored, worked on and pruned, in MiB",
        &[
            "deliveries",
            "memory before",
            "more at most",
            "log at most",
            "file at most",
            "file after retention",
        ],
    );
    table.row(
        name,
        [
            plain(before[0], ""),
            at_most(largest[0] - before[0], MOST_MEMORY, ""),
            at_most(largest[1], MOST_LOG, ""),
            plain(largest[2], ""),
            at_most(after[2], 1.0, ""),
        ],
    );
    println!("{table}");
}

async fn deliver(store: &SqliteStore, count: u64) {
    let mut tasks = JoinSet::new();
    for task in 0..256 {
        let store = store.clone();
        tasks.spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..count / 256 + u64::from(task < count % 256) {
                store.record(workable(1024, &mut random)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
}

async fn prune(store: &SqliteStore, before: SystemTime) {
    let prune =
        Prune { bodies_before: before, entries_before: before, limit: 500, ..Prune::default() };
    while store.prune(prune).await.unwrap().more {}
}

/// The size of a file; 0 if there is none.
fn mebibytes(path: &Path) -> f64 {
    path.metadata().map_or(0.0, |metadata| metadata.len() as f64 / f64::from(1 << 20))
}
