use std::time::Duration;

use tokio::time::Instant;

use super::Inbox;
use crate::{Error, call::StoreHealth, telemetry};

/// The health of an inbox, for a status page or an alarm.
///
/// ```
/// use article_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_inbox::Error> {
///     let inbox = Inbox::memory();
///     let health = inbox.health().await;
///     assert!(health.writable.is_ok());
///     assert_eq!((health.overdue, health.hints_held, health.hints_dropped), (None, 0, 0));
///
///     inbox.close().await?;
///     let health = inbox.health().await;
///     assert_eq!(health.writable.unwrap_err(), "the inbox is closed");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct Health {
    /// Whether the store can commit, or why not. At most a second old.
    pub writable: Result<(), String>,
    /// How long the oldest due entry has been due. It grows when no worker runs, or too few.
    pub overdue: Option<Duration>,
    /// Hints that the store has not accepted yet.
    pub hints_held: usize,
    /// Hints that were dropped, because too many were held.
    pub hints_dropped: u64,
    /// What the store reports about itself. Empty if it does not answer.
    pub store: StoreHealth,
}

impl Inbox {
    /// The health of the inbox. Cheap for any number of entries.
    pub async fn health(&self) -> Health {
        let writable = self.writable().await;
        let due_since = self.patiently(self.0.store.due_since()).await;
        let now = self.0.store.now();
        let age = |since| now.duration_since(since).unwrap_or_default();
        // If the store does not answer, its due entries are unknown.
        let overdue = due_since.map(|since| since.map(age));
        if let Ok(overdue) = overdue {
            telemetry::overdue(overdue.unwrap_or_default());
        }
        let overdue = overdue.ok().flatten();
        let store = self.patiently(self.0.store.health()).await.unwrap_or_default();
        let hints = self.hint_queue();
        Health { writable, overdue, hints_held: hints.len(), hints_dropped: hints.dropped, store }
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
