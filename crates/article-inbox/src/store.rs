//! What an inbox needs of a database, and what it gives back.

mod arrival;
mod completion;
mod hint;
mod lease;
mod listing;
mod memory;
mod outcome;
mod pruning;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::{
    fmt,
    pin::Pin,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use crate::{Body, Entry, Error, Key};

pub use arrival::{Arrival, Recorded};
pub use completion::Completion;
pub use hint::Hint;
pub use lease::{Claim, Claimed, Claims, Lease};
pub use listing::{Counts, Filter, Page};
pub use memory::MemoryStore;
pub use outcome::{Outcome, Settled};
pub use pruning::{Prune, Pruned};
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

/// Where entries are kept. This is the written contract; the crate `article-inbox-contract` is the same as tests, and
/// [`MemoryStore`] as code.
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
    /// - Without room, when one of the bodies is known to decode (the entry is done or dead, or waits because a
    ///   handler failed): `Conflict { kept: false }`. When none is: nothing changes, [`Crowded`](Recorded::Crowded).
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
