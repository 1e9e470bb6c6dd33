//! What an inbox needs of a database, and what it gives back.

#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::{
    fmt,
    pin::Pin,
    time::{Duration, SystemTime},
};

use article_webhook::{Delivery, Event, JobId};

use crate::{Body, Digest, Entry, Error, Key, Source, State};

pub use memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteSettings, SqliteStore};

/// What a store's calls return: a future of a result.
///
/// ```
/// use article_inbox::{Error, store::Pending};
///
/// fn refuse<'a>() -> Pending<'a, ()> {
///     Box::pin(async { Err(Error::unavailable("the database is locked")) })
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert!(refuse().await.unwrap_err().is_transient());
/// # });
/// ```
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Where entries are kept. This is the written contract; the module `contract` (feature
/// `contract`) is the same as tests, and [`MemoryStore`] as code.
///
/// For every call:
///
/// - It is one transaction: all of it happens or nothing. A call that changed something returns `Ok` only when the
///   change would survive a crash; a failed commit, or one whose outcome is unknown, is an `Err`.
/// - Dropping its future does not undo it, and need not stop it: whoever hangs up leaves nothing half done.
/// - Times are the store's own ([`Clock`](crate::Clock), or the database's), rounded down to milliseconds.
/// - `Err` is [transient](Error::is_transient) when the same call may succeed later. Calls wait at most two
///   seconds for a store that is locked or busy.
///
/// An entry is *due* when it is waiting and its time `at` has come, or when it is leased and the lease has ended.
///
/// It is written for a database; this is what a worker does with it:
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
/// use std::time::Duration;
/// use article_inbox::{State, store::{Claim, Outcome, Settled}};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// assert_eq!(store.settle(lease, Outcome::Done).await?, Settled::Settled);
/// assert_eq!(store.counts().await?.of(State::Done), 1);
/// assert!(store.extend(&[lease], claim.lease).await?.is_empty(), "it holds no more");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// The store's time, as near as this process knows it without asking.
    fn now(&self) -> SystemTime;

    /// Stores a body under its key. It never looks into it.
    ///
    /// - No such entry: it is made, waiting, due now, with no attempts. [`Stored`](Recorded::Stored).
    /// - A body of this digest is there already: nothing changes, [`Duplicate`](Recorded::Duplicate); unless
    ///   the entry is corrupt: then the bytes replace those that are there, the entry waits, due now, without cause,
    ///   `Stored`.
    /// - A body of another digest, and the entry is unhandled or corrupt: it is added, or takes the place of the
    ///   last where there are [`BODIES`](crate::BODIES) already; the entry waits, due now, without cause; `Stored`.
    /// - Otherwise, with room: it is added, and nothing else changes. `Conflict { kept: true }`.
    /// - Without room, when one of the bodies is known to decode (the entry is done or dead, or waits with an attempt
    ///   behind it): `Conflict { kept: false }`. When none is: nothing changes, [`Crowded`](Recorded::Crowded).
    ///
    /// Every body of another digest counts in [`Entry::conflicts`], but for `Crowded`.
    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded>;

    /// Leases the entries that are due, those due longest first, then those of the smallest id.
    ///
    /// A due entry whose attempts have reached those allowed is buried instead: dead, since now, with the cause
    /// `the last attempt did not end`; unless it has a cause already. Any other gets one attempt more, a new
    /// fence, and a lease from now on.
    fn claim(&self, claim: Claim) -> Pending<'_, Claims>;

    /// Lets leases last from now on for as long as `lease` says, and returns those that still held. One that
    /// has ended is not extended, nor one whose entry was claimed again, forgotten, or settled.
    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>>;

    /// Says what became of an attempt. A lease that no longer holds changes nothing: [`Settled::LostLease`]. An
    /// entry that is done under this very lease stays done, whether by its [`completion`](Self::completion) or by an
    /// outcome before: [`Settled::AlreadyDone`].
    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled>;

    /// A statement that completes the entry if the lease holds, for a transaction of the application's own in
    /// this database. It may hold the time at which it was asked for: a lease that has ended since completes the entry
    /// as long as nobody else has claimed it.
    ///
    /// # Errors
    ///
    /// A store that knows no SQL, or must not be written to by others, says so.
    fn completion(&self, lease: Lease) -> Result<Completion, Error>;

    /// Keeps a hint; of several for one job, the first.
    fn hint(&self, hint: Hint) -> Pending<'_, ()>;

    /// Hints, the oldest first, at most so many.
    fn hints(&self, limit: u32) -> Pending<'_, Vec<Hint>>;

    /// Removes what is older than it need be, a batch at a time, and gives the space back.
    ///
    /// - The bytes of all bodies of entries that are done since before `bodies_before`, but for bodies that were
    ///   stored later than that; digests stay.
    /// - Entries that are done or unhandled since before `entries_before`, with everything about them.
    /// - Hints from before `entries_before`.
    fn prune(&self, prune: Prune) -> Pending<'_, Pruned>;

    /// How many entries stand where.
    fn counts(&self) -> Pending<'_, Counts>;

    /// Since when the entry that is due longest has been due: that of the smallest `at` among waiting ones.
    /// `None` if none waits, or all wait for a later time. Fast, however many entries there are.
    fn due_since(&self) -> Pending<'_, Option<SystemTime>>;

    /// Entries that pass the filter, by ascending id, a page at a time.
    fn list(&self, filter: Filter) -> Pending<'_, Page>;

    /// One entry with its bodies, in the order they came.
    fn show(&self, key: Key) -> Pending<'_, Option<(Entry, Vec<Body>)>>;

    /// Lets a dead, unhandled or corrupt entry wait again, due now, with no attempts and no cause. `false` for any other.
    fn requeue(&self, key: Key) -> Pending<'_, bool>;

    /// Makes a waiting, unhandled or corrupt entry dead, with this cause. `false` for any other.
    fn bury(&self, key: Key, cause: String) -> Pending<'_, bool>;

    /// Erases everything about a job: entries, bodies, hints, so that the database's files hold no bytes of
    /// them any more. Says how many entries there were.
    fn forget(&self, job_id: JobId) -> Pending<'_, u64>;

    /// Puts an entry here that another store has shown. It gets an id of this store; leased becomes waiting, due
    /// now. `false` if there is one of this key: then nothing changes.
    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool>;

    /// Looks for damage: digests, the schema, the settings. A finding is a sentence.
    fn check(&self) -> Pending<'_, Vec<String>>;

    /// Commits something, so as to know whether it can.
    fn probe(&self) -> Pending<'_, ()>;

    /// Finishes what was begun and leaves the files in order. Every later call fails.
    fn close(&self) -> Pending<'_, ()>;
}

/// A body to be stored, and what is known of it.
///
/// ```
/// use article_inbox::store::Arrival;
/// use article_webhook::fixture::{self, Post};
///
/// let post = Post::complete().job_id("job_1");
/// let delivery = fixture::receiver().open(post.headers())?.read(post.body().clone())?;
/// let arrival = Arrival::from(&delivery);
/// assert_eq!((arrival.key.job_id.as_str(), arrival.intent.is_none()), ("job_1", true));
/// assert!(!format!("{arrival:?}").contains("title"), "it shows no body");
/// # Ok::<(), article_webhook::Refused>(())
/// ```
#[derive(Clone)]
pub struct Arrival {
    /// Its job and event.
    pub key: Key,
    /// How it came.
    pub source: Source,
    /// The label of the publish target whose token the sender presented.
    pub target: Box<str>,
    /// The intent of the capability URL it was delivered to.
    pub intent: Option<Box<str>>,
    /// The SHA-256 of the bytes.
    pub digest: Digest,
    /// The body as it came.
    pub bytes: bytes::Bytes,
}

impl From<&Delivery> for Arrival {
    fn from(delivery: &Delivery) -> Self {
        Self {
            key: Key { job_id: delivery.job_id().clone(), event: delivery.event().clone() },
            source: Source::Webhook,
            target: delivery.target().into(),
            intent: delivery.intent().map(Into::into),
            digest: Digest::of(delivery.body()),
            bytes: delivery.body().clone(),
        }
    }
}

impl fmt::Debug for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrival")
            .field("key", &self.key)
            .field("source", &self.source)
            .field("target", &self.target)
            .field("intent", &self.intent)
            .field("digest", &self.digest)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// What became of a body.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::Arrival};
/// # let store = MemoryStore::new(Clock::system());
/// # let arrival = |bytes: &'static str| Arrival {
/// #     key: Key::article("job_1".parse().unwrap()), source: Source::Api, target: "default".into(), intent: None,
/// #     digest: Digest::of(bytes.as_bytes()), bytes: bytes.into(),
/// # };
/// use article_inbox::store::Recorded;
///
/// assert_eq!(store.record(arrival("{}")).await?, Recorded::Stored);
/// assert_eq!(store.record(arrival("{}")).await?, Recorded::Duplicate);
/// assert_eq!(store.record(arrival("[1]")).await?, Recorded::Conflict { kept: true });
/// store.record(arrival("[2]")).await?;
/// store.record(arrival("[3]")).await?;
/// assert_eq!(store.record(arrival("[4]")).await?, Recorded::Crowded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    // Exhaustive: whoever answers must know all of them.
    /// It is stored, and will be worked on.
    Stored,
    /// The same body is stored already.
    Duplicate,
    /// Another body is stored already.
    Conflict {
        /// Whether this one is kept beside it.
        kept: bool,
    },
    /// There is no room for it before a worker has seen the others: the service must come again.
    Crowded,
}

/// The fenced right to work on an entry: whoever claims the entry later gets another fence.
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
/// use std::time::Duration;
/// use article_inbox::store::{Claim, Lease};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// let older = Lease { fence: lease.fence - 1, ..lease };
/// assert_eq!(store.extend(&[older, lease], claim.lease).await?, [lease]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The entry.
    pub id: i64,
    /// Grows with each claim of the entry.
    pub fence: i64,
}

/// What a worker asks for.
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
/// use std::time::Duration;
/// use article_inbox::store::Claim;
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// assert_eq!(store.claim(claim).await?.claimed.len(), 1);
/// assert_eq!(store.claim(claim).await?.claimed.len(), 0, "it is leased");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// At most so many, those that are buried included.
    pub limit: u32,
    /// For how long.
    pub lease: Duration,
    /// How many attempts an entry may have.
    pub attempts: u32,
}

/// What a worker gets.
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
/// use std::time::Duration;
/// use article_inbox::store::Claim;
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 0 };
/// let claims = store.claim(claim).await?;
/// assert_eq!((claims.claimed.len(), claims.buried), (0, vec![Key::article("job_1".parse()?)]));
/// assert_eq!((claims.expired, claims.next_due), (0, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claims {
    /// Leased to it.
    pub claimed: Vec<Claimed>,
    /// The entries that were buried instead.
    pub buried: Vec<Key>,
    /// Leases that had ended, of entries buried or claimed now.
    pub expired: u32,
    /// When the next entry is due: the smallest `at` among those waiting or leased that were not claimed now.
    pub next_due: Option<SystemTime>,
}

/// An entry under a lease.
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
/// use std::time::Duration;
/// use article_inbox::store::Claim;
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let claimed = &store.claim(claim).await?.claimed[0];
/// assert_eq!((claimed.key.job_id.as_str(), claimed.attempt, claimed.bodies.len()), ("job_1", 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// What proves it.
    pub lease: Lease,
    /// Its job and event.
    pub key: Key,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// When its first body was stored.
    pub received_at: SystemTime,
    /// Its bodies, in the order they came.
    pub bodies: Vec<Body>,
}

/// What becomes of an entry after an attempt.
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
/// use std::time::Duration;
/// use article_inbox::{State, store::{Claim, Outcome}};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// let retry = Outcome::Retry { after: Duration::ZERO, cause: "the blog is down".into() };
/// store.settle(lease, retry).await?;
/// assert_eq!(store.counts().await?.of(State::Waiting), 1);
///
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// store.settle(lease, Outcome::Dead { cause: "no such blog".into() }).await?;
/// assert_eq!(store.counts().await?.of(State::Dead), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    // Exhaustive: a store that forgets one of them should not compile.
    /// Done, since now. No cause.
    Done,
    /// Waiting, due so long from now.
    Retry {
        /// The pause.
        after: Duration,
        /// Why it failed.
        cause: String,
    },
    /// Dead, since now.
    Dead {
        /// Why it was given up.
        cause: String,
    },
    /// Nothing to hand to the handler: unhandled, since now, and the attempt does not count. When bodies were added
    /// to the entry since the claim, it waits instead, due now, without cause.
    Unhandled {
        /// How many bodies were looked at.
        seen: usize,
        /// Why none of them will do.
        cause: String,
    },
    /// As `Unhandled`, but corrupt.
    Corrupt {
        /// How many bodies were looked at.
        seen: usize,
        /// What is wrong with them.
        cause: String,
    },
    /// Waiting, due now, and the attempt does not count: the worker stops. The cause stays as it was.
    Released,
}

/// Whether an outcome was kept.
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
/// use std::time::Duration;
/// use article_inbox::store::{Claim, Outcome, Settled};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// assert_eq!(store.settle(lease, Outcome::Released).await?, Settled::Settled);
/// assert_eq!(store.settle(lease, Outcome::Done).await?, Settled::LostLease);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    // Exhaustive: whoever settles must know all of them.
    /// It was.
    Settled,
    /// The application had completed the entry itself, under this lease.
    AlreadyDone,
    /// The lease no longer held, and nothing changed.
    LostLease,
}

/// One SQL statement that completes an entry if its lease still holds. Run it inside a transaction of your own
/// on the same database: when it changes no row, the lease is lost, and you roll back.
///
/// ```
/// use article_inbox::{Clock, Completion, MemoryStore, Store, store::Lease};
///
/// let completion = Completion::new("UPDATE entries SET state = 'done' WHERE id = $1 AND fence = $2", [7, 1]);
/// assert_eq!(completion.parameters(), [7, 1]);
/// assert!(MemoryStore::new(Clock::system()).completion(Lease { id: 7, fence: 1 }).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub(crate) sql: &'static str,
    pub(crate) parameters: Vec<i64>,
}

impl Completion {
    /// For a store of your own: a statement that changes one row if the lease holds, and none if it does not.
    ///
    /// ```
    /// use article_inbox::Completion;
    ///
    /// let completion = Completion::new("UPDATE entries SET state = 'done' WHERE id = $1 AND fence = $2", [7, 1]);
    /// assert_eq!(completion.parameters(), [7, 1]);
    /// ```
    #[must_use]
    pub fn new(sql: &'static str, parameters: impl Into<Vec<i64>>) -> Self {
        Self { sql, parameters: parameters.into() }
    }

    /// The statement, with numbered parameters.
    ///
    /// ```
    /// let completion = article_inbox::Completion::new("UPDATE …", []);
    /// assert_eq!(completion.sql(), "UPDATE …");
    /// ```
    #[must_use]
    pub fn sql(&self) -> &'static str {
        self.sql
    }

    /// Its parameters, in their order: 64-bit integers all of them.
    ///
    /// ```
    /// assert_eq!(article_inbox::Completion::new("UPDATE …", [1]).parameters(), [1]);
    /// ```
    #[must_use]
    pub fn parameters(&self) -> &[i64] {
        &self.parameters
    }
}

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

/// What may go, and how much of it in one call.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::SystemTime;
/// use article_inbox::{MemoryStore, Store, store::{Prune, Pruned}};
///
/// let now = SystemTime::now();
/// let prune = Prune { bodies_before: now, entries_before: now, limit: 500 };
/// assert_eq!(MemoryStore::default().prune(prune).await?, Pruned::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prune {
    /// Bytes of bodies that are older may go.
    pub bodies_before: SystemTime,
    /// Tombstones, unhandled entries and hints that are older may go.
    pub entries_before: SystemTime,
    /// At most so many of each kind.
    pub limit: u32,
}

/// What went.
///
/// ```
/// use article_inbox::store::Pruned;
///
/// let pruned = Pruned { entries: 500, more: true, ..Pruned::default() };
/// assert_eq!((pruned.bodies, pruned.more), (0, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Bodies whose bytes were removed.
    pub bodies: u32,
    /// Entries that were removed.
    pub entries: u32,
    /// Hints that were removed.
    pub hints: u32,
    /// Whether there is more to do: call again.
    pub more: bool,
}

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
