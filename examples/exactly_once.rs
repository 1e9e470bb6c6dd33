//! Effects that happen exactly once, although a handler runs at least once: they are rows in the inbox's own file,
//! written in the transaction that completes the job. If the lease was lost meanwhile, the transaction is rolled
//! back.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{
    error::Error,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use article_webhook_axum::{Sink, fixture};
use article_webhook_inbox::{Clock, Failed, Inbox, Job, SqliteSettings, SqliteStore};
use rusqlite::{Connection, TransactionBehavior, params_from_iter};
use tokio::sync::mpsc;

/// Stores the article and completes the job, or does neither.
fn store(job: &Job, application: &mut Connection, clock: &Clock) -> Result<(), Failed> {
    let (id, title) = (job.job_id().as_str(), &job.article()?.article.title);
    // From here to the commit no other connection can write, not even a worker that claims. Keep it short.
    let transaction = application.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("INSERT INTO articles (job_id, title) VALUES (?1, ?2)", (id, title))?;
    if id == "job_2" && job.attempt() == 1 {
        clock.advance(Duration::from_secs(120)); // as if the machine slept: the lease lasts a minute
    }
    let completion = job.completion()?;
    let parameters = params_from_iter(completion.parameters());
    // If the lease was lost, and with it the right to the job, the transaction is rolled back.
    completion.check(transaction.execute(completion.sql(), parameters)?)?;
    Ok(transaction.commit()?)
}

/// The application's own connection to the inbox's file. Only the inbox may move its log into the file.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
    // This table allows a second row for a job.
    connection.execute_batch("CREATE TABLE IF NOT EXISTS articles (job_id TEXT, title TEXT)")?;
    Ok(connection)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("inbox.db");
    let clock = Clock::stepped(SystemTime::now()); // leave it out: the system's is the default
    let settings = SqliteSettings::default().clock(clock.clone());
    let inbox = Inbox::new(SqliteStore::open_with(&path, settings)?);
    let application = Arc::new(Mutex::new(connect(&path)?));

    for job_id in ["job_1", "job_2"] {
        let post = fixture::complete().job_id(job_id);
        let delivery = fixture::receiver().open(post.headers())?.read(post.bytes().clone())?;
        println!("{job_id}  {:?}", inbox.accept(delivery).await);
    }

    let (done, mut all_done) = mpsc::unbounded_channel();
    let writer = Arc::clone(&application);
    let handler = move |job: Job| {
        let (application, clock, done) = (Arc::clone(&writer), clock.clone(), done.clone());
        async move {
            let mut application = application.lock().expect("no holder of the lock panics");
            let stored = store(&job, &mut application, &clock);
            let end = if stored.is_ok() { "article stored, job done" } else { "rolled back" };
            println!("{}  attempt {}  {end}", job.job_id().as_str().escape_debug(), job.attempt());
            stored?;
            Ok(done.send(())?)
        }
    };
    let both = async move { (all_done.recv().await, all_done.recv().await) };
    inbox.worker(handler).concurrency(1).poll(Duration::from_millis(10)).run(both).await?;
    inbox.close().await?;

    let count = "SELECT job_id, count(*) FROM articles GROUP BY job_id";
    let application = application.lock().expect("no holder of the lock panics");
    let mut rows = application.prepare(count)?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        println!("{}  {} row", row.get::<_, String>(0)?, row.get::<_, i64>(1)?);
    }
    Ok(())
}
