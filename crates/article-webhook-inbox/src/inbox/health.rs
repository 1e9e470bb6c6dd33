use std::time::{Duration, SystemTime};

use tokio::{join, time::Instant};

use super::Inbox;
use crate::{
    Error, State,
    call::{Filter, LedgerCounts, Pause, Since, StoreHealth},
    telemetry,
    worker::{StuckHandler, Workers},
};

/// The health of an inbox, for a status page or an alarm.
///
/// ```
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     let health = inbox.health().await;
///     assert!(health.writable.is_ok());
///     assert_eq!((health.workers.running, health.stuck.len()), (0, 0), "nothing is worked on");
///     assert_eq!((health.overdue?, health.unhandled?, health.quarantined?), (None, 0, 0));
///     assert_eq!(health.drift, [""; 0], "nothing of the service is new");
///     assert_eq!((health.expected_held, health.expected_dropped), (0, 0));
///     assert_eq!(health.ledger?.counts.open(), 0, "no article is missed");
///
///     inbox.close().await?;
///     let health = inbox.health().await;
///     assert!(health.writable.is_err_and(|error| error.is_closed()));
///     assert!(health.overdue.is_err() && health.ledger.is_err(), "unknown, which is not none");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive] // more may be reported
pub struct Health {
    /// Whether the store takes deliveries, or why not, as [`ready`](crate::Inbox::ready) finds it.
    pub writable: Result<(), Error>,
    /// How long the oldest due entry has been due; `None` if no entry is due. It grows beyond [`UNCLAIMED_AFTER`](crate::UNCLAIMED_AFTER)
    /// when no worker runs, or too few, or if the failure of a job waits and no worker has a [handler](crate::Worker::on_failure) for it.
    /// The error says why it is unknown.
    pub overdue: Result<Option<Duration>, Error>,
    /// How many entries are [unhandled](crate::State::Unhandled): what came is no article to this version, and a person must
    /// look. At most 100 are counted. The error says why it is unknown.
    pub unhandled: Result<usize, Error>,
    /// How many entries are [quarantined](crate::State::Quarantined): deliveries were refused, and what is kept of them may be
    /// the only copy of an article. A person must look. At most 100 are counted. The error says why it is unknown.
    pub quarantined: Result<usize, Error>,
    /// Since when claims are [paused](Inbox::pause), and by whom; `None` if they are not. The error says why it is unknown.
    pub paused_since: Result<Option<Since>, Error>,
    /// The workers of this inbox in this process: whether one runs, and why one ended.
    pub workers: Workers,
    /// Handlers that go on although their attempts were given up, those that began first first. With
    /// [too many](crate::Worker::stuck_handlers) of them, nothing is claimed.
    pub stuck: Vec<StuckHandler>,
    /// How the service has changed: what articles have that its document does not, in the order of the paths. Each is
    /// logged once. The first 64 are kept that workers of this inbox meet in this process; if there were more, one last
    /// text says so.
    pub drift: Vec<String>,
    /// What is expected, and the pause of polls and orders. The error says why it is unknown.
    pub ledger: Result<LedgerHealth, Error>,
    /// Jobs with a refused delivery that are expected, and that the store has not accepted yet.
    pub expected_held: usize,
    /// Jobs with a refused delivery that were dropped, because too many were kept.
    pub expected_dropped: u64,
    /// What the store reports about itself, or why it does not answer.
    pub store: Result<StoreHealth, Error>,
}

/// The figures of an inbox's ledger, as a part of its [`Health`].
///
/// ```
/// use article_webhook_inbox::{Inbox, JobState};
/// # use article_webhook_inbox::store;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
/// #     let expect = store::Expect::job("job_1".parse()?, std::time::SystemTime::UNIX_EPOCH);
/// #     inbox.ledger().expect(vec![expect]).await?; // as a collector does
///     let ledger = inbox.health().await.ledger?;
///     assert_eq!((ledger.counts.of(JobState::Expected), ledger.counts.overdue), (1, 0));
///     assert!(ledger.paused.is_none() && ledger.key_refused_at.is_none());
///
///     inbox.close().await?;
///     assert_eq!(inbox.health().await.ledger.unwrap_err().to_string(), "the inbox is closed");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct LedgerHealth {
    /// How many jobs are in each state, since when the oldest is expected, how many are overdue, how many articles were
    /// recovered, and how many orders have an unknown outcome.
    pub counts: LedgerCounts,
    /// The pause in which nothing is polled or ordered, while it lasts. That of a refused key holds this key alone.
    pub paused: Option<Pause>,
    /// When the service last refused an API key.
    pub key_refused_at: Option<SystemTime>,
}

impl Inbox {
    /// The health of the inbox. Cheap for any number of entries, and within two seconds also if the store hangs. The figures
    /// of the ledger are those of [`ledger_health`](Self::ledger_health).
    pub async fn health(&self) -> Health {
        let store = &self.0.store;
        let overdue = self.with_timeout(Box::pin(self.due_for()));
        let ledger = self.with_timeout(Box::pin(self.ledger_health()));
        let paused_since = self.with_timeout(store.paused_since());
        let in_state =
            |state| store.list(Filter { state: Some(state), limit: 100, ..Filter::default() });
        let unhandled = self.with_timeout(in_state(State::Unhandled));
        let quarantined = self.with_timeout(in_state(State::Quarantined));
        let (writable, overdue, unhandled, quarantined, paused_since, ledger, store) = join!(
            self.ready(),
            overdue,
            unhandled,
            quarantined,
            paused_since,
            ledger,
            self.with_timeout(store.health())
        );
        let [unhandled, quarantined] =
            [unhandled, quarantined].map(|page| page.map(|page| page.items.len()));
        if let Ok(quarantined) = &quarantined {
            telemetry::in_quarantine(*quarantined);
        }
        if let Ok(overdue) = &overdue {
            telemetry::overdue(overdue.unwrap_or_default());
        }
        let (workers, stuck) = (self.0.workers.workers(), self.0.workers.stuck());
        telemetry::stuck_handlers(stuck.len());
        let refused = self.expect_queue();
        let (expected_held, expected_dropped) = (refused.len(), refused.dropped);
        let drift = self.0.workers.drift();
        Health {
            writable,
            overdue,
            unhandled,
            quarantined,
            paused_since,
            workers,
            stuck,
            drift,
            ledger,
            expected_held,
            expected_dropped,
            store,
        }
    }

    /// Whether deliveries can be stored now, for a load balancer.
    ///
    /// They can for ten seconds after one was stored. Otherwise the store is probed with what a delivery does, at most once in ten
    /// seconds, and at most once a second while that fails. When deliveries of two jobs in a row could not be stored, the inbox is
    /// not ready until one is stored, or a probe that failed meanwhile succeeds; if none failed, for half a minute. The log says when
    /// probes begin to fail, and when they succeed again. What hinders workers alone is in the [health](Self::health).
    ///
    /// # Errors
    ///
    /// The reason why deliveries cannot be stored.
    pub async fn ready(&self) -> Result<(), Error> {
        // Concurrent callers wait for one probe.
        let _probing = self.0.probing.lock().await;
        if let Some(known) = self.readiness().known(Instant::now().into_std()) {
            return known;
        }
        let probed = self.with_timeout(self.0.store.probe()).await;
        let (now, mut readiness) = (Instant::now().into_std(), self.readiness());
        if readiness.probed(now, probed.clone()) {
            telemetry::probed(&probed);
        }
        readiness.known(now).unwrap_or(probed)
    }

    /// The figures of the ledger alone.
    ///
    /// They are counted, which takes longer the more jobs the ledger has: about 0.3 seconds for a million in SQLite.
    /// [Health](Self::health) does not wait longer than two seconds for them.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn ledger_health(&self) -> Result<LedgerHealth, Error> {
        let store = &self.0.store;
        let (counts, bucket) = (store.ledger_counts().await?, store.bucket().await?);
        let paused = bucket.pause.filter(|pause| store.now() < pause.until);
        Ok(LedgerHealth { counts, paused, key_refused_at: bucket.key_refused_at })
    }
}
