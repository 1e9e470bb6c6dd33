use std::time::Duration;

use tokio::{join, time::Instant};

use super::Inbox;
use crate::{
    Error,
    call::StoreHealth,
    telemetry,
    worker::{StuckHandler, Workers},
};

/// The health of an inbox, for a status page or an alarm.
///
/// ```
/// use article_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_inbox::Error> {
///     let inbox = Inbox::memory();
///     let health = inbox.health().await;
///     assert_eq!((health.writable, health.overdue), (Ok(()), Ok(None)));
///     assert_eq!((health.workers.running, health.stuck.len()), (0, 0), "nothing is worked on");
///     assert_eq!(health.drift, [""; 0], "nothing of the service is new");
///     assert_eq!((health.hints_held, health.hints_dropped), (0, 0));
///
///     inbox.close().await?;
///     let health = inbox.health().await;
///     assert_eq!(health.writable.unwrap_err(), "the inbox is closed");
///     assert!(health.overdue.is_err(), "unknown, which is not none");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct Health {
    /// Whether the store can commit, or why not. At most a second old.
    pub writable: Result<(), String>,
    /// How long the oldest due entry has been due; `None` if no entry is due. It grows when no worker runs, or too few, or
    /// if the failure of a job waits and no worker has a [handler](crate::Worker::on_failure) for it.
    /// The error says why it is unknown.
    pub overdue: Result<Option<Duration>, String>,
    /// The workers of this inbox in this process: whether one runs, and why one ended.
    pub workers: Workers,
    /// Handlers that go on although their attempts were given up, those that began first first. With
    /// [too many](crate::Worker::stuck_handlers) of them, nothing is claimed.
    pub stuck: Vec<StuckHandler>,
    /// How the service has changed: what articles have that its document does not, in the order of the paths. Each is
    /// logged once. The first 64 are kept that workers of this inbox meet in this process; if there were more, one last
    /// text says so.
    pub drift: Vec<String>,
    /// Hints that the store has not accepted yet.
    pub hints_held: usize,
    /// Hints that were dropped, because too many were held.
    pub hints_dropped: u64,
    /// What the store reports about itself, or why it does not answer.
    pub store: Result<StoreHealth, String>,
}

impl Inbox {
    /// The health of the inbox. Cheap for any number of entries, and within two seconds also if the store hangs.
    pub async fn health(&self) -> Health {
        let store = &self.0.store;
        let due_since = self.patiently(store.due_since());
        let (writable, due_since, store_health) =
            join!(self.writable(), due_since, self.patiently(store.health()));
        let now = store.now();
        let age = |since| now.duration_since(since).unwrap_or_default();
        let overdue = due_since.map(|since| since.map(age)).map_err(|error| error.to_string());
        if let Ok(overdue) = overdue {
            telemetry::overdue(overdue.unwrap_or_default());
        }
        let (workers, stuck) = (self.0.workers.workers(), self.0.workers.stuck());
        telemetry::stuck_handlers(stuck.len());
        let store = store_health.map_err(|error| error.to_string());
        let hints = self.hint_queue();
        let (hints_held, hints_dropped) = (hints.len(), hints.dropped);
        let drift = self.0.workers.drift.all();
        Health { writable, overdue, workers, stuck, drift, hints_held, hints_dropped, store }
    }

    /// Whether deliveries can be stored now, for a load balancer. It commits a small change, at most once a second.
    ///
    /// # Errors
    ///
    /// The reason why deliveries cannot be stored.
    pub async fn ready(&self) -> Result<(), Error> {
        self.writable().await.map_err(Error::unavailable)
    }

    async fn writable(&self) -> Result<(), String> {
        // Concurrent callers wait for one probe.
        let mut probe = self.0.probe.lock().await;
        if let Some(known) = probe.known(Instant::now().into_std()) {
            return known;
        }
        let probed = self.patiently(self.0.store.probe()).await.map_err(|error| error.to_string());
        probe.probed(Instant::now().into_std(), probed.clone());
        probed
    }
}
