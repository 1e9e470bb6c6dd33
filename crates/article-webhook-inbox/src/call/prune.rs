use std::time::SystemTime;

/// What retention may remove, and how much of it in one call.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{Inbox, Prune};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().delivery()?).await;
///     let soon = SystemTime::now() + Duration::from_secs(1);
///     let all = Prune { bodies_before: soon, entries_before: soon, ..Prune::default() };
///     assert_eq!(inbox.prune(all).await?.entries, 0, "it is not done");
///
///     inbox.worker(|_| async { Ok(()) }).run_until_idle().await?;
///     assert_eq!(inbox.prune(all).await?.entries, 1);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a literal of it needs `..Prune::default()`")]
pub struct Prune {
    /// Bodies of entries that were done before this time lose their bytes.
    pub bodies_before: SystemTime,
    /// Done and unhandled entries from before this time are removed.
    pub entries_before: SystemTime,
    /// Entries that were dead before this time are removed; `None` keeps them.
    pub dead_before: Option<SystemTime>,
    /// Maximum number of bodies and of entries, each.
    pub limit: u32,
    /// A literal without `..Prune::default()` would not compile with a version that has more fields.
    #[doc(hidden)]
    pub more: (),
}

/// Removes nothing: both times are the Unix epoch, and dead entries are kept. At most 500 bodies and entries.
impl Default for Prune {
    fn default() -> Self {
        Self {
            bodies_before: SystemTime::UNIX_EPOCH,
            entries_before: SystemTime::UNIX_EPOCH,
            dead_before: None,
            limit: 500,
            more: (),
        }
    }
}

/// What retention removed.
///
/// ```
/// use article_webhook_inbox::Pruned;
///
/// let nothing = Pruned::default();
/// assert_eq!((nothing.bodies, nothing.entries, nothing.more), (0, 0, false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be counted
pub struct Pruned {
    /// Bodies that lost their bytes.
    pub bodies: u32,
    /// Entries that were removed.
    pub entries: u32,
    /// Whether there is more to remove: call again.
    pub more: bool,
}
