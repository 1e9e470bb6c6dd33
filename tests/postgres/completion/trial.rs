use std::{future::ready, sync::Arc};

use article_webhook_inbox::{Failed, Inbox, Job, State};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use article_webhook::{Reply, Sink, fixture};
use tokio::sync::mpsc;

use crate::{application::Application, scene, server::shared_url};

/// Two nodes and an application, with a schema of their own.
struct Trial<A> {
    nodes: [Inbox; 2],
    application: A,
    /// A connection beside them.
    client: tokio_postgres::Client,
    schema: String,
}

impl<A: Application> Trial<A> {
    async fn new(url: &str) -> Self {
        let schema = scene::fresh_schema();
        let settings = PostgresSettings::new(url).unwrap().schema(&schema).unwrap();
        let first = PostgresStore::connect(settings.clone()).await.unwrap();
        let second = PostgresStore::connect(settings).await.unwrap();
        let nodes = [first, second].map(Inbox::new);
        let url = format!("{url}?options=-csearch_path%3D{schema}");
        let client = scene::connect(&url).await;
        client.batch_execute("CREATE TABLE articles (job_id text, attempt bigint)").await.unwrap();
        let delivery = fixture::complete().job_id("job_1").delivery().unwrap();
        assert_eq!(nodes[0].accept(delivery).await, Reply::Stored);
        Self { nodes, application: A::connect(&url).await, client, schema }
    }

    /// The job and the attempt of each row of the application.
    async fn rows(&self) -> Vec<(String, i64)> {
        let rows = self.client.query("SELECT job_id, attempt FROM articles", &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    async fn end(self) {
        let counts = self.nodes[0].counts().await.unwrap();
        assert_eq!((counts.of(State::Done), counts.total()), (1, 1));
        for node in self.nodes {
            node.close().await.unwrap();
        }
        let drop = format!("DROP SCHEMA {} CASCADE", self.schema);
        self.client.batch_execute(&drop).await.unwrap();
    }
}

/// The article is inserted, and the job completed.
pub(crate) fn won<A: Application>() {
    let Some(url) = shared_url() else { return };
    scene::wait(async move {
        let trial = Trial::<A>::new(&url).await;
        let application = trial.application.clone();
        let handler = move |job: Job| {
            let application = application.clone();
            async move { application.publish(&job, ready(())).await }
        };
        trial.nodes[1].worker(handler).run_until_idle().await.unwrap();
        assert_eq!(trial.rows().await, [("job_1".to_owned(), 1)]);
        trial.end().await;
    });
}

/// The first worker's lease ends while its transaction is open, and another worker completes the job. The first one's row
/// is rolled back.
pub(crate) fn lost<A: Application>() {
    let Some(url) = shared_url() else { return };
    scene::wait(async move {
        let trial = Trial::<A>::new(&url).await;
        let (ended, mut endings) = mpsc::unbounded_channel();
        let slow = Arc::new(Slow {
            application: trial.application.clone(),
            other: trial.nodes[1].clone(),
            // As if the machine slept for longer than the lease.
            expire: format!("UPDATE {}.article_inbox_entries SET lease_end = 0", trial.schema),
            client: scene::connect(&url).await,
            ended,
        });
        let handler = move |job: Job| {
            let slow = Arc::clone(&slow);
            async move { slow.publish(&job).await }
        };
        // One at once: a node that may run two would take the job again itself.
        trial.nodes[0].worker(handler).concurrency(1).run_until_idle().await.unwrap();
        assert_eq!(endings.recv().await.unwrap(), (2, None));
        let lost = Some("the lease is lost: roll back".to_owned());
        assert_eq!(endings.recv().await.unwrap(), (1, lost));
        assert_eq!(trial.rows().await, [("job_1".to_owned(), 2)]);
        trial.end().await;
    });
}

/// A handler whose lease ends before its transaction does.
struct Slow<A> {
    application: A,
    other: Inbox,
    expire: String,
    client: tokio_postgres::Client,
    /// The number of each attempt that ends, and why it failed.
    ended: mpsc::UnboundedSender<(u32, Option<String>)>,
}

impl<A: Application> Slow<A> {
    async fn publish(self: &Arc<Self>, job: &Job) -> Result<(), Failed> {
        let published = self.application.publish(job, self.overtake()).await;
        self.end(job, published)
    }

    /// The lease ends, and the other node's worker takes the job.
    async fn overtake(self: &Arc<Self>) {
        assert_eq!(self.client.execute(&self.expire, &[]).await.unwrap(), 1);
        let slow = Arc::clone(self);
        let handler = move |job: Job| {
            let slow = Arc::clone(&slow);
            async move {
                let published = slow.application.publish(&job, ready(())).await;
                slow.end(&job, published)
            }
        };
        self.other.worker(handler).run_until_idle().await.unwrap();
    }

    fn end(&self, job: &Job, published: Result<(), Failed>) -> Result<(), Failed> {
        let cause = published.as_ref().err().map(ToString::to_string);
        self.ended.send((job.attempt(), cause)).unwrap();
        published
    }
}
