//! Applications that keep their rows with sqlx or SeaORM, in SQLite or in PostgreSQL, and take in the inbox. The application
//! migrates its tables and writes its rows, and the inbox stores a delivery, hands it out and completes it.

#![allow(clippy::unwrap_used)] // a database that does not answer fails its test

#[path = "../../../crates/article-webhook-postgres/tests/common/server.rs"]
mod server;

mod articles;

use std::path::Path;

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job, State};
use sea_orm_migration::{
    MigratorTrait as _,
    sea_orm::{
        ActiveValue::Set, ConnectionTrait as _, Database, DatabaseConnection, DbBackend,
        EntityTrait as _, Statement, TransactionTrait as _,
    },
};
use server::Server;
use sqlx::{PgPool, SqlitePool, migrate::Migrator, query, query_scalar};
use tempfile::tempdir;

const INSERT: &str =
    "INSERT INTO articles (id, job_id) VALUES ($1, $2) ON CONFLICT (job_id) DO NOTHING";
const JOBS: &str = "SELECT job_id FROM articles";

#[tokio::test]
async fn sqlx_in_sqlite() {
    let folder = tempdir().unwrap();
    let pool = SqlitePool::connect(&in_sqlite(folder.path())).await.unwrap();
    migrations().await.run(&pool).await.unwrap();
    let inbox = Inbox::open(folder.path().join("inbox.db")).await.unwrap();
    let rows = pool.clone();
    work(&inbox, move |job| {
        let rows = rows.clone();
        async move {
            query(INSERT).bind(1).bind(job.job_id().as_str()).execute(&rows).await?;
            Ok(())
        }
    })
    .await;
    migrations().await.run(&pool).await.unwrap();
    assert_eq!(query_scalar::<_, String>(JOBS).fetch_all(&pool).await.unwrap(), ["job_1"]);
}

#[tokio::test]
async fn sqlx_in_postgres() {
    let Some(server) = Server::start(&[]) else { return };
    let pool = PgPool::connect(&server.url()).await.unwrap();
    migrations().await.run(&pool).await.unwrap();
    let inbox = article_webhook_postgres::connect(&server.url()).await.unwrap();
    let rows = pool.clone();
    work(&inbox, move |job| {
        let rows = rows.clone();
        async move {
            query(INSERT).bind(1).bind(job.job_id().as_str()).execute(&rows).await?;
            Ok(())
        }
    })
    .await;
    // Neither minds the other's tables when it starts again.
    migrations().await.run(&pool).await.unwrap();
    article_webhook_postgres::connect(&server.url()).await.unwrap().close().await.unwrap();
    assert_eq!(query_scalar::<_, String>(JOBS).fetch_all(&pool).await.unwrap(), ["job_1"]);
}

#[tokio::test]
async fn sea_orm_in_sqlite() {
    let folder = tempdir().unwrap();
    let database = Database::connect(in_sqlite(folder.path())).await.unwrap();
    articles::Migrator::up(&database, None).await.unwrap();
    let inbox = Inbox::open(folder.path().join("inbox.db")).await.unwrap();
    let rows = database.clone();
    work(&inbox, move |job| {
        let rows = rows.clone();
        async move {
            articles::Entity::insert(article(&job)).exec(&rows).await?;
            Ok(())
        }
    })
    .await;
    articles::Migrator::up(&database, None).await.unwrap();
    assert_eq!(jobs(&database).await, ["job_1"]);
}

#[tokio::test]
async fn sea_orm_in_postgres() {
    let Some(server) = Server::start(&[]) else { return };
    let database = Database::connect(server.url()).await.unwrap();
    articles::Migrator::up(&database, None).await.unwrap();
    let inbox = article_webhook_postgres::connect(&server.url()).await.unwrap();
    let rows = database.clone();
    work(&inbox, move |job| {
        let rows = rows.clone();
        async move { publish(&job, &rows).await }
    })
    .await;
    articles::Migrator::up(&database, None).await.unwrap();
    article_webhook_postgres::connect(&server.url()).await.unwrap().close().await.unwrap();
    assert_eq!(jobs(&database).await, ["job_1"]);
}

/// The row is written in the transaction that completes the job.
async fn publish(job: &Job, database: &DatabaseConnection) -> Result<(), Failed> {
    let transaction = database.begin().await?;
    articles::Entity::insert(article(job)).exec(&transaction).await?;
    let completion = job.completion()?;
    let values = completion.parameters().iter().map(|value| (*value).into());
    let complete = Statement::from_sql_and_values(DbBackend::Postgres, completion.sql(), values);
    #[cfg(feature = "sea-orm-1")]
    let completed = transaction.execute(complete).await?;
    #[cfg(feature = "sea-orm-2")]
    let completed = transaction.execute_raw(complete).await?;
    completion.check(completed.rows_affected())?;
    Ok(transaction.commit().await?)
}

fn article(job: &Job) -> articles::ActiveModel {
    articles::ActiveModel { id: Set(1), job_id: Set(job.job_id().to_string()) }
}

async fn jobs(database: &DatabaseConnection) -> Vec<String> {
    let rows = articles::Entity::find().all(database).await.unwrap();
    rows.into_iter().map(|row| row.job_id).collect()
}

fn in_sqlite(folder: &Path) -> String {
    format!("sqlite:{}?mode=rwc", folder.join("application.db").display())
}

async fn migrations() -> Migrator {
    Migrator::new(Path::new("migrations")).await.unwrap()
}

/// A delivery is stored, stored once, handled and completed.
async fn work<H, F>(inbox: &Inbox, handler: H)
where
    H: Fn(Job) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), Failed>> + Send + 'static,
{
    let delivery = || fixture::complete().job_id("job_1").delivery().expect("it is a good one");
    assert_eq!(inbox.accept(delivery()).await, Reply::Stored);
    assert_eq!(inbox.accept(delivery()).await, Reply::Duplicate);
    inbox.worker(handler).run_until_idle().await.unwrap();
    let counts = inbox.counts().await.unwrap();
    assert_eq!((counts.of(State::Done), counts.total()), (1, 1));
    inbox.close().await.unwrap();
}
