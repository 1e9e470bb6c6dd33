//! One inbox for two machines, in PostgreSQL: two receivers and two workers in one program. An article is stored once,
//! whichever of them receives it, and handled by one of the workers. Its row in the application's table is written in the
//! transaction that completes the job.
//!
//! `DATABASE_URL` names the database. Without it the program starts a server of its own. What it creates is removed at the
//! end.
#![allow(clippy::print_stdout, clippy::print_stderr)] // its output is what the program is for

#[allow(clippy::unwrap_used, reason = "a server that does not start ends the program")]
#[path = "../crates/article-webhook-postgres/tests/common/server.rs"]
mod server;

use std::{env, error::Error, process, sync::Arc, time::Duration};

use article_webhook_axum::{Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use tokio::sync::{mpsc, watch};
use tokio_postgres::{Client, NoTls};

const JOBS: [&str; 6] = ["job_1", "job_2", "job_3", "job_4", "job_5", "job_6"];

/// The application's side: where its table is.
struct Application {
    url: String,
    schema: String,
}

impl Application {
    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Stores the article and completes the job, or does neither.
    async fn store(&self, job: &Job) -> Result<(), Failed> {
        let mut client = self.connect().await?; // an application has a pool
        let transaction = client.transaction().await?;
        let row = format!("INSERT INTO {}.articles (job_id, title) VALUES ($1, $2)", self.schema);
        let (id, title) = (job.job_id().as_str(), &job.article()?.article.title);
        transaction.execute(&row, &[&id, title]).await?;
        let completion = job.completion()?;
        let changed = transaction.execute_raw(completion.sql(), completion.parameters()).await?;
        completion.check(changed)?; // an error: another node has the job, and this transaction is rolled back
        Ok(transaction.commit().await?)
    }
}

/// Works on one node until it is asked to stop.
async fn work(
    node: &'static str,
    inbox: Inbox,
    application: Arc<Application>,
    done: mpsc::UnboundedSender<()>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), article_webhook_inbox::Error> {
    let handler = move |job: Job| {
        let (application, done) = (Arc::clone(&application), done.clone());
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await; // as long as it takes to publish
            application.store(&job).await?;
            println!("{node}  handles   {}", job.job_id().as_str().escape_debug());
            Ok(done.send(())?)
        }
    };
    let stopped = async move { stop.wait_for(|stop| *stop).await.is_ok() };
    inbox.worker(handler).concurrency(1).run(stopped).await
}

async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let schema = format!("inbox_example_{}", process::id());
    let settings = PostgresSettings::new(url)?.schema(&schema)?;
    let nodes = [
        ("node 1", Inbox::new(PostgresStore::connect(settings.clone()).await?)),
        ("node 2", Inbox::new(PostgresStore::connect(settings).await?)),
    ];
    let application = Arc::new(Application { url: url.to_owned(), schema: schema.clone() });
    let client = application.connect().await?;
    // This table allows a second row for a job.
    let table = format!("CREATE TABLE {schema}.articles (job_id text, title text)");
    client.batch_execute(&table).await?;

    // The service delivers each article to one of them, and repeats the first two at the other.
    let (first, second) = (&nodes[0], &nodes[1]);
    let to = JOBS.into_iter().zip([first, second].into_iter().cycle());
    for (job_id, (node, inbox)) in to.chain([(JOBS[0], second), (JOBS[1], first)]) {
        let post = fixture::complete().job_id(job_id);
        let delivery = fixture::receiver().open(post.headers())?.read(post.bytes().clone())?;
        println!("{node}  receives  {job_id}  {:?}", inbox.accept(delivery).await);
    }

    let (done, mut all_done) = mpsc::unbounded_channel();
    let (stop, stopped) = watch::channel(false);
    let workers = nodes.each_ref().map(|(node, inbox)| {
        let application = Arc::clone(&application);
        tokio::spawn(work(node, inbox.clone(), application, done.clone(), stopped.clone()))
    });
    drop(done); // should both workers fail, this does not wait for them
    for _ in JOBS {
        all_done.recv().await;
    }
    stop.send_replace(true);
    for worker in workers {
        worker.await??;
    }
    for (_, inbox) in nodes {
        inbox.close().await?;
    }

    let count = format!("SELECT count(*), count(DISTINCT job_id) FROM {schema}.articles");
    let count = client.query_one(&count, &[]).await?;
    println!("{} rows of {} articles", count.get::<_, i64>(0), count.get::<_, i64>(1));
    client.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Ok(url) = env::var("DATABASE_URL") {
        return run(&url).await;
    }
    if server::programs().is_none() {
        eprintln!(
            "error: there is no PostgreSQL to try it with

Install the package postgresql, or name a database, as in DATABASE_URL=postgresql://blog:secret@127.0.0.1/blog
"
        );
        process::exit(2)
    }
    // A server that does not start has reported why.
    let server = server::Server::start(&[]).ok_or("the server does not start")?;
    run(&server.url()).await
}
