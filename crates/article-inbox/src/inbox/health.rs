use std::time::Duration;

use tokio::time::Instant;

use super::Inbox;
use crate::{Error, telemetry};

/// How an inbox does: for a page or an alarm.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::Inbox;
///
/// let inbox = Inbox::memory();
/// let health = inbox.health().await;
/// assert!(health.writable.is_ok());
/// assert_eq!((health.overdue, health.hints_held), (None, 0));
///
/// inbox.close().await.unwrap();
/// let health = inbox.health().await;
/// assert_eq!(health.writable.unwrap_err(), "the inbox is closed");
/// # });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // there is more to know
pub struct Health {
    /// Whether the store can be written to, and what keeps it from that; at most a second old.
    pub writable: Result<(), String>,
    /// For how long the entry that waits longest could have been worked on. It grows when no worker runs, or too few.
    pub overdue: Option<Duration>,
    /// Hints that the store has not taken yet.
    pub hints_held: usize,
    /// Hints that were dropped, as too many were held.
    pub hints_dropped: u64,
}

impl Inbox {
    /// How the inbox does. Asks the store for little, however much is in it.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let health = article_inbox::Inbox::memory().health().await;
    /// assert_eq!((health.writable, health.hints_dropped), (Ok(()), 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn health(&self) -> Health {
        let writable = self.writable().await;
        let due_since = self.patiently(self.0.store.due_since()).await;
        let now = self.0.store.now();
        let age = |since| now.duration_since(since).unwrap_or_default();
        // A store that does not answer says nothing about what waits in it.
        let overdue = due_since.map(|since| since.map(age));
        if let Ok(overdue) = overdue {
            telemetry::overdue(overdue.unwrap_or_default());
        }
        let overdue = overdue.ok().flatten();
        let hints = self.held_hints();
        Health { writable, overdue, hints_held: hints.len(), hints_dropped: hints.dropped }
    }

    /// Whether deliveries can be stored now: for a load balancer. The store is written to for it, at most once a
    /// second however often it is asked.
    ///
    /// # Errors
    ///
    /// What keeps them from being stored.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let inbox = article_inbox::Inbox::memory();
    /// assert!(inbox.ready().await.is_ok());
    ///
    /// let closed = article_inbox::Inbox::memory();
    /// closed.close().await.unwrap();
    /// assert_eq!(closed.ready().await.unwrap_err().to_string(), "the inbox is closed");
    /// # });
    /// ```
    pub async fn ready(&self) -> Result<(), Error> {
        self.writable().await.map_err(Error::unavailable)
    }

    async fn writable(&self) -> Result<(), String> {
        // Whoever asks at the same time waits for the one answer.
        let mut probe = self.0.probe.lock().await;
        if let Some(known) = probe.known(Instant::now().into_std()) {
            return known;
        }
        let probed = self.patiently(self.0.store.probe()).await.map_err(|error| error.to_string());
        probe.looked(Instant::now().into_std(), probed.clone());
        probed
    }
}
