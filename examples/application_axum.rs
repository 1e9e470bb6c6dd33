//! An application on axum that has a state of its own: a database pool, and articles for two targets, `blog` and
//! `shop`. One router extracts the article in the request; the other one stores it in an inbox first.
//!
//! ```text
//! ARTICLE_BLOG_TOKEN='Bearer ...' ARTICLE_SHOP_TOKEN='Bearer ...' cargo run --example application_axum
//! ```
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use article_webhook_axum::{ArticleComplete, Receiver, Retry, RunToCompletion, Targets, receive};
use article_webhook_examples::log_refusals;
use article_webhook_inbox::{Failed, Inbox, Job, stop_signal};
use article_webhook_server::Server;
use axum::{
    Router, debug_handler,
    extract::{FromRef, State},
    routing::{get, post},
};
use rusqlite::Connection;

/// Connections to the application's database. A pool of your framework's driver takes its place.
#[derive(Clone)]
struct Pool {
    path: Arc<Path>,
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Pool {
    fn new(path: PathBuf) -> rusqlite::Result<Self> {
        let pool = Self { path: path.into(), idle: Arc::default() };
        let table = "CREATE TABLE IF NOT EXISTS articles (job_id TEXT PRIMARY KEY, target TEXT, title TEXT)";
        pool.with(|database| database.execute_batch(table))?;
        Ok(pool)
    }

    /// Lends a connection. It blocks.
    fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = self.idle.lock().expect("no holder of the lock panics").pop();
        let connection = idle.map_or_else(|| Connection::open(&self.path), Ok)?;
        let result = work(&connection);
        self.idle.lock().expect("no holder of the lock panics").push(connection);
        result
    }

    /// Saves an article once: the service may deliver it again, and the worker may repeat it.
    fn save(&self, job_id: &str, target: &str, title: &str) -> rusqlite::Result<()> {
        let insert = "INSERT INTO articles VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        self.with(|database| database.execute(insert, (job_id, target, title)))?;
        println!("{}  {target}  {title:?}", job_id.escape_debug());
        Ok(())
    }
}

/// The state of the nested router. By `FromRef` the extractors find the receiver and the pool in it.
#[derive(Clone, FromRef)]
struct Webhooks {
    receiver: Receiver,
    pool: Pool,
}

/// The compiler explains with `debug_handler` what is wrong with a handler. The extractor of the body comes last.
#[debug_handler(state = Webhooks)]
async fn on_article(
    State(pool): State<Pool>,
    ArticleComplete(result, delivery): ArticleComplete,
) -> Result<(), Retry> {
    let save = move || pool.save(result.job_id.as_str(), delivery.target(), &result.article.title);
    tokio::task::spawn_blocking(save).await??;
    Ok(())
}

/// The worker's handler has a thread of its own, where it may block.
async fn publish(job: Job, pool: Pool) -> Result<(), Failed> {
    Ok(pool.save(job.job_id().as_str(), job.target(), &job.article()?.article.title)?)
}

/// A route of the application that has nothing to do with webhooks.
#[debug_handler]
async fn titles(State(pool): State<Pool>) -> Result<String, String> {
    let count = "SELECT count(*) FROM articles";
    let counted = tokio::task::spawn_blocking(move || {
        pool.with(|database| database.query_row(count, [], |row| row.get::<_, i64>(0)))
    });
    match counted.await {
        Ok(Ok(count)) => Ok(format!("{count} articles\n")),
        _ => Err("the database is not there".to_owned()),
    }
}

fn application(receiver: Receiver, inbox: Inbox, pool: Pool) -> Router {
    let at_once = post(on_article).layer(RunToCompletion::new(receiver.clone()));
    let webhooks = Router::new()
        .route("/at-once", at_once)
        .with_state(Webhooks { receiver: receiver.clone(), pool: pool.clone() })
        .route("/articles", post(receive(receiver, inbox)));
    // The nested router has its state already. The outer one has another.
    Router::new().route("/", get(titles)).with_state(pool).nest("/webhooks", webhooks)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    log_refusals();
    let targets =
        Targets::from_env([("blog", "ARTICLE_BLOG_TOKEN"), ("shop", "ARTICLE_SHOP_TOKEN")])?;
    let inbox = Inbox::open("inbox.db").await?;
    let pool = Pool::new("application.db".into())?;
    let receiver = Receiver::new(targets);
    let app = application(receiver.clone(), inbox.clone(), pool.clone());

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let server = Server::bind(&address).await?;
    println!("Listening on http://{}/webhooks/articles", server.local_addr()?);

    let worker = inbox.worker(move |job| publish(job, pool.clone())).run(stop_signal());
    let worker = tokio::spawn(worker);
    server.serve(app, stop_signal()).await?;
    receiver.handlers_ended().await; // handlers under the layer outlive their requests
    worker.await??;
    Ok(inbox.close().await?)
}
