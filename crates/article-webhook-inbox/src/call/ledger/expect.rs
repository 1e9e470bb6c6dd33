use std::time::SystemTime;

use article_webhook::JobId;

use super::Reason;

/// A job to expect.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{JobState, MemoryStore, Reason, store::{Expect, Ledger}};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let store = MemoryStore::default();
///     let at = SystemTime::now() + Duration::from_secs(600);
///     let expect = Expect::job("job_1".parse()?, at);
///     assert_eq!(store.expect(vec![expect.clone()]).await?, [JobState::Expected]);
///
///     // The same job again changes nothing.
///     store.expect(vec![Expect { reason: Reason::Backfill, ..expect }]).await?;
///     let job = store.job("job_1".parse()?).await?.ok_or("it is still there")?;
///     assert_eq!(job.reason, Reason::OrderedElsewhere);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct Expect {
    /// The job.
    pub job_id: JobId,
    /// Why it is expected.
    pub reason: Reason,
    /// The intent that it was ordered with. If the ledger has it and does not know its job, it became this one.
    pub intent: Option<Box<str>>,
    /// When it is asked for first.
    pub at: SystemTime,
    /// The API key that it was ordered with, as [`BucketSettings::key`](super::BucketSettings::key) names it. `None` if that
    /// is not known.
    pub key: Option<u64>,
}

impl Expect {
    /// A job that the application expects, and asks for first at that time.
    #[must_use]
    pub fn job(job_id: JobId, at: SystemTime) -> Self {
        Self { job_id, reason: Reason::OrderedElsewhere, intent: None, at, key: None }
    }
}
