use std::time::SystemTime;

use article_webhook::JobId;

/// A job whose authentic delivery was refused or could not be stored. Its article can be fetched from the
/// service's API.
///
/// ```
/// use std::time::SystemTime;
/// use article_inbox::{Hint, MemoryStore, store::Store};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let store = MemoryStore::default();
///     let hint = Hint { job_id: "job_1".parse()?, at: SystemTime::UNIX_EPOCH, code: "malformed_json".into() };
///     store.hint(hint.clone()).await?;
///     store.hint(Hint { code: "unprocessable".into(), ..hint.clone() }).await?;
///     assert_eq!(store.hints(10).await?, [hint], "a store keeps the first hint of a job");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct Hint {
    /// The job.
    pub job_id: JobId,
    /// When the delivery was refused or could not be stored.
    pub at: SystemTime,
    /// The code of the refusal, such as `malformed_json`, or `unavailable`.
    pub code: Box<str>,
}
