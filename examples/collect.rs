//! Ten articles are ordered, and the receiver is down for as long as the service tries to deliver them. When the
//! application runs again, it polls each, and gets all ten. The service is simulated, two hundred times as fast as it
//! would be.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{
    error::Error,
    future::pending,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use article_webhook_axum::{AuthToken, CapabilityKey, Receiver, receive_capability};
use article_webhook_client::{ApiKey, Client, JobId, NewArticle};
use article_webhook_collector::{Collector, Schedule};
use article_webhook_inbox::{Failed, Inbox, Job, JobState};
use article_webhook_server::Server;
use article_webhook_simulator::{Simulator, SimulatorClock};
use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::sleep,
};
use tower::ServiceExt;

const API_KEY: &str = "sk-my-key";

/// How many times as fast as it would be everything happens.
const SPEED: u32 = 200;
const MINUTE: Duration = Duration::from_secs(60);

const TOPICS: [&str; 10] = [
    "How to choose running shoes",
    "How to lace running shoes",
    "How to wash running shoes",
    "When to replace running shoes",
    "Running shoes for wide feet",
    "Running shoes for winter",
    "Shoes for trails",
    "Shoes for the track",
    "Socks for runners",
    "Insoles for runners",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let proxy = Proxy::default();
    let server = Server::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/webhooks/orders", server.local_addr()?);
    tokio::spawn(server.serve(proxy.clone().router(), pending()));
    // The service tries each delivery four times: at once, and after 10, 60 and 300 seconds.
    let simulator = Simulator::builder().clock(SimulatorClock::accelerated(SPEED)).api_key(API_KEY);
    let simulator = simulator.brand("brand_1").start().await?;
    let api = simulator.base_url();
    println!("service    {api} delivers to {url}\n");

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("inbox.db");
    let (publish, mut published) = mpsc::channel(TOPICS.len());

    // It is not put behind the proxy, so that no delivery arrives, however long the orders take.
    let application = Application::start(Inbox::open(&file).await?, &api, &url, publish.clone())?;
    let mut orders: Vec<(String, JobId)> = Vec::new();
    for (number, topic) in (1..).zip(TOPICS) {
        let intent = format!("post-{number}");
        let outcome = application.collector.order(&intent, &NewArticle::new(topic)).await?;
        let job_id = outcome.job_id().ok_or_else(|| format!("not ordered: {outcome:?}"))?.clone();
        println!("ordered    {intent:<7}  {job_id:<15}  {topic}");
        orders.push((intent, job_id));
    }
    application.stop().await?;

    println!("\ndown       the receiver is not reached: the proxy before it answers 503\n");
    while simulator.attempts().len() < 4 * TOPICS.len() {
        sleep(MINUTE / 10 / SPEED).await;
    }
    for (intent, job_id) in &orders {
        let mut tries = String::new();
        for attempt in simulator.attempts() {
            if attempt.job_id == job_id.as_str() {
                let seconds = attempt.at.as_secs();
                tries += &format!("  {:>2}:{:02}", seconds / 60, seconds % 60);
            }
        }
        println!("missed     {intent:<7}  {job_id:<15}  tried at{tries}");
    }

    println!("\nup         the application runs again, and polls what it ordered\n");
    let application = Application::start(Inbox::open(&file).await?, &api, &url, publish)?;
    proxy.set(Some(application.receiver.clone()));
    let mut left = orders.clone();
    while !left.is_empty() {
        let (intent, job_id, title) = published.recv().await.ok_or("the worker is gone")?;
        println!("published  {intent:<7}  {job_id:<15}  {title:?}");
        left.retain(|(_, ordered)| *ordered != job_id);
    }
    let counts = application.collector.health().await?.ledger.counts;
    proxy.set(None);
    application.stop().await?;

    let [pushed, polled] = [JobState::Arrived, JobState::Collected].map(|state| counts.of(state));
    let times = if published.recv().await.is_none() { "once" } else { "more than once" };
    println!("\nresult     {} articles, each published {times}", orders.len());
    println!("           {pushed} were delivered, {polled} were polled");
    println!("\nnext       examples/collect.rs: `Application::start` is what an application needs");
    println!("           cargo doc -p article-webhook-collector --open");
    Ok(())
}

/// A program that orders, receives and publishes articles. What it has to remember is in its inbox.
struct Application {
    inbox: Inbox,
    collector: Collector,
    receiver: Router,
    tasks: JoinSet<Result<(), article_webhook_inbox::Error>>,
    /// Dropped, it stops the tasks.
    running: watch::Sender<()>,
}

impl Application {
    fn start(
        inbox: Inbox,
        api: &str,
        url: &str,
        publish: mpsc::Sender<(String, JobId, String)>,
    ) -> Result<Self, Box<dyn Error>> {
        let key = CapabilityKey::new(b"a secret of at least 32 bytes, kept as a token is")?;
        let client = Client::new(ApiKey::new(API_KEY)?, api)?;
        let collector = Collector::builder(&inbox, client)
            .webhook_urls(key.clone(), url)
            // The defaults, 200 times as fast: first after 10 minutes, and 30 polls a minute.
            .schedule(Schedule::new(10 * MINUTE / SPEED, 60 * MINUTE / SPEED)?)
            .rate(30 * SPEED, 5)
            .build()?;

        let receiver = Receiver::new(AuthToken::new("Bearer my-secret-token-1234")?);
        let orders = receive_capability(receiver, key, inbox.clone());
        let receiver = Router::new().route("/webhooks/orders/{capability}", post(orders));

        let handler = move |job: Job| {
            let publish = publish.clone();
            async move {
                let intent = job.intent().unwrap_or_default().to_owned();
                let article = (intent, job.job_id().clone(), job.article()?.article.title.clone());
                publish.send(article).await.map_err(Failed::because)
            }
        };
        let running = watch::Sender::new(());
        let stopped = || {
            let mut running = running.subscribe();
            async move { _ = running.changed().await }
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(inbox.worker(handler).run(stopped()));
        tasks.spawn(collector.clone().run(stopped()));
        Ok(Self { inbox, collector, receiver, tasks, running })
    }

    async fn stop(self) -> Result<(), article_webhook_inbox::Error> {
        drop(self.running);
        self.tasks.join_all().await.into_iter().collect::<Result<(), _>>()?;
        self.inbox.close().await
    }
}

/// The proxy before the application. It answers 503 while that is down.
#[derive(Clone, Default)]
struct Proxy(Arc<Mutex<Option<Router>>>);

impl Proxy {
    fn router(self) -> Router {
        Router::new().fallback(async move |request: Request| self.forward(request).await)
    }

    async fn forward(&self, request: Request) -> Response {
        let application = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match application {
            Some(application) => application.oneshot(request).await.into_response(),
            None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        }
    }

    fn set(&self, application: Option<Router>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = application;
    }
}
