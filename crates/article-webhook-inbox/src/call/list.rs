use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, SystemTime},
};

use article_webhook::{Event, JobId};

use crate::{
    Entry, State, cause_group,
    timestamp::{from_millis, rounded},
};

/// How much of a cause a search looks into.
const MAX_SEARCHED_CAUSE: usize = 200;

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
        for &state in State::ALL {
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

/// Which entries to list, and where to begin. The default lists all entries, a hundred per page. A literal ends with
/// `..Filter::default()`, as further fields may follow.
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
///         page.items.iter().for_each(|entry| println!("{}: {:?}", entry.key, entry.cause));
///         let Some(next) = page.next else { break };
///         dead.after = next;
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a literal of it needs `..Filter::default()`")]
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
    /// Only entries whose first body was stored at this time or later, in whole milliseconds.
    pub received_since: Option<SystemTime>,
    /// Only entries with a cause of this [group](crate::cause_group).
    pub cause: Option<Box<str>>,
    /// Only entries that were requeued at this time, which is that of [`Entry::requeued_at`].
    pub requeued_at: Option<SystemTime>,
    /// Only entries that have this text, in upper or lower case, in their job id, their title or the first 200 characters of
    /// their cause.
    pub search: Option<Box<str>>,
    /// Only entries that come after the one with this id: [`Page::next`] of the previous page. 0: from the first.
    pub after: i64,
    /// In which order.
    pub order: ListOrder,
    /// Maximum number of entries on the page.
    pub limit: u32,
    /// A literal without `..Filter::default()` would not compile with a version that has more fields.
    #[doc(hidden)]
    pub more: (),
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
///     assert_eq!(page.items.iter().map(|entry| entry.id).collect::<Vec<_>>(), [3, 2]);
///     newest.after = page.next.ok_or("there is one more")?;
///     let page = inbox.list(newest).await?;
///     assert_eq!((page.items[0].id, page.next), (1, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // there may be more orders
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
            && self.received_since.is_none_or(|since| entry.received_at >= rounded(since))
            && self.cause.as_ref().is_none_or(|cause| {
                let of_entry = entry.cause.as_deref().map(cause_group);
                of_entry.as_deref() == Some(cause)
            })
            && self.requeued_at.is_none_or(|at| entry.requeued_at == Some(at))
            && self.search_term().is_none_or(|term| {
                let (title, cause) = (entry.title.as_deref(), entry.cause.as_deref());
                search_text(&entry.key.job_id, title, cause).contains(&term)
            })
    }
}

/// What a search looks into: in lower case, so that it finds both.
pub(crate) fn search_text(job_id: &JobId, title: Option<&str>, cause: Option<&str>) -> String {
    let cause = cause.unwrap_or_default();
    let end = cause.char_indices().nth(MAX_SEARCHED_CAUSE).map_or(cause.len(), |(end, _)| end);
    searched(&format!("{job_id}\n{}\n{}", title.unwrap_or_default(), &cause[..end]))
}

impl Filter {
    /// What the text that is searched has to contain.
    #[doc(hidden)]
    #[must_use]
    pub fn search_term(&self) -> Option<String> {
        Some(searched(self.search.as_ref()?))
    }
}

/// In lower case, and without the character that PostgreSQL stores in no text.
fn searched(text: &str) -> String {
    text.to_lowercase().replace('\0', "\u{fffd}")
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            state: None,
            event: None,
            job_id: None,
            target: None,
            received_before: None,
            received_since: None,
            cause: None,
            requeued_at: None,
            search: None,
            after: 0,
            order: ListOrder::OldestFirst,
            limit: 100,
            more: (),
        }
    }
}

/// A page of entries, jobs or intents.
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
///     assert_eq!(first.items.len(), 2);
///
///     let after = first.next.ok_or("another page follows")?;
///     let last = inbox.list(Filter { after, limit: 2, ..Filter::default() }).await?;
///     assert_eq!((last.items.len(), last.next), (1, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be returned with a page
pub struct Page<T> {
    /// What was asked for: entries in the order of the filter, jobs and intents by ascending id.
    pub items: Vec<T>,
    /// `after` for the next page; `None` if this is the last page.
    pub next: Option<i64>,
}

impl<T> Page<T> {
    #[doc(hidden)]
    #[must_use]
    pub fn new(items: Vec<T>, next: Option<i64>) -> Self {
        Self { items, next }
    }
}

/// How many entries are in one state for one reason.
///
/// ```
/// use article_webhook_inbox::{Failed, Filter, Inbox, State};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     assert!(inbox.causes().await?.is_empty());
///     for job in ["job_1", "job_2"] {
///         inbox.accept(fixture::complete().job_id(job).delivery()?).await;
///     }
///     let publish = |job: article_webhook_inbox::Job| async move {
///         Err(Failed::because(format!("{}: HTTP 503", job.job_id())))
///     };
///     inbox.worker(publish).attempts(1).run_until_idle().await?;
///
///     let causes = inbox.causes().await?;
///     let [group] = &causes[..] else { return Err("two entries for one reason".into()) };
///     assert_eq!((group.state, group.cause.as_deref()), (State::Dead, Some("#: HTTP 503")));
///     assert_eq!(group.count, 2);
///
///     let requeued = inbox.requeue_all(group.filter().ok_or("it has a cause")?).await?;
///     assert_eq!(requeued.count, 2);
///     let since = requeued.at.ok_or("two were requeued")?;
///     assert_eq!(inbox.causes_of_requeued(since).await?[0].state, State::Waiting);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be counted
pub struct CauseCount {
    /// The state of the entries.
    pub state: State,
    /// The [group](crate::cause_group) of their causes; `None` for entries without a cause.
    pub cause: Option<Box<str>>,
    /// How many there are.
    pub count: u64,
    /// When the first of them entered the state.
    pub first: SystemTime,
    /// When the last of them entered the state.
    pub last: SystemTime,
}

impl CauseCount {
    #[doc(hidden)]
    #[must_use]
    pub fn new(
        state: State,
        cause: Option<Box<str>>,
        count: u64,
        first: SystemTime,
        last: SystemTime,
    ) -> Self {
        Self { state, cause, count, first, last }
    }

    /// A filter for these entries. `None` without a cause: no filter distinguishes these from the others of their state.
    #[must_use]
    pub fn filter(&self) -> Option<Filter> {
        let cause = Some(self.cause.clone()?);
        Some(Filter { state: Some(self.state), cause, ..Filter::default() })
    }
}

/// How many entries arrived in one hour, and how many died.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::Inbox;
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     let yesterday = SystemTime::now() - Duration::from_secs(24 * 3600);
///     assert!(inbox.history(yesterday).await?.is_empty());
///     inbox.accept(fixture::complete().delivery()?).await;
///     let hours = inbox.history(yesterday).await?;
///     assert_eq!((hours.len(), hours[0].arrived, hours[0].died), (1, 1, 0));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be counted
pub struct HourCount {
    /// When the hour begins, in UTC.
    pub hour: SystemTime,
    /// How many entries arrived in it, among the newest 100,000.
    pub arrived: u64,
    /// How many entries died in it and are still dead.
    pub died: u64,
}

impl HourCount {
    /// An hour.
    pub const LENGTH: Duration = Duration::from_secs(3600);

    /// How many of the newest entries are counted.
    pub const MAX_ENTRIES: u32 = 100_000;

    /// The hours in which something happened, from the first on, of their numbers since 1970 with what arrived, and with what
    /// died.
    #[doc(hidden)]
    pub fn collect(arrived: Vec<(i64, u64)>, died: Vec<(i64, u64)>) -> Vec<Self> {
        let mut hours = BTreeMap::<i64, (u64, u64)>::new();
        arrived.into_iter().for_each(|(hour, count)| hours.entry(hour).or_default().0 += count);
        died.into_iter().for_each(|(hour, count)| hours.entry(hour).or_default().1 += count);
        let of = |(hour, (arrived, died)): (i64, _)| Self {
            hour: from_millis(hour.saturating_mul(MILLIS_PER_HOUR)),
            arrived,
            died,
        };
        hours.into_iter().map(of).collect()
    }
}

/// How many milliseconds an hour has.
pub const MILLIS_PER_HOUR: i64 = 3_600_000;
