use std::{
    sync::atomic::Ordering,
    time::{Duration, SystemTime},
};

use article_inbox::{
    Error, LedgerCounts,
    store::{Bucket, Pause},
};

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
///     assert_eq!((health.counts.open(), health.counts.overdue), (1, 0));
///     assert!(health.paused.is_none() && health.key_refused_at.is_none());
///     assert_eq!(health.running, 0, "nothing is asked for: `run` was not called");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct CollectorHealth {
    /// How many jobs are in each state, since when the oldest is expected, how many are overdue, how many articles were
    /// recovered, and how many orders have an unknown outcome.
    pub counts: LedgerCounts,
    /// The pause in which nothing is asked or ordered, while it lasts.
    pub paused: Option<Pause>,
    /// When the service last refused the API key.
    pub key_refused_at: Option<SystemTime>,
    /// How many clones of this collector run in this process. While it is 0, nothing is asked for.
    pub running: u32,
}

pub(crate) async fn health(shared: &Shared) -> Result<CollectorHealth, Error> {
    let counts = shared.ledger.ledger_counts().await?;
    let bucket: Bucket = shared.ledger.bucket().await?;
    let now = shared.ledger.now();
    let paused = bucket.paused(now);
    let until = |pause: Pause| pause.until.duration_since(now).unwrap_or_default();
    let oldest = counts.oldest_expected.and_then(|since| now.duration_since(since).ok());
    let paused_for = paused.map_or(Duration::ZERO, until);
    telemetry::health(&counts, oldest.unwrap_or_default(), paused_for);
    let running = shared.running.load(Ordering::Relaxed);
    Ok(CollectorHealth { counts, paused, key_refused_at: bucket.refused_at, running })
}
