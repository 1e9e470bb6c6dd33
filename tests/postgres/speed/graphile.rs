use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use article_webhook::fixture;
use graphile_worker::{
    IntoTaskHandlerResult, JobSpec, LocalQueueConfig, RawJobSpec, TaskHandler, WorkerContext,
    WorkerOptions,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// How the crate is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Each job is fetched and completed by itself, before the next.
    Plain,
    /// Jobs are fetched ahead, and completions are kept in memory for a while.
    Queue,
}

#[derive(Clone, Deserialize, Serialize)]
struct Article {
    body: serde_json::Value,
}

#[derive(Clone, Debug)]
struct Handled(Arc<(AtomicUsize, Notify, usize)>);

impl TaskHandler for Article {
    const IDENTIFIER: &'static str = "article";

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        assert!(self.body.is_object());
        let Handled(shared) = context.get_ext::<Handled>().unwrap();
        let (handled, all, entries) = &**shared;
        if handled.fetch_add(1, Relaxed) + 1 == *entries {
            all.notify_one();
        }
        Ok::<(), String>(())
    }
}

/// How many jobs a worker fetches and completes in a second.
pub(crate) async fn rate(url: &str, way: Way, concurrency: u32, entries: usize) -> f64 {
    let handled = Handled(Arc::new((AtomicUsize::new(0), Notify::new(), entries)));
    let mut options = WorkerOptions::default()
        .concurrency(concurrency as usize)
        .schema("graphile_worker")
        .database_url(url)
        .max_pg_conn(concurrency + 4)
        .poll_interval(Duration::from_millis(10))
        .add_extension(handled.clone())
        .define_job::<Article>();
    if way == Way::Queue {
        options = options
            .local_queue(LocalQueueConfig::default().with_size(concurrency as usize * 4))
            .complete_job_batch_delay(Duration::from_millis(5));
    }
    let worker = Arc::new(options.init().await.unwrap());
    let jobs: Vec<_> = (0..entries)
        .map(|seed| {
            let article = fixture::generated(seed as u64 % 64, 16 * 1024);
            let body: serde_json::Value = serde_json::from_slice(article.bytes()).unwrap();
            RawJobSpec {
                identifier: "article".into(),
                payload: serde_json::json!({ "body": body }),
                spec: JobSpec::default(),
            }
        })
        .collect();
    for jobs in jobs.chunks(500) {
        worker.create_utils().add_raw_jobs(jobs).await.unwrap();
    }
    let start = Instant::now();
    let running = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { worker.run().await }
    });
    handled.0.1.notified().await;
    // It stops once what it began is completed, as the inbox does.
    worker.request_shutdown();
    running.await.unwrap().unwrap();
    entries as f64 / start.elapsed().as_secs_f64()
}
