use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use tokio::time::{sleep, timeout};

use super::{Inbox, STORE_TIMEOUT};
use crate::{
    Error, State,
    call::{Filter, ListOrder},
    telemetry,
};

/// A worker claims what is due within seconds. What has been due for this long, 60 seconds, no worker has claimed, or too few.
pub const UNCLAIMED_AFTER: Duration = Duration::from_secs(60);

/// How many leased entries are read, to find one under a lease that holds.
const MAX_LEASED: u32 = 100;

/// Looks whether what a receiver stores is worked on by any process, and warns if it is not. A receiver without a worker
/// would store articles for ever, and nobody would publish them.
#[derive(Debug, Default)]
pub(super) struct IdleWatch {
    /// A task checks each minute, until nothing is overdue.
    is_watching: AtomicBool,
}

impl Inbox {
    /// An entry was stored. Unless a worker takes it within a minute, that is logged.
    pub(super) fn watch_for_workers(&self) {
        if self.0.idle_watch.is_watching.swap(true, Ordering::Relaxed) {
            return;
        }
        // It keeps no inbox open.
        let inbox = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                sleep(UNCLAIMED_AFTER).await;
                let Some(inbox) = inbox.upgrade().map(Inbox) else { return };
                match timeout(STORE_TIMEOUT, inbox.unclaimed_for()).await {
                    Ok(Ok(Some(age))) if age >= UNCLAIMED_AFTER => telemetry::no_worker(age),
                    Ok(Ok(None)) => {
                        inbox.0.idle_watch.is_watching.store(false, Ordering::Relaxed);
                        return;
                    }
                    // A store that fails is logged elsewhere.
                    Ok(Ok(Some(_)) | Err(_)) | Err(_) => {}
                }
            }
        });
    }

    /// How long the oldest due entry has been due, as [`Health::overdue`](crate::Health::overdue).
    #[doc(hidden)]
    pub async fn due_for(&self) -> Result<Option<Duration>, Error> {
        let due_since = self.0.store.due_since().await?;
        let now = self.0.store.now();
        Ok(due_since.map(|since| now.duration_since(since).unwrap_or_default()))
    }

    /// For how long no process has claimed the oldest due entry: zero while one works. `None` if nothing is due.
    async fn unclaimed_for(&self) -> Result<Option<Duration>, Error> {
        let store = &self.0.store;
        let Some(age) = self.due_for().await? else { return Ok(None) };
        // A worker of this process claims, or logs why it cannot.
        let is_worked_on = age < UNCLAIMED_AFTER
            || self.0.workers.workers().running > 0
            || store.paused_since().await?.is_some()
            || self.has_leases(store.now()).await?;
        Ok(Some(if is_worked_on { Duration::ZERO } else { age }))
    }

    /// Whether a lease holds. While another process works on a backlog, it has some.
    async fn has_leases(&self, now: SystemTime) -> Result<bool, Error> {
        let leased = Filter {
            state: Some(State::Leased),
            limit: MAX_LEASED,
            order: ListOrder::NewestFirst,
            ..Filter::default()
        };
        let leased = self.0.store.list(leased).await?.items;
        Ok(leased.iter().any(|entry| entry.at > now))
    }
}
