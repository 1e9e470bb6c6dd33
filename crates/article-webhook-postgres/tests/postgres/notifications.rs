//! How soon a worker finds what another node has stored.

use std::io::Cursor;
use std::time::{Duration, Instant};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job, State};
use article_webhook_postgres::PostgresStore;
use tokio::sync::mpsc;

use crate::{
    fresh,
    scene::{self, wait},
    server::shared_url,
};

/// A poll that no test reaches.
const HOUR: Duration = Duration::from_secs(3600);

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A node that receives, and another that works.
struct Nodes {
    receiver: Inbox,
    worker: Inbox,
    handled: mpsc::UnboundedReceiver<String>,
    task: tokio::task::JoinHandle<()>,
    /// The name of their connections.
    name: String,
}

impl Nodes {
    async fn start(url: &str, poll: Duration) -> Self {
        let name = scene::fresh_schema();
        let settings = fresh(&format!("{url}?application_name={name}"));
        let [receiver, worker] = [
            PostgresStore::connect(settings.clone()).await.unwrap(),
            PostgresStore::connect(settings).await.unwrap(),
        ]
        .map(Inbox::new);
        let (said, handled) = mpsc::unbounded_channel();
        let handler = move |job: Job| {
            let said = said.clone();
            async move { Ok::<(), Failed>(said.send(job.job_id().as_str().to_owned())?) }
        };
        let run = worker.worker(handler).poll(poll).run(std::future::pending::<()>());
        let task = tokio::spawn(async move { run.await.unwrap() });
        Self { receiver, worker, handled, task, name }
    }

    async fn deliver(&self, job: &str) {
        let delivery = fixture::complete().job_id(job).delivery().unwrap();
        assert_eq!(self.receiver.accept(delivery).await, Reply::Stored);
    }

    async fn handles(&mut self, job: &str) {
        let handled = tokio::time::timeout(PATIENCE, self.handled.recv()).await;
        assert_eq!(handled.expect("the worker finds it").as_deref(), Some(job));
    }
}

#[test]
fn a_worker_hears_of_what_another_node_has_stored() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let mut nodes = Nodes::start(&url, HOUR).await;
        for job in ["job_1", "job_2", "job_3"] {
            let stored = Instant::now();
            nodes.deliver(job).await;
            nodes.handles(job).await;
            eprintln!("postgres: {job} was handled after {:?}", stored.elapsed());
        }

        // It listens again after its connections were lost.
        let kill = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{}'",
            nodes.name
        );
        scene::connect(&url).await.batch_execute(&kill).await.unwrap();
        let delivery = || fixture::complete().job_id("job_4").delivery().unwrap();
        while nodes.receiver.accept(delivery()).await == Reply::Unavailable {}
        nodes.handles("job_4").await;
        assert_eq!(nodes.worker.counts().await.unwrap().of(State::Waiting), 0);
        nodes.task.abort();
    });
}

/// Nothing is notified of what is imported.
#[test]
fn a_worker_finds_without_a_notification_what_another_node_has_stored() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let mut nodes = Nodes::start(&url, Duration::from_millis(500)).await;
        nodes.deliver("job_1").await;
        nodes.handles("job_1").await;
        // Then everything has been notified that will be.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let elsewhere = Inbox::memory();
        let delivery = fixture::complete().job_id("job_2").delivery().unwrap();
        assert_eq!(elsewhere.accept(delivery).await, Reply::Stored);
        let mut lines = Vec::new();
        elsewhere.export(&mut lines).await.unwrap();
        assert_eq!(nodes.receiver.import(Cursor::new(&lines)).await.unwrap().added, 1);
        nodes.handles("job_2").await;
        nodes.task.abort();
    });
}
