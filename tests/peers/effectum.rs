//! Jobs in Effectum, a queue that commits in groups, as the inbox does. It knows no job twice: a job is stored under an id that
//! is made for it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use ::effectum::{Job, JobRunner, Queue, RunningJob, Worker};
use article_webhook::ArticleResult;
use tokio::{sync::Notify, task::JoinSet};

use crate::{bodies::workable, claims::ENTRIES};

const JOB_TYPE: &str = "article";

pub(crate) async fn open(folder: &Path) -> Queue {
    Queue::new(&folder.join("effectum.db")).await.unwrap()
}

/// Returns once the job is on disk.
pub(crate) async fn add(queue: &Queue, body: &[u8]) {
    Job::builder(JOB_TYPE).payload(body.to_vec()).add_to(queue).await.unwrap();
}

/// As [`claims::rate`](crate::claims::rate): stores jobs, and counts how many a worker claims, reads and completes in a second.
pub(crate) async fn rate(folder: &Path, concurrency: u16) -> f64 {
    let queue = Arc::new(open(folder).await);
    let mut senders = JoinSet::new();
    for _ in 0..64 {
        let queue = Arc::clone(&queue);
        senders.spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..ENTRIES.div_ceil(64) {
                add(&queue, &workable(16 * 1024, &mut random).bytes).await;
            }
        });
    }
    senders.join_all().await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let pending = queue.num_active_jobs().await.unwrap().pending;

    let (handled, all) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let handler = {
        let all = Arc::clone(&all);
        move |job: RunningJob, ()| {
            // The inbox decodes an article before it calls the handler.
            let decoded = ArticleResult::from_json_with_drift(&job.payload);
            if handled.fetch_add(1, Relaxed) + 1 == pending {
                all.notify_one();
            }
            async move { decoded.map(|_| ()) }
        }
    };
    let start = Instant::now();
    let worker = Worker::builder(&queue, ())
        .jobs([JobRunner::builder(JOB_TYPE, handler).build()])
        .max_concurrency(concurrency)
        .build()
        .await
        .unwrap();
    all.notified().await;
    // It ends once what it began is completed.
    worker.unregister(None).await.unwrap();
    let rate = pending as f64 / start.elapsed().as_secs_f64();
    let left = queue.num_active_jobs().await.unwrap();
    assert_eq!((left.pending, left.running), (0, 0));
    queue.close(Duration::from_secs(10)).await.unwrap();
    rate
}
