use std::sync::atomic::Ordering;

use article_inbox::{Error, LedgerHealth};

use crate::{shared::Shared, telemetry};

/// The figures that an operator watches.
///
/// ```
/// use article_client::{ApiKey, Client};
/// use article_collector::Collector;
/// use article_inbox::Inbox;
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
///     assert_eq!(health.running, 0, "nothing is asked for: `run` was not called");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct CollectorHealth {
    /// What is expected, and the pause of asks and orders with the API key of this collector.
    pub ledger: LedgerHealth,
    /// How many clones of this collector run in this process. While it is 0, nothing is asked for.
    pub running: u32,
}

pub(crate) async fn health(shared: &Shared) -> Result<CollectorHealth, Error> {
    let mut ledger = shared.inbox.ledger_health().await?;
    let bucket = shared.ledger.bucket().await?;
    // Another collector may use another key.
    ledger.paused = bucket.paused(shared.bucket().key, shared.ledger.now());
    let (now, oldest) = (shared.ledger.now(), ledger.counts.oldest_expected);
    let oldest = oldest.and_then(|since| now.duration_since(since).ok()).unwrap_or_default();
    let paused = ledger.paused.and_then(|pause| pause.until.duration_since(now).ok());
    telemetry::health(&ledger.counts, oldest, paused.unwrap_or_default());
    Ok(CollectorHealth { ledger, running: shared.running.load(Ordering::Relaxed) })
}
