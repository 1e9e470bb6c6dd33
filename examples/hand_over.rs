//! Passes articles to the application's own job queue: here a table, elsewhere any queue that deduplicates jobs by a
//! key. A handler may run twice for an article; the queue has it once.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{
    error::Error,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use article_webhook_axum::{Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job};
use rusqlite::Connection;
use tokio::sync::mpsc;

/// The application's queue, outside the inbox's database: no transaction spans both.
#[derive(Clone)]
struct Queue(Arc<Mutex<Connection>>);

impl Queue {
    fn new(connection: Connection) -> rusqlite::Result<Self> {
        connection.execute_batch("CREATE TABLE jobs (key TEXT PRIMARY KEY, payload BLOB)")?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Adds a job unless there is one with this key. Returns whether it was new.
    fn push(&self, key: &str, payload: &[u8]) -> rusqlite::Result<bool> {
        let insert = "INSERT INTO jobs (key, payload) VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING";
        Ok(self.connection().execute(insert, (key, payload))? == 1)
    }

    fn len(&self) -> rusqlite::Result<i64> {
        self.connection().query_row("SELECT count(*) FROM jobs", [], |row| row.get(0))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

/// The handler runs in a thread of its own, where it may block.
fn hand_over(job: &Job, queue: &Queue) -> Result<(), Failed> {
    let (id, attempt) = (job.job_id().as_str(), job.attempt());
    let is_new = queue.push(id, job.body())?;
    let outcome = if is_new { "pushed to the queue" } else { "is in the queue already" };
    println!("attempt {attempt}  {}  {outcome}", id.escape_debug());
    if id == "job_2" && attempt == 1 {
        // The same happens when the process dies here: the queue has the job, and the entry is not done.
        return Err(Failed::retry_after("the queue's answer was lost", Duration::ZERO));
    }
    Ok(())
}

/// Stores an article in the inbox as if the service had delivered it.
async fn deliver(inbox: &Inbox, job_id: &str) -> Result<Reply, Box<dyn Error>> {
    let post = fixture::complete().job_id(job_id);
    let delivery = fixture::receiver().open(post.headers())?.read(post.bytes().clone())?;
    Ok(inbox.accept(delivery).await)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let inbox = Inbox::open(folder.path().join("inbox.db")).await?;
    let queue = Queue::new(Connection::open(folder.path().join("application.db"))?)?;

    for job_id in ["job_1", "job_2", "job_2"] {
        println!("delivered  {job_id}  {:?}", deliver(&inbox, job_id).await?);
    }

    let (done, mut all_done) = mpsc::unbounded_channel();
    let pushed = queue.clone();
    let handler = move |job: Job| {
        let (queue, done) = (pushed.clone(), done.clone());
        async move {
            hand_over(&job, &queue)?;
            Ok(done.send(())?)
        }
    };
    let both = async move { (all_done.recv().await, all_done.recv().await) };
    inbox.worker(handler).concurrency(1).run(both).await?;

    println!("the queue has {} jobs", queue.len()?);
    Ok(inbox.close().await?)
}
