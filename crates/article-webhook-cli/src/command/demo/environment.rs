use std::{
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use article_webhook::AuthToken;
use article_webhook_client::{ApiKey, Client, JobId, NewArticle};
use article_webhook_collector::{Collector, OrderOutcome, Schedule};
use article_webhook_inbox::{EntryKey, Failed, Inbox, Job, State};
use article_webhook_simulator::{Simulator, SimulatorClock};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinError, JoinSet},
    time::sleep,
};

use super::{
    happening::{Happening, Order, Record},
    receiver::{self, Condition},
};
use crate::{failure::Failure, store::Place};

const API_KEY: &str = "sk-demo";
const TOKEN: &str = "Bearer my-secret-token-1234";

const MINUTE: Duration = Duration::from_secs(60);

/// When the collector polls a job first: the default, which leaves the service time to deliver.
pub(super) const FIRST_ASK: Duration = Duration::from_secs(600);

/// How often the service is looked at.
const TICK: Duration = Duration::from_millis(10);

/// How long the application takes to publish an article.
const PUBLISHING: Duration = Duration::from_millis(60);

/// How long articles take. The service may take three minutes.
const GENERATION: RangeInclusive<Duration> = Duration::from_secs(20)..=MINUTE;

/// The simulated service, and an application that orders from it.
#[derive(Debug)]
pub(super) struct Demo {
    pub(super) simulator: Simulator,
    collector: Collector,
    condition: watch::Sender<Condition>,
    pub(super) record: Record,
    happenings: mpsc::UnboundedSender<Happening>,
    /// How many orders began. Their numbers make their intents differ.
    orders: AtomicU64,
}

impl Demo {
    pub(super) async fn order(&self, topic: &str) -> Result<JobId, Failure> {
        let number = self.orders.fetch_add(1, Ordering::Relaxed);
        let intent = format!("demo-{number}");
        let at = self.simulator.now();
        let outcome = self.collector.order(&intent, &NewArticle::new(topic)).await?;
        let OrderOutcome::Ordered(job_id) = outcome else {
            return Err(Failure::failed(format!("the service took no order: {outcome:?}")));
        };
        self.report(Happening::Ordered { at, ordered: job_id.clone(), topic: topic.to_owned() });
        Ok(job_id)
    }

    /// Breaks the receiver, or repairs it.
    pub(super) fn set(&self, condition: Condition) {
        if self.condition.send_replace(condition) != condition {
            self.report(Happening::Receiver { at: self.simulator.now(), receiver: condition });
        }
    }

    pub(super) fn condition(&self) -> Condition {
        *self.condition.borrow()
    }

    /// What the application does with an article.
    fn publish(&self, job: &Job) -> Result<(), Failed> {
        let (published, title) = (job.job_id().clone(), job.article()?.article.title.clone());
        let (at, source) = (self.simulator.now(), job.source());
        self.report(Happening::Published { at, published, title, source });
        Ok(())
    }

    fn report(&self, happening: Happening) {
        // The receiving side may have ended.
        let _ = self.happenings.send(happening);
    }
}

/// A demo with its tasks.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) demo: Arc<Demo>,
    happenings: mpsc::UnboundedReceiver<Happening>,
    pub(super) inbox: Inbox,
    tasks: JoinSet<Result<(), Failure>>,
    stop: watch::Sender<bool>,
    /// The file of the inbox.
    pub(super) file: PathBuf,
    _folder: Option<TempDir>,
}

impl Running {
    pub(super) async fn start(file: Option<&Path>, speed: u32) -> Result<Self, Failure> {
        let failed = |error: &dyn Error| Failure::failed("the demo cannot start").because(error);
        let (file, folder) = match file {
            Some(file) => (file.to_owned(), None),
            None => {
                let folder = tempfile::Builder::new().prefix("article-webhook-demo-").tempdir();
                let folder = folder.map_err(|error| failed(&error))?;
                (folder.path().join("inbox.db"), Some(folder))
            }
        };
        let inbox = Place::file(&file).exclusive().await?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = receiver::bind(address).await.map_err(|error| failed(&error))?;
        let address = server.local_addr().map_err(|error| failed(&error))?;
        let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let simulator = Simulator::builder()
            .clock(SimulatorClock::accelerated(speed))
            .seed(seed)
            .generation(GENERATION)
            .api_key(API_KEY)
            .brand("brand_1")
            .publish_target(&format!("http://{address}/webhooks/articles"), TOKEN);
        let simulator = simulator.start().await.map_err(|error| failed(&error))?;
        let key = ApiKey::new(API_KEY).map_err(|error| failed(&error))?;
        let client = Client::new(key, &simulator.base_url()).map_err(|error| failed(&error))?;
        // The defaults, on the clock of the service: first after 10 minutes, and 30 polls a minute.
        let collector = Collector::builder(&inbox, client)
            .schedule(Schedule::new(FIRST_ASK / speed, 6 * FIRST_ASK / speed)?)
            .rate(30 * speed, 5)
            .build()?;
        let token = AuthToken::new(TOKEN).map_err(|error| failed(&error))?;

        let (happenings, received) = mpsc::unbounded_channel();
        let (condition, stop) = (watch::Sender::new(Condition::Works), watch::Sender::new(false));
        let record = Record::default();
        let received_by =
            receiver::run(server, token, inbox.clone(), condition.subscribe(), stop.subscribe());
        let orders = AtomicU64::new(0);
        let demo = Demo { simulator, collector, condition, record, happenings, orders };
        let demo = Arc::new(demo);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            received_by.await.map_err(|error| Failure::failed("the receiver ended").because(&error))
        });
        let publisher = Arc::clone(&demo);
        let handler = move |job: Job| {
            let publisher = Arc::clone(&publisher);
            async move {
                sleep(PUBLISHING).await;
                publisher.publish(&job)
            }
        };
        let worker = inbox.worker(handler).run(stopped(stop.subscribe()));
        tasks.spawn(async move { Ok(worker.await?) });
        let collector = demo.collector.clone().run(stopped(stop.subscribe()));
        tasks.spawn(async move { Ok(collector.await?) });
        tasks.spawn(watch_service(Arc::clone(&demo), stop.subscribe()));
        Ok(Self { demo, happenings: received, inbox, tasks, stop, file, _folder: folder })
    }

    /// Runs a task as long as the demo runs. It gets what resolves when it must end.
    pub(super) fn spawn<F>(&mut self, task: impl FnOnce(Stopped) -> F)
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let task = task(Box::pin(stopped(self.stop.subscribe())));
        self.tasks.spawn(task);
    }

    /// What happens next. Waits for ever if nothing does.
    pub(super) async fn next(&mut self) -> Result<Happening, Failure> {
        tokio::select! {
            biased;
            Some(happening) = self.happenings.recv() => {
                self.demo.record.add(&happening);
                Ok(happening)
            }
            Some(ended) = self.tasks.join_next() => {
                task(ended)?;
                Err(Failure::failed("a task of the demo ended"))
            }
        }
    }

    /// Stops everything in order, and looks what the inbox has of each order.
    pub(super) async fn stop(mut self) -> Result<Vec<Ended>, Failure> {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            task(ended)?;
        }
        while let Ok(happening) = self.happenings.try_recv() {
            self.demo.record.add(&happening);
        }
        let mut ended = Vec::new();
        for order in self.demo.record.orders() {
            let job_id = order.job_id.parse().expect("it was the id of a job");
            let entry = self.inbox.show(EntryKey::article(job_id)).await?;
            ended.push(Ended { order, state: entry.map(|(entry, _)| entry.state) });
        }
        self.inbox.close().await?;
        Ok(ended)
    }
}

fn task(ended: Result<Result<(), Failure>, JoinError>) -> Result<(), Failure> {
    ended.map_err(|error| Failure::failed("a task of the demo ended").because(&error))?
}

/// Resolves when the demo ends.
pub(super) type Stopped = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What became of an order.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) order: Order,
    /// The state of its entry, if it has one.
    pub(super) state: Option<State>,
}

/// Reports what the service attempts.
async fn watch_service(demo: Arc<Demo>, stop: watch::Receiver<bool>) -> Result<(), Failure> {
    while !*stop.borrow() {
        for attempt in demo.simulator.drain_attempts() {
            demo.report(Happening::Attempted(attempt));
        }
        sleep(TICK).await;
    }
    Ok(())
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
