//! A sink of your own: each delivery is a row of the application's table in PostgreSQL before it is answered. The table's
//! key makes a repeated delivery a duplicate, and after an error the service delivers again.
//!
//! `DATABASE_URL` names the database. Without it the program starts a server of its own. What it creates is removed at the
//! end.
#![allow(clippy::print_stdout, clippy::print_stderr)] // its output is what the program is for

#[allow(clippy::unwrap_used, reason = "a server that does not start ends the program")]
#[path = "../crates/article-webhook-postgres/tests/common/server.rs"]
mod server;

use std::{env, error::Error, process};

use article_webhook_axum::{Delivery, Reply, Sink, fixture};
use tokio_postgres::{Client, Config, NoTls};

/// One row for each job and event, with the bytes of the body as they came: `jsonb` would not keep them.
const TABLE: &str = "CREATE TABLE articles (
    job_id text, event text, target text NOT NULL, body bytea NOT NULL,
    received timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (job_id, event))";

const INSERT: &str = "INSERT INTO articles (job_id, event, target, body) VALUES ($1, $2, $3, $4)
    ON CONFLICT (job_id, event) DO NOTHING";

/// The sink. `receive(receiver, articles)` mounts it.
struct Articles {
    database: Config,
}

impl Articles {
    async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.database.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Whether the delivery is a new row.
    async fn insert(&self, delivery: &Delivery) -> Result<bool, tokio_postgres::Error> {
        let client = self.connect().await?; // an application has a pool
        let (job_id, event) = (delivery.job_id().as_str(), delivery.event().as_str());
        let (target, body) = (delivery.target(), &delivery.body()[..]);
        // A statement outside of a transaction has been committed when it returns.
        let rows = client.execute(INSERT, &[&job_id, &event, &target, &body]).await?;
        Ok(rows == 1)
    }
}

impl Sink for Articles {
    async fn accept(&self, delivery: Delivery) -> Reply {
        match self.insert(&delivery).await {
            Ok(true) => Reply::Stored,
            Ok(false) => Reply::Duplicate,
            Err(error) => Reply::retry_because(&error), // 503: the service delivers again
        }
    }
}

async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let schema = format!("sink_example_{}", process::id());
    let mut database: Config = url.parse()?;
    database.options(format!("-c search_path={schema}"));
    let articles = Articles { database };
    let client = articles.connect().await?;
    client.batch_execute(&format!("CREATE SCHEMA {schema}; {TABLE}")).await?;

    let deliver = async |job_id: &str| {
        let post = fixture::complete().job_id(job_id);
        let delivery = fixture::receiver().open(post.headers())?.read(post.bytes().clone())?;
        println!("{job_id}  {:?}", articles.accept(delivery).await);
        Ok::<_, Box<dyn Error>>(())
    };
    deliver("job_1").await?;
    deliver("job_2").await?;
    deliver("job_1").await?;
    client.batch_execute("ALTER TABLE articles RENAME TO missing").await?;
    deliver("job_3").await?;
    client.batch_execute("ALTER TABLE missing RENAME TO articles").await?;
    deliver("job_3").await?;

    let count = client.query_one("SELECT count(*) FROM articles", &[]).await?;
    println!("{} rows", count.get::<_, i64>(0));
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
