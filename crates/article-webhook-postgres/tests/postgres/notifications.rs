//! How soon a worker finds what another node has stored.

use std::io::Cursor;
use std::time::{Duration, Instant};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Filter, Inbox, State};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio::sync::mpsc;

use crate::{
    fresh,
    scene::{self, wait},
    server::shared_url,
};

/// A poll that no test reaches.
const HOUR: Duration = Duration::from_secs(3600);

/// How long anything may take on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A node that receives, and another that works.
struct Nodes {
    receiver: Inbox,
    worker: Inbox,
    handled: mpsc::UnboundedReceiver<String>,
    task: tokio::task::AbortHandle,
    /// The name of their connections.
    name: String,
    settings: PostgresSettings,
}

impl Nodes {
    async fn start(url: &str) -> Self {
        let name = scene::fresh_schema();
        let settings = fresh(&format!("{url}?application_name={name}"));
        let [receiver, worker] = [
            PostgresStore::connect(settings.clone()).await.unwrap(),
            PostgresStore::connect(settings.clone()).await.unwrap(),
        ]
        .map(Inbox::new);
        let (task, handled) = scene::work(&worker, HOUR);
        Self { receiver, worker, handled, task, name, settings }
    }

    async fn deliver(&self, job: &str) {
        let delivery = fixture::complete().job_id(job).delivery().unwrap();
        assert_eq!(self.receiver.accept(delivery).await, Reply::Stored);
    }

    async fn handles(&mut self, job: &str) {
        let handled = tokio::time::timeout(TIMEOUT, self.handled.recv()).await;
        assert_eq!(handled.expect("the worker finds it").as_deref(), Some(job));
    }
}

#[test]
fn a_worker_hears_of_what_another_node_has_stored() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let mut nodes = Nodes::start(&url).await;
        for job in ["job_1", "job_2", "job_3"] {
            let stored = Instant::now();
            nodes.deliver(job).await;
            nodes.handles(job).await;
            let again = fixture::complete().job_id(job).delivery().unwrap();
            assert_eq!(nodes.worker.accept(again).await, Reply::Duplicate);
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

#[test]
fn a_worker_hears_of_what_another_node_has_requeued_and_imported() {
    let Some(url) = shared_url() else { return };
    wait(async move {
        let mut nodes = Nodes::start(&url).await;
        nodes.deliver("job_1").await;
        nodes.handles("job_1").await;
        let done = Filter { state: Some(State::Done), ..Filter::default() };
        while nodes.receiver.counts().await.unwrap().of(State::Done) == 0 {}
        // The program of an operator ends at once.
        let settings = nodes.settings.clone();
        let operator = async || Inbox::new(PostgresStore::connect(settings.clone()).await.unwrap());
        let requeues = operator().await;
        assert_eq!(requeues.requeue_all(done).await.unwrap().count, 1);
        requeues.close().await.unwrap();
        nodes.handles("job_1").await;

        let elsewhere = Inbox::memory();
        let delivery = fixture::complete().job_id("job_2").delivery().unwrap();
        assert_eq!(elsewhere.accept(delivery).await, Reply::Stored);
        let mut lines = Vec::new();
        elsewhere.export(&mut lines).await.unwrap();
        let imports = operator().await;
        assert_eq!(imports.import(Cursor::new(&lines)).await.unwrap().added, 1);
        imports.close().await.unwrap();
        nodes.handles("job_2").await;
        nodes.task.abort();
    });
}
