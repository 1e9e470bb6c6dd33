use std::{
    sync::atomic::Ordering,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Error, LedgerHealth};
use tokio::time::{sleep, timeout};

use crate::{
    schedule::Schedule,
    shared::Shared,
    telemetry::{self, Figures},
};

const HOUR: Duration = Duration::from_secs(3600);

/// How long the store may take for the figures that are logged.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The figures that an operator watches.
///
/// ```
/// use article_webhook_client::{ApiKey, Client};
/// use article_webhook_collector::Collector;
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let client = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://127.0.0.1:1")?;
///     let collector = Collector::new(&Inbox::memory(), client);
///     collector.expect("job_1".parse()?).await?;
///
///     let health = collector.health().await?;
///     assert_eq!((health.ledger.counts.open(), health.ledger.counts.overdue), (1, 0));
///     assert!(health.ledger.paused.is_none() && health.ledger.key_refused_at.is_none());
///     assert_eq!(health.running, 0, "nothing is polled: `run` was not called");
///     assert_eq!(health.tokens, 5);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct CollectorHealth {
    /// What is expected, and the pause of polls and orders with the API key of this collector. Under
    /// [`Schedule::polling`] nothing is recovered.
    pub ledger: LedgerHealth,
    /// How many clones of this collector run in this process. While it is 0, nothing is polled.
    pub running: u32,
    /// How many polls may be sent at once now, unless they are paused.
    pub tokens: u32,
}

pub(crate) async fn health(shared: &Shared) -> Result<CollectorHealth, Error> {
    let mut ledger = shared.inbox.ledger_health().await?;
    let bucket = shared.ledger.bucket().await?;
    let (now, settings) = (shared.ledger.now(), shared.bucket());
    // Another collector may use another key.
    ledger.paused = bucket.paused(settings.key, now);
    if shared.settings.schedule == Schedule::polling() {
        // Every article comes by a poll, and is no proof of a lost delivery.
        ledger.counts.recovered = 0;
    }
    let health = CollectorHealth {
        ledger,
        running: shared.running.load(Ordering::Relaxed),
        tokens: bucket.tokens(settings, now),
    };
    telemetry::health(&figures(&health, now));
    Ok(health)
}

/// Logs the figures every hour, for ever.
pub(crate) async fn summarize_hourly(shared: &Shared) {
    loop {
        sleep(HOUR).await;
        summarize(shared).await;
    }
}

/// Logs the figures.
pub(crate) async fn summarize(shared: &Shared) {
    match timeout(STORE_TIMEOUT, health(shared)).await {
        Ok(Ok(health)) => telemetry::summary(&figures(&health, shared.ledger.now())),
        Ok(Err(error)) => telemetry::store_failed("health", &error),
        Err(_) => telemetry::store_failed("health", &Error::unavailable("no answer in 5 seconds")),
    }
}

fn figures(health: &CollectorHealth, now: SystemTime) -> Figures {
    let CollectorHealth { ledger, tokens, .. } = health;
    let since = |since| now.duration_since(since).unwrap_or_default();
    let paused = ledger.paused.and_then(|pause| pause.until.duration_since(now).ok());
    Figures {
        counts: ledger.counts,
        oldest: ledger.counts.oldest_expected.map(since).unwrap_or_default(),
        paused: paused.unwrap_or_default(),
        tokens: *tokens,
    }
}
