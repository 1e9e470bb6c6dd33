use std::{fmt, time::SystemTime};

use article_webhook::{Event, JobId};

use crate::{Entry, State, timestamp::rounded};

/// How many entries are in each state.
///
/// ```
/// use article_webhook_inbox::{Counts, State};
///
/// let counts = Counts::from_iter([(State::Done, 5), (State::Dead, 2)]);
/// assert_eq!((counts.of(State::Dead), counts.of(State::Corrupt), counts.total()), (2, 0, 7));
/// assert_eq!(
///     format!("{counts:?}"),
///     "Counts { waiting: 0, leased: 0, done: 5, dead: 2, unhandled: 0, corrupt: 0, quarantined: 0 }"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; State::ALL.len()]);

impl Counts {
    /// The number of entries in that state.
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// The number of all entries.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts = f.debug_struct("Counts");
        for state in State::ALL {
            counts.field(state.as_str(), &self.of(state));
        }
        counts.finish()
    }
}

impl FromIterator<(State, u64)> for Counts {
    fn from_iter<I: IntoIterator<Item = (State, u64)>>(counts: I) -> Self {
        let mut all = Self::default();
        for (state, count) in counts {
            all.0[state as usize] += count;
        }
        all
    }
}

/// Which entries to list, and where to begin. The default lists all entries, a hundred per page.
///
/// ```
/// use article_webhook_inbox::{Filter, Inbox, State};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let inbox = Inbox::memory();
///     let mut dead = Filter { state: Some(State::Dead), ..Filter::default() };
///     loop {
///         let page = inbox.list(dead.clone()).await?;
///         page.entries.iter().for_each(|entry| println!("{}: {:?}", entry.key, entry.cause));
///         let Some(next) = page.next else { break };
///         dead.after = next;
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Filter {
    /// Only entries in this state.
    pub state: Option<State>,
    /// Only entries of this event.
    pub event: Option<Event>,
    /// Only entries of this job.
    pub job_id: Option<JobId>,
    /// Only entries whose first body was delivered to this target.
    pub target: Option<Box<str>>,
    /// Only entries whose first body was stored before this time, in whole milliseconds.
    pub received_before: Option<SystemTime>,
    /// Only entries that come after the one with this id: [`Page::next`] of the previous page. 0: from the first.
    pub after: i64,
    /// In which order.
    pub order: ListOrder,
    /// Maximum number of entries on the page.
    pub limit: u32,
}

/// The order of a list.
///
/// ```
/// use article_webhook_inbox::{Filter, Inbox, ListOrder};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     for job in ["job_1", "job_2", "job_3"] {
///         inbox.accept(fixture::complete().job_id(job).delivery()?).await;
///     }
///     let mut newest = Filter { order: ListOrder::NewestFirst, limit: 2, ..Filter::default() };
///     let page = inbox.list(newest.clone()).await?;
///     assert_eq!(page.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [3, 2]);
///     newest.after = page.next.ok_or("there is one more")?;
///     let page = inbox.list(newest).await?;
///     assert_eq!((page.entries[0].id, page.next), (1, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "a store that forgets an order must not compile")]
pub enum ListOrder {
    /// By ascending id. What arrives meanwhile is on the last page.
    #[default]
    OldestFirst,
    /// By descending id. What arrives meanwhile is on the first page.
    NewestFirst,
}

impl Filter {
    /// Whether an entry passes the filter. `limit` is not part of that.
    #[must_use]
    pub fn accepts(&self, entry: &Entry) -> bool {
        let is_after = match self.order {
            ListOrder::OldestFirst => entry.id > self.after,
            ListOrder::NewestFirst => self.after == 0 || entry.id < self.after,
        };
        is_after
            && self.state.is_none_or(|state| state == entry.state)
            && self.event.as_ref().is_none_or(|event| *event == entry.key.event)
            && self.job_id.as_ref().is_none_or(|job_id| *job_id == entry.key.job_id)
            && self.target.as_ref().is_none_or(|target| *target == entry.target)
            && self.received_before.is_none_or(|before| entry.received_at < rounded(before))
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            state: None,
            event: None,
            job_id: None,
            target: None,
            received_before: None,
            after: 0,
            order: ListOrder::OldestFirst,
            limit: 100,
        }
    }
}

/// A page of entries that pass a filter.
///
/// ```
/// use article_webhook_inbox::{Filter, Inbox};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     for job in ["job_1", "job_2", "job_3"] {
///         inbox.accept(fixture::complete().job_id(job).delivery()?).await;
///     }
///     let first = inbox.list(Filter { limit: 2, ..Filter::default() }).await?;
///     assert_eq!(first.entries.len(), 2);
///
///     let after = first.next.ok_or("another page follows")?;
///     let last = inbox.list(Filter { after, limit: 2, ..Filter::default() }).await?;
///     assert_eq!((last.entries.len(), last.next), (1, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Page {
    /// The entries, in the order of the filter.
    pub entries: Vec<Entry>,
    /// [`Filter::after`] for the next page; `None` if this is the last page.
    pub next: Option<i64>,
}
