use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// How many failures are kept of one entry.
pub const MAX_FAILURES_PER_ENTRY: usize = 8;

/// Why an entry did not become done, and when: a handler failed, an attempt ended without a result, or no body is an
/// article. An entry keeps its last [`MAX_FAILURES_PER_ENTRY`].
///
/// ```
/// use article_webhook_inbox::{Failed, Filter, Inbox, State};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().delivery()?).await;
///     inbox.worker(|_| async { Err(Failed::dead("the blog is gone")) }).run_until_idle().await?;
///
///     let entry = inbox.list(Filter::default()).await?.items.remove(0);
///     assert_eq!(entry.state, State::Dead);
///     assert_eq!((entry.failures[0].attempt, entry.failures[0].cause.as_str()), (1, "the blog is gone"));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive] // more may be kept of a failure
pub struct Failure {
    /// When it was stored.
    #[serde(with = "crate::codec::millis")]
    pub at: SystemTime,
    /// How many attempts of the entry counted then. An attempt that found no article does not count.
    pub attempt: u32,
    /// Why. If the handler returned an error, the cause is that error. Log events of this crate never contain it.
    pub cause: String,
}

impl Failure {
    #[doc(hidden)]
    #[must_use]
    pub fn new(at: SystemTime, attempt: u32, cause: String) -> Self {
        Self { at, attempt, cause }
    }
}
