//! Jobs in apalis-sqlite, a queue on sqlx. Its own `setup` turns syncs off; here each commit is on disk, as it is in the others.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use ::apalis::{layers::WorkerBuilderExt, prelude::*};
use apalis_core::backend::BackendConfig;
use apalis_sqlite::{SqlitePool, SqlitePoolOptions, SqliteStorage};
use article_webhook::ArticleResult;
use serde_json::value::RawValue;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use tokio::task::JoinSet;

use crate::{bodies::workable, claims::ENTRIES};

/// A body is stored as the JSON that it is.
pub(crate) type Jobs = SqliteStorage<Box<RawValue>>;

/// One connection, since more of them wait for the lock of the file, and fail after a while.
async fn pool(folder: &Path) -> SqlitePool {
    let settings = SqliteConnectOptions::new()
        .filename(folder.join("apalis.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    SqlitePoolOptions::new().max_connections(1).connect_with(settings).await.unwrap()
}

pub(crate) async fn open(folder: &Path) -> Jobs {
    let pool = pool(folder).await;
    SqliteStorage::migrations().run(&pool).await.unwrap();
    SqliteStorage::new(&pool)
}

/// Returns once the job is on disk.
pub(crate) async fn add(jobs: &mut Jobs, body: &[u8]) {
    let body = String::from_utf8(body.to_vec()).unwrap();
    jobs.push(RawValue::from_string(body).unwrap()).await.unwrap();
}

/// As [`claims::rate`](crate::claims::rate): stores jobs, and counts how many a worker claims, reads and completes in a second.
pub(crate) async fn rate(folder: &Path, concurrency: u16) -> f64 {
    let jobs = open(folder).await;
    let mut senders = JoinSet::new();
    for _ in 0..64 {
        let mut jobs = jobs.clone();
        senders.spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..ENTRIES.div_ceil(64) {
                add(&mut jobs, &workable(16 * 1024, &mut random).bytes).await;
            }
        });
    }
    senders.join_all().await;
    let pending = ENTRIES.div_ceil(64) * 64;

    let handled = Arc::new(AtomicU64::new(0));
    let handler = move |body: Box<RawValue>, worker: WorkerContext| {
        // The inbox decodes an article before it calls the handler.
        let decoded = ArticleResult::from_json_with_drift(body.get().as_bytes());
        let is_last = handled.fetch_add(1, Relaxed) + 1 == pending;
        async move {
            if is_last {
                worker.stop()?;
            }
            decoded.map(|_| ()).map_err(BoxDynError::from)
        }
    };
    let config = BackendConfig::config(&jobs).clone().batch_size(usize::from(concurrency).max(10));
    let start = Instant::now();
    let worker = WorkerBuilder::new("peer").backend(jobs.with_config(config));
    // It ends once what it began is completed.
    worker.concurrency(concurrency.into()).build(handler).run().await.unwrap();
    let rate = pending as f64 / start.elapsed().as_secs_f64();
    let done = "SELECT count(*) FROM Jobs WHERE status = 'Done'";
    let done: i64 = sqlx::query_scalar(done).fetch_one(&pool(folder).await).await.unwrap();
    assert_eq!(done.unsigned_abs(), pending);
    rate
}
