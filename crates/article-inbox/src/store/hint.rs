use std::time::SystemTime;

use article_webhook::JobId;

/// A reason to ask the service's API for a job: an authentic delivery of it was refused.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::SystemTime;
/// use article_inbox::{MemoryStore, Store, store::Hint};
///
/// let store = MemoryStore::default();
/// let hint = Hint { job_id: "job_1".parse()?, at: SystemTime::UNIX_EPOCH, code: "malformed_json".into() };
/// store.hint(hint.clone()).await?;
/// store.hint(Hint { code: "unprocessable".into(), ..hint.clone() }).await?;
/// assert_eq!(store.hints(10).await?, [hint], "the first is kept");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The job.
    pub job_id: JobId,
    /// When the refusal was.
    pub at: SystemTime,
    /// The code of the refusal, such as `malformed_json`.
    pub code: Box<str>,
}
