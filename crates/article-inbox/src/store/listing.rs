use article_webhook::{Event, JobId};

use crate::{Entry, State};

/// How many entries stand where.
///
/// ```
/// use article_inbox::{Counts, State};
///
/// let counts = Counts::from_iter([(State::Done, 5), (State::Dead, 2)]);
/// assert_eq!((counts.of(State::Dead), counts.of(State::Corrupt), counts.total()), (2, 0, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; State::ALL.len()]);

impl Counts {
    /// The entries in that state.
    ///
    /// ```
    /// use article_inbox::{Counts, State};
    ///
    /// let counts = Counts::from_iter([(State::Dead, 2)]);
    /// assert_eq!((counts.of(State::Dead), counts.of(State::Done), counts.total()), (2, 0, 2));
    /// ```
    #[must_use]
    pub fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// All entries.
    ///
    /// ```
    /// assert_eq!(article_inbox::Counts::default().total(), 0);
    /// ```
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
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

/// Which entries, and from where on. By default all of them, a hundred a page.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::Arrival};
/// # let store = MemoryStore::new(Clock::system());
/// # let arrival = |bytes: &'static str| Arrival {
/// #     key: Key::article("job_1".parse().unwrap()), source: Source::Api, target: "default".into(), intent: None,
/// #     digest: Digest::of(bytes.as_bytes()), bytes: bytes.into(),
/// # };
/// # store.record(arrival("{}")).await?;
/// use article_inbox::{Filter, State};
///
/// let waiting = Filter { state: Some(State::Waiting), ..Filter::default() };
/// assert_eq!(store.list(waiting).await?.entries.len(), 1);
/// let dead = Filter { state: Some(State::Dead), ..Filter::default() };
/// assert!(store.list(dead).await?.entries.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those of this event.
    pub event: Option<Event>,
    /// Only those of this job.
    pub job_id: Option<JobId>,
    /// Only those with a greater id: [`Page::next`] of the page before.
    pub after: i64,
    /// At most so many.
    pub limit: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { state: None, event: None, job_id: None, after: 0, limit: 100 }
    }
}

/// Some of the entries that pass a filter.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::Arrival};
/// # let store = MemoryStore::new(Clock::system());
/// # let arrival = |bytes: &'static str| Arrival {
/// #     key: Key::article("job_1".parse().unwrap()), source: Source::Api, target: "default".into(), intent: None,
/// #     digest: Digest::of(bytes.as_bytes()), bytes: bytes.into(),
/// # };
/// # store.record(arrival("{}")).await?;
/// use article_inbox::Filter;
///
/// let page = store.list(Filter { limit: 1, ..Filter::default() }).await?;
/// assert_eq!((page.entries.len(), page.next), (1, None));
/// let nothing = store.list(Filter { after: page.entries[0].id, ..Filter::default() }).await?;
/// assert!(nothing.entries.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// By ascending id.
    pub entries: Vec<Entry>,
    /// Where the next page begins; `None` if this was the last.
    pub next: Option<i64>,
}
