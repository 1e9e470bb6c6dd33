//! What the inbox keeps: entries and their bodies.

mod body;
mod cause_group;
mod failure;
mod key;
mod source;
mod state;
mod title;

use std::{fmt, time::SystemTime};

pub(crate) use body::CAPABILITY;
pub use body::{Body, MAX_BODIES_PER_ENTRY};
pub use cause_group::cause_group;
pub use failure::{Failure, MAX_FAILURES_PER_ENTRY};
pub use key::EntryKey;
pub use source::Source;
pub use state::State;
pub(crate) use title::excerpt;
pub use title::title_of;

/// An entry without its bodies. There is one entry per job and event.
///
/// ```
/// use article_webhook_inbox::{Filter, Inbox, State};
/// use article_webhook::{Reply, Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     assert!(inbox.list(Filter::default()).await?.items.is_empty());
///
///     let delivery = fixture::complete().job_id("job_1").delivery()?;
///     assert_eq!(inbox.accept(delivery).await, Reply::Stored);
///     let entry = &inbox.list(Filter::default()).await?.items[0];
///     assert_eq!((entry.key.job_id.as_str(), entry.state, entry.attempts), ("job_1", State::Waiting, 0));
///     Ok(())
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be kept of an entry
pub struct Entry {
    /// The number of the entry in its store. Numbers ascend in the order of arrival and are never reused.
    pub id: i64,
    /// The job and the event.
    pub key: EntryKey,
    /// The state of the work on it.
    pub state: State,
    /// How many attempts began since it was stored or requeued.
    pub attempts: u32,
    /// When its first body was stored.
    pub received_at: SystemTime,
    /// The label of the publish target that its first body was delivered to.
    pub target: Box<str>,
    /// How its first body reached the inbox.
    pub source: Source,
    /// The length of its first body in bytes; `None` once retention has removed it.
    pub length: Option<u64>,
    /// The title of its article: the first 200 characters. `None` if it has none, if it stands behind the first 64 KiB of the
    /// body, or once retention has removed the body.
    pub title: Option<Box<str>>,
    /// Waiting: when it is due. Leased: when the lease ends. Otherwise: when it entered its state.
    pub at: SystemTime,
    /// When it entered its state. Waiting: when the wait began.
    pub since: SystemTime,
    /// How many bodies differed from all earlier ones, including those that were not kept.
    pub conflicts: u32,
    /// The node whose worker has it, or had it last, where the workers of several nodes share the store. `None` where one
    /// process has the store, unless the entry was copied from such a store.
    pub node: Option<Box<str>>,
    /// Why it waits again, or is dead, unhandled, quarantined or corrupt. If the handler returned an error, the cause is that
    /// error. `Debug` shows it; log events of this crate never do.
    pub cause: Option<String>,
    /// When it was requeued last. Entries that were requeued together have the same time.
    pub requeued_at: Option<SystemTime>,
    /// The last causes, the oldest first, also of failures before a requeue. At most [`MAX_FAILURES_PER_ENTRY`].
    pub failures: Vec<Failure>,
}

/// Without the title, which is of the article.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("key", &self.key)
            .field("state", &self.state)
            .field("attempts", &self.attempts)
            .field("received_at", &self.received_at)
            .field("target", &self.target)
            .field("source", &self.source)
            .field("length", &self.length)
            .field("at", &self.at)
            .field("since", &self.since)
            .field("conflicts", &self.conflicts)
            .field("node", &self.node)
            .field("cause", &self.cause)
            .field("requeued_at", &self.requeued_at)
            .field("failures", &self.failures)
            .finish_non_exhaustive()
    }
}
