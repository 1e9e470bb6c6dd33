//! How soon a worker finds what another node has stored.

use std::io::Cursor;
use std::time::{Duration, Instant};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Filter, Inbox, State};
use tokio::sync::mpsc;

use crate::{
    Scene,
    scene::{self, wait},
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
    /// Its nodes have the name of its schema.
    scene: Scene,
}

impl Nodes {
    fn start() -> Option<Self> {
        let scene = Scene::shared()?;
        let name = scene.schema.clone();
        let scene = scene.with(|settings| settings.node(&name).unwrap());
        let [receiver, worker] = [scene.store(), scene.store()].map(Inbox::new);
        let (task, handled) = wait(async { scene::work(&worker, HOUR) });
        Some(Self { receiver, worker, handled, task, scene })
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
    let Some(mut nodes) = Nodes::start() else { return };
    wait(async move {
        for job in ["job_1", "job_2", "job_3"] {
            let stored = Instant::now();
            nodes.deliver(job).await;
            nodes.handles(job).await;
            let again = fixture::complete().job_id(job).delivery().unwrap();
            assert_eq!(nodes.worker.accept(again).await, Reply::Duplicate);
            eprintln!("postgres: {job} was handled after {:?}", stored.elapsed());
        }

        // It listens again after its connections were lost.
        let of_nodes = format!("application_name = 'article_inbox {}'", nodes.scene.schema);
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE";
        nodes.scene.run(&format!("{kill} {of_nodes}"));
        let delivery = || fixture::complete().job_id("job_4").delivery().unwrap();
        while nodes.receiver.accept(delivery()).await == Reply::Unavailable {}
        nodes.handles("job_4").await;
        assert_eq!(nodes.worker.counts().await.unwrap().of(State::Waiting), 0);
        nodes.task.abort();
    });
}

#[test]
fn a_worker_hears_of_what_another_node_has_requeued_and_imported() {
    let Some(mut nodes) = Nodes::start() else { return };
    wait(async move {
        nodes.deliver("job_1").await;
        nodes.handles("job_1").await;
        let done = Filter { state: Some(State::Done), ..Filter::default() };
        while nodes.receiver.counts().await.unwrap().of(State::Done) == 0 {}
        // The program of an operator ends at once.
        let requeues = Inbox::new(nodes.scene.store());
        assert_eq!(requeues.requeue_all(done).await.unwrap().count, 1);
        requeues.close().await.unwrap();
        nodes.handles("job_1").await;

        let elsewhere = Inbox::memory();
        let delivery = fixture::complete().job_id("job_2").delivery().unwrap();
        assert_eq!(elsewhere.accept(delivery).await, Reply::Stored);
        let mut lines = Vec::new();
        elsewhere.export(&mut lines).await.unwrap();
        let imports = Inbox::new(nodes.scene.store());
        assert_eq!(imports.import(Cursor::new(&lines)).await.unwrap().added, 1);
        imports.close().await.unwrap();
        nodes.handles("job_2").await;
        nodes.task.abort();
    });
}
