use std::time::{Duration, SystemTime};

use article_webhook_client::NewArticle;
use article_webhook_collector::{Collector, CollectorBuilder, OrderOutcome};
use article_webhook_inbox::{
    Clock, Digest, EntryKey, ExpectedJob, Inbox, IntentState, JobState, Source,
    store::{Arrival, Recorded, Store},
};
use article_webhook_inbox_contract::faulty::Faulty;

use crate::api::{Script, article};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);

/// A store and an API on one stepped clock.
pub(crate) struct World {
    pub(crate) clock: Clock,
    pub(crate) ledger: Faulty,
    /// Over that ledger.
    pub(crate) inbox: Inbox,
    pub(crate) api: Script,
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + 365 * DAY);
        let (ledger, api) = (Faulty::new(clock.clone()), Script::new(clock.clone()));
        let inbox = Inbox::new(ledger.clone());
        Self { clock, ledger, inbox, api }
    }

    pub(crate) fn builder(&self) -> CollectorBuilder {
        Collector::builder(&self.inbox, self.api.clone())
    }

    /// A collector that is slowed down by nothing.
    pub(crate) fn collector(&self) -> Collector {
        self.builder().rate(1_000_000, 1_000_000).build().unwrap()
    }

    /// A collector that is slowed down by nothing, and polls one job at a time.
    pub(crate) fn one_at_a_time(&self) -> Collector {
        self.builder().rate(1_000_000, 1_000_000).concurrency(1).build().unwrap()
    }

    /// A world whose collector expects these jobs.
    pub(crate) async fn expecting(jobs: &[&str]) -> (Self, Collector) {
        let world = Self::new();
        let collector = world.collector();
        world.expect(&collector, jobs).await;
        (world, collector)
    }

    /// Lets this time pass, and polls what is due.
    pub(crate) async fn poll_after(&self, time: Duration, collector: &Collector) {
        self.clock.advance(time);
        collector.run_until_idle().await.unwrap();
    }

    /// Expects these jobs.
    pub(crate) async fn expect(&self, collector: &Collector, jobs: &[&str]) {
        for job in jobs {
            collector.expect(job.parse().unwrap()).await.unwrap();
        }
    }

    /// Lets this time pass, on the clock of the store and on that of Tokio.
    pub(crate) async fn pass(&self, time: Duration, step: Duration) {
        let end = self.clock.now() + time;
        while self.clock.now() < end {
            self.clock.advance(step);
            tokio::time::sleep(step).await;
        }
    }

    /// The service delivers the article of a job, to the URL of an intent if one is named.
    pub(crate) async fn deliver(&self, job: &str, intent: Option<&str>) -> Recorded {
        let bytes = article(job);
        let arrival = Arrival {
            key: key(job),
            source: Source::Webhook,
            target: "default".into(),
            intent: intent.map(Into::into),
            digest: Digest::of(bytes.as_bytes()),
            bytes: bytes.into(),
        };
        self.ledger.record(arrival).await.unwrap()
    }

    pub(crate) async fn job(&self, job: &str) -> ExpectedJob {
        self.ledger.job(job.parse().unwrap()).await.unwrap().expect("the ledger has the job")
    }

    pub(crate) async fn state(&self, job: &str) -> JobState {
        self.job(job).await.state
    }

    pub(crate) async fn intent(&self, intent: &str) -> Option<IntentState> {
        self.ledger.intent(intent).await.unwrap().map(|intent| intent.state)
    }

    /// The bytes that are stored under a key.
    pub(crate) async fn stored(&self, key: EntryKey) -> Option<bytes::Bytes> {
        let (_, bodies) = self.ledger.show(key).await.unwrap()?;
        bodies.into_iter().next()?.bytes
    }
}

/// The key of the article of a job.
pub(crate) fn key(job: &str) -> EntryKey {
    EntryKey::article(job.parse().unwrap())
}

pub(crate) fn shoes() -> NewArticle {
    NewArticle::new("How to choose running shoes")
}

pub(crate) async fn order(collector: &Collector, intent: &str) -> OrderOutcome {
    collector.order(intent, &shoes()).await.unwrap()
}
