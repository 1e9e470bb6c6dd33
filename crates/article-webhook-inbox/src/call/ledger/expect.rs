use std::time::SystemTime;

use article_webhook::JobId;

use super::Reason;

/// A job to expect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct Expect {
    /// The job.
    pub job_id: JobId,
    /// Why it is expected.
    pub reason: Reason,
    /// The intent that it was ordered with. If the ledger has it and does not know its job, it became this one.
    pub intent: Option<Box<str>>,
    /// When it is polled first.
    pub at: SystemTime,
    /// The API key that it was ordered with, as [`BucketSettings::key`](super::BucketSettings::key) names it. `None` if that
    /// is not known.
    pub key: Option<u64>,
}

impl Expect {
    /// A job that the application expects, and polls first at that time.
    #[must_use]
    pub fn job(job_id: JobId, at: SystemTime) -> Self {
        Self { job_id, reason: Reason::OrderedElsewhere, intent: None, at, key: None }
    }
}
