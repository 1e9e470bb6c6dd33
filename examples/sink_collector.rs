//! A sink of your own, and a collector: the application's table gets each article that the service delivers, and each that
//! the collector polls. An inbox is the ledger of the orders. The service is simulated, two hundred times as fast as it
//! would be.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{
    error::Error,
    future::pending,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use article_webhook_axum::{AuthToken, Delivery, JobId, Receiver, Refused, Reply, Sink, receive};
use article_webhook_client::{ApiKey, Client, NewArticle};
use article_webhook_collector::{Collector, Schedule};
use article_webhook_inbox::{Inbox, Job, JobState};
use article_webhook_server::Server;
use article_webhook_simulator::{Simulator, SimulatorClock};
use axum::{Router, routing::post};
use rusqlite::Connection;
use tokio::{sync::mpsc, time::sleep};

const API_KEY: &str = "sk-my-key";
const TOKEN: &str = "Bearer my-secret-token-1234";

/// How many times as fast as it would be everything happens.
const SPEED: u32 = 200;
const MINUTE: Duration = Duration::from_secs(60);

/// The sink: a table of the application, and the inbox whose ledger has the orders.
#[derive(Clone)]
struct Articles {
    table: Arc<Mutex<Connection>>,
    ledger: Inbox,
}

impl Articles {
    /// Whether the article is a new row.
    fn insert(&self, job_id: &JobId, body: &[u8]) -> rusqlite::Result<bool> {
        let insert = "INSERT INTO articles VALUES (?1, ?2) ON CONFLICT (job_id) DO NOTHING";
        Ok(self.table().execute(insert, (job_id.as_str(), body))? == 1)
    }

    fn table(&self) -> MutexGuard<'_, Connection> {
        self.table.lock().expect("no holder of the lock panics")
    }
}

impl Sink for Articles {
    async fn accept(&self, delivery: Delivery) -> Reply {
        let is_new = match self.insert(delivery.job_id(), delivery.body()) {
            Ok(is_new) => is_new,
            Err(error) => return Reply::retry_because(&error), // 503: the service delivers again
        };
        // The ledger notes that the job arrived. If this fails, the job is polled, and is known to the table by then.
        let _ = self.ledger.accept(delivery).await;
        if is_new { Reply::Stored } else { Reply::Duplicate }
    }

    fn refused(&self, refused: &Refused) {
        self.ledger.refused(refused);
    }

    async fn keep_refused(&self, refused: Refused) {
        self.ledger.keep_refused(refused).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let ledger = Inbox::open(folder.path().join("ledger.db")).await?;
    let table = Connection::open_in_memory()?;
    table.execute_batch("CREATE TABLE articles (job_id TEXT PRIMARY KEY, body BLOB)")?;
    let articles = Articles { table: Arc::new(Mutex::new(table)), ledger: ledger.clone() };

    let server = Server::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/webhooks/articles", server.local_addr()?);
    let sink = receive(Receiver::new(AuthToken::new(TOKEN)?), articles.clone());
    let router = Router::new().route("/webhooks/articles", post(sink));
    tokio::spawn(server.serve(router, pending()));

    let simulator = Simulator::builder()
        .clock(SimulatorClock::accelerated(SPEED))
        .api_key(API_KEY)
        .publish_target(&url, TOKEN)
        .start()
        .await?;
    let client = Client::new(ApiKey::new(API_KEY)?, &simulator.base_url())?;
    let collector = Collector::builder(&ledger, client)
        // The defaults, 200 times as fast: first after 10 minutes, and 30 polls a minute.
        .schedule(Schedule::new(10 * MINUTE / SPEED, 60 * MINUTE / SPEED)?)
        .rate(30 * SPEED, 5)
        .build()?;

    // The worker hands over what the ledger has: what was polled is a new row, what was delivered is there already.
    let (stored, mut storing) = mpsc::channel(2);
    let handler = {
        let articles = articles.clone();
        move |job: Job| {
            let (articles, stored) = (articles.clone(), stored.clone());
            async move {
                let is_new = articles.insert(job.job_id(), job.body())?;
                stored.send((job.job_id().clone(), is_new)).await?;
                Ok(())
            }
        }
    };
    tokio::spawn(ledger.worker(handler).run(pending::<()>()));
    tokio::spawn(collector.clone().run(pending::<()>()));

    for (intent, topic) in
        [("post-1", "How to lace running shoes"), ("post-2", "Running shoes for winter")]
    {
        let is_down = intent == "post-2";
        if is_down {
            articles.table().execute_batch("ALTER TABLE articles RENAME TO missing")?;
            println!("\ndown       the table is missing: every delivery is answered 503");
        }
        let outcome = collector.order(intent, &NewArticle::new(topic)).await?;
        let job_id = outcome.job_id().ok_or_else(|| format!("not ordered: {outcome:?}"))?.clone();
        println!("ordered    {intent}  {job_id}  {topic}");
        if is_down {
            while simulator
                .attempts()
                .iter()
                .filter(|tried| tried.job_id == job_id.as_str())
                .count()
                < 4
            {
                sleep(MINUTE / 10 / SPEED).await;
            }
            println!("missed     {intent}  {job_id}  after four attempts");
            articles.table().execute_batch("ALTER TABLE missing RENAME TO articles")?;
            println!("up         the table is back\n");
        }
        let (handed_over, is_new) = storing.recv().await.ok_or("the worker is gone")?;
        let how = if is_new {
            "polled, and handed over to the table"
        } else {
            "delivered, and in the table already"
        };
        println!("stored     {intent}  {handed_over}  {how}");
    }

    let rows: i64 =
        articles.table().query_row("SELECT count(*) FROM articles", [], |row| row.get(0))?;
    let counts = collector.health().await?.ledger.counts;
    let [arrived, collected] =
        [JobState::Arrived, JobState::Collected].map(|state| counts.of(state));
    println!("\nresult     {rows} rows; {arrived} was delivered, {collected} was polled");
    ledger.close().await?;
    Ok(())
}
