use std::{
    fmt,
    pin::Pin,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use crate::{
    Body, Entry, EntryKey, Error, State,
    call::{
        Arrival, Claim, Claims, Completion, Counts, Excerpt, Filter, Finding, Lease, Outcome, Page,
        Prune, Pruned, Recorded, Settled, StoreHealth,
    },
};

/// The future that a store's calls return.
///
/// ```
/// use article_webhook_inbox::{Error, store::Pending};
///
/// fn refuse<'a>() -> Pending<'a, ()> {
///     Box::pin(async { Err(Error::unavailable("the database is locked")) })
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     assert!(refuse().await.unwrap_err().is_transient());
/// }
/// ```
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A database for the inbox. This is the contract in words. The crate `article-webhook-inbox-contract` is the contract as
/// tests, and [`MemoryStore`](crate::MemoryStore) is the contract as code.
///
/// Every call:
///
/// - is one transaction: it happens completely or not at all. A call that changed something returns `Ok` only when the
///   change would survive a crash. A failed commit, or one whose result is unknown, is an `Err`.
/// - may be dropped at any time. It may then still complete, and it is never half done.
/// - uses the time of the store ([`Clock`](crate::Clock) or the database's), rounded down to milliseconds.
/// - waits at most two seconds for a locked or busy store. Its `Err` is [transient](Error::is_transient) if the same
///   call may succeed later.
///
/// An entry is *due* when it is waiting and its time `at` has come, or when it is leased and the lease has ended
/// ([`Row::is_due`](crate::store::Row::is_due)). What a transition changes is written once, in
/// [`Row`](crate::store::Row): a store loads a row, calls the transition, and writes the row back.
///
/// A store that only one process uses may free the leases of its predecessor when it opens:
/// [`Row::restart`](crate::store::Row::restart). A store for several processes must not; there leases end by themselves.
///
/// # How this trait may grow
///
/// The trait is open to implementors. A minor version adds only methods with a default body. A new method without one,
/// a changed sentence of the contract, and a new field or variant of the types in this module come with a major
/// version.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use article_webhook_inbox::{Digest, EntryKey, MemoryStore, Source, State};
/// use article_webhook_inbox::store::{Arrival, Claim, Events, Outcome, Settled, Store};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let store = MemoryStore::default();
///     let arrival = Arrival {
///         key: EntryKey::article("job_1".parse()?),
///         source: Source::Api,
///         target: "default".into(),
///         intent: None,
///         digest: Digest::of(b"{}"),
///         bytes: "{}".into(),
///     };
///     store.record(arrival).await?;
///
///     let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8, running: 0, events: Events::All, retries_first: false };
///     let lease = store.claim(claim).await?.claimed[0].lease;
///     assert_eq!(store.settle(lease, Outcome::Done).await?, Settled::Settled);
///     assert_eq!(store.counts().await?.of(State::Done), 1);
///     assert!(store.extend(&[lease], claim.lease).await?.is_empty(), "the lease no longer holds");
///     Ok(())
/// }
/// ```
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// The store's time, as far as this process knows it without asking the database.
    fn now(&self) -> SystemTime;

    /// Stores a body under its key, without parsing it.
    ///
    /// - No entry has the key: a new entry is made, waiting, due now, without attempts.
    ///   [`Stored`](Recorded::Stored).
    /// - The entry has a body of this digest: nothing changes. [`Duplicate`](Recorded::Duplicate). If the entry is
    ///   corrupt, the body replaces the stored one, and the entry waits, due now, without a cause. `Stored`.
    /// - The body is new, and the entry is unhandled or corrupt: the body is added, or replaces the last one if there
    ///   are [`MAX_BODIES`](crate::MAX_BODIES). The entry waits, due now, without a cause. `Stored`. A body that the API
    ///   gave replaces the last one that the API gave. If all were delivered, nothing changes: `Crowded`.
    /// - The body is new, and the entry is a [failure](EntryKey::failure): it replaces the first body, and the entry waits,
    ///   due now, without attempts and without a cause. `Stored`.
    /// - The body is new, and there is room: it is added, and nothing else changes. `Conflict { kept: true }`.
    /// - There is no room, and a body is known to decode, because the entry is done or dead or waits after a failed
    ///   attempt: `Conflict { kept: false }`. If none is known to decode, nothing changes:
    ///   [`Crowded`](Recorded::Crowded).
    ///
    /// An intent is kept, whichever of a job's copies brings it: if the body is not kept and no stored body has an intent,
    /// the one of the same digest gets it, or else the first. A body that replaces another and has no intent gets that
    /// one's. After `Crowded` the service delivers again, so nothing is kept.
    ///
    /// Every new body counts in [`Entry::conflicts`], except a crowded one and that of a failure. The rules are
    /// [`Row::record`](crate::store::Row::record) and [`Row::record_failure`](crate::store::Row::record_failure).
    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded>;

    /// Leases due entries of the [events](crate::store::Events) that the claim names, in its [order](Claim::order). Others cost
    /// it nothing, however many are due. While claims are [paused](Self::pause), it returns nothing.
    ///
    /// A due entry that has had all its attempts is buried instead: it is dead now, with its cause, or with
    /// `the last attempt did not end` if it has none. If its last attempt was interrupted, it has one more first. Any other gets one more attempt, a new fence, and a lease from
    /// now on, unless the claim ends before it, so that an entry that crashes the process takes no other along. The rule
    /// is [`Claiming`](crate::store::Claiming).
    fn claim(&self, claim: Claim) -> Pending<'_, Claims>;

    /// Extends leases, which then last for `lease` from now on. Returns those that still held. A lease is lost when it
    /// has ended, or when its entry was claimed again, forgotten or settled. The rule is
    /// [`Row::extend`](crate::store::Row::extend).
    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>>;

    /// Stores the outcome of an attempt. A lost lease changes nothing: [`Settled::LostLease`]. An entry that is done
    /// under this lease already, by a [`completion`](Self::completion) or an earlier outcome, stays done:
    /// [`Settled::AlreadyDone`]. The rule is [`Row::settle`](crate::store::Row::settle).
    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled>;

    /// A statement that completes the entry if the lease holds, for a transaction of the application in this database.
    ///
    /// The statement may contain the time of this call. If the lease ends after that, the statement still completes the
    /// entry, unless another worker has claimed it.
    ///
    /// # Errors
    ///
    /// The store has no SQL, or no other connection may write to it.
    fn completion(&self, lease: Lease) -> Result<Completion, Error>;

    /// Removes a batch of old data, oldest first, and frees its space.
    ///
    /// - The bytes of the bodies of entries that were done before `bodies_before`. A body that was stored after that
    ///   time keeps them. Digests stay.
    /// - Entries that were done or unhandled before `entries_before`, with their bodies.
    /// - Entries that were dead before `dead_before`, if that is set, with their bodies.
    ///
    /// The rules are [`Prune::removes_bytes`] and [`Prune::removes_entry`].
    fn prune(&self, prune: Prune) -> Pending<'_, Pruned>;

    /// How many entries are in each state.
    fn counts(&self) -> Pending<'_, Counts>;

    /// The smallest `at` of all due entries, waiting ones and those whose lease has ended: since when the oldest has been
    /// due. `None` if none is due. Fast for any number of entries.
    fn due_since(&self) -> Pending<'_, Option<SystemTime>>;

    /// A page of the entries that pass the filter, in its order. The rule is [`Filter::accepts`].
    fn list(&self, filter: Filter) -> Pending<'_, Page>;

    /// An entry with its bodies, in the order of their arrival.
    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>>;

    /// The first bytes of the first body of each of these entries, in their order; `None` for an entry that is not there, or
    /// has no body that can be read. The rule is [`Excerpt::of`]. By default it reads all bodies.
    fn excerpts(&self, keys: Vec<EntryKey>, bytes: usize) -> Pending<'_, Vec<Option<Excerpt>>> {
        Box::pin(async move {
            let mut excerpts = Vec::with_capacity(keys.len());
            for key in keys {
                let bodies = self.show(key).await?.map(|(_, bodies)| bodies).unwrap_or_default();
                excerpts.push(bodies.first().map(|body| Excerpt::of(body, bytes)));
            }
            Ok(excerpts)
        })
    }

    /// Requeues an entry that is waiting, dead, unhandled or corrupt, or done while one of its bodies has bytes: it
    /// waits, due now, without attempts and without a cause. `false` for any other, and for an entry that is not in the
    /// state `from`, if one is named. The rule is [`Row::requeue`](crate::store::Row::requeue).
    fn requeue(&self, key: EntryKey, from: Option<State>) -> Pending<'_, bool>;

    /// Makes a waiting, unhandled or corrupt entry dead, with this cause. `false` for any other. The rule is
    /// [`Row::bury`](crate::store::Row::bury).
    fn bury(&self, key: EntryKey, cause: String) -> Pending<'_, bool>;

    /// Pauses the claims of all processes, until they are [resumed](Self::resume). Each [`claim`](Self::claim) then returns
    /// nothing and changes nothing, and every other call goes on. A second pause changes nothing.
    fn pause(&self) -> Pending<'_, ()>;

    /// Ends a [pause](Self::pause).
    fn resume(&self) -> Pending<'_, ()>;

    /// Since when claims are paused, if they are.
    fn paused_since(&self) -> Pending<'_, Option<SystemTime>>;

    /// Erases everything about a job, its entries and bodies, so that the files of the database contain none of
    /// its bytes. Returns the number of entries. A store with a [`Ledger`](crate::store::Ledger) may keep a digest of the
    /// job id.
    fn forget(&self, job_id: JobId) -> Pending<'_, u64>;

    /// Adds an entry that another store exported, under an id of this store. A leased entry becomes waiting, due now.
    /// `false` if this store has an entry of the key, or a [`Ledger`](crate::store::Ledger) that knows that the article was
    /// here: then nothing changes. The rule is [`Row::import`](crate::store::Row::import).
    fn import(&self, entry: Entry, bodies: Vec<Body>) -> Pending<'_, bool>;

    /// Looks for damage in what is stored and in the schema, and for settings that may lose what is acknowledged. A corrupt
    /// entry is damage.
    fn check(&self) -> Pending<'_, Vec<Finding>>;

    /// Commits a small change, to check whether the store can commit.
    fn probe(&self) -> Pending<'_, ()>;

    /// What the store reports about itself. By default it has nothing to report.
    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async { Ok(StoreHealth::default()) })
    }

    /// Takes what wakes the workers of an inbox in this process, to be called when another process may have stored an entry.
    /// By default the store never does: it hears of no other. A call may be lost or come too often, because workers
    /// [poll](crate::Worker::poll) as well.
    fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        drop(wake);
    }

    /// Finishes the calls in progress and closes the store. Every later call fails with [`Error::closed`].
    fn close(&self) -> Pending<'_, ()>;
}
