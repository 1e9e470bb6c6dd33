use std::{
    fmt,
    pin::Pin,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use crate::{
    Body, Entry, EntryKey, Error, State,
    call::{
        Arrival, BucketEvent, CallRefused, CauseCount, Claim, Claims, Completion, Counts, Expect,
        ExpectedJob, Filter, Finding, HourCount, Imported, Intended, Intent, IntentLease,
        IntentState, JobFilter, JobState, Lease, LedgerCounts, LedgerPruned, Outcome, Page,
        PollClaim, PollLease, PollOutcome, PollSettled, Polls, Prune, Pruned, Quarantine,
        Quarantined, Recorded, Settled, Since, StoreHealth, Topic,
    },
    rules::{Bucket, ExportLine},
    script::{Export, Merge},
};

/// The future that a store's calls return.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// What the inbox needs from a database. The scripts are what each call does, and the contract suite of the repository says it as facts.
///
/// The ledger is in the store of the entries, because an arrival ends the expectation of its job in one transaction: which
/// jobs are expected, what was ordered, and how fast the API may be polled.
///
/// Every call is one transaction, which happens completely or not at all. A call that changed something returns `Ok` only
/// when the change would survive a crash; a failed commit, or one whose result is unknown, is an `Err`. A call may be dropped
/// at any time, and may then still complete. It waits at most two seconds for a locked or busy store. Its `Err` is
/// [transient](Error::is_transient) if the same call may succeed later.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// The store's time, as far as this process knows it without asking the database.
    fn now(&self) -> SystemTime;

    /// Stores a body under its key, without parsing it.
    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded>;

    /// Keeps the body of a refused delivery, and expects its job.
    fn quarantine(&self, quarantine: Quarantine) -> Pending<'_, Quarantined>;

    /// Leases due entries of the events that the claim names. An entry without attempts left is dead instead.
    fn claim(&self, claim: Claim) -> Pending<'_, Claims>;

    /// Extends leases, which then last for `lease` from now on. Returns those that still held.
    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>>;

    /// Stores the outcome of an attempt. A lost lease changes nothing.
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
    fn prune(&self, prune: Prune) -> Pending<'_, Pruned>;

    /// How many entries are in each state.
    fn counts(&self) -> Pending<'_, Counts>;

    /// Since when the oldest due entry has been due.
    fn due_since(&self) -> Pending<'_, Option<SystemTime>>;

    /// A page of the entries that pass the filter, in its order.
    fn list(&self, filter: Filter) -> Pending<'_, Page<Entry>>;

    /// The entries of these jobs.
    fn entries_of(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<Entry>>;

    /// An entry with its bodies, in the order of their arrival.
    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>>;

    /// How many entries there are for each state and group of causes: of those that were requeued at this time, or else of those
    /// that need a person.
    fn causes(&self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>>;

    /// How many entries arrived and died in each hour, since this time.
    fn hours(&self, since: SystemTime) -> Pending<'_, Vec<HourCount>>;

    /// Requeues entries, each from a state if one is named, and notes this time in them. Returns which were requeued: of the first
    /// entries only, if what is in quarantine is too much to be read in one transaction.
    fn requeue(
        &self,
        entries: Vec<(EntryKey, Option<State>)>,
        at: SystemTime,
    ) -> Pending<'_, Vec<bool>>;

    /// Makes waiting, unhandled and corrupt entries dead, with this cause. Returns which became so.
    fn discard(&self, entries: Vec<EntryKey>, cause: String) -> Pending<'_, Vec<bool>>;

    /// Pauses the claims of all processes in this name, until they are [resumed](Self::resume).
    fn pause(&self, by: Box<str>) -> Pending<'_, ()>;

    /// Ends a [pause](Self::pause).
    fn resume(&self) -> Pending<'_, ()>;

    /// Since when claims are paused, if they are.
    fn paused_since(&self) -> Pending<'_, Option<Since>>;

    /// Erases everything about jobs, so that no file contains any of it. Returns the number of entries of each: of the first
    /// jobs only, if the bodies of all are too much for one transaction.
    fn erase(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<u64>>;

    /// A part of an export.
    fn export(&self, part: Export) -> Pending<'_, Page<ExportLine>>;

    /// Adds what another store exported. Returns what was added.
    fn import(&self, lines: Vec<ExportLine>) -> Pending<'_, Imported>;

    /// A part of a merge with what another store has. Returns what was added.
    fn merge(&self, part: Merge) -> Pending<'_, Imported>;

    /// Stores an intent, whose call is made with this API key within this time, unless it is stored or the key is paused.
    fn intend<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended>;

    /// As [`intend`](Self::intend), and an intent whose outcome is unknown or that was abandoned is ordered again.
    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended>;

    /// The service took the order: the intent became this job, which is expected. Returns another job that was delivered in its
    /// place, if a handler may have had its article.
    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, Option<JobId>>;

    /// The service took no order under this lease: the intent is removed, and a job that was delivered in its place is its job no
    /// more.
    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, CallRefused>;

    /// It is not known whether the service took the order under this lease. `false` if that changes nothing.
    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool>;

    /// Gives up an intent whose outcome is unknown. `false` for any other.
    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool>;

    /// Notes that orders may be missing here: an intent that is not found has an unknown outcome from now on.
    fn note_gaps(&self) -> Pending<'_, ()>;

    /// A person has checked the orders that may be missing. `false` if none were.
    fn orders_checked(&self) -> Pending<'_, bool>;

    /// Expects jobs, and returns the state of each, in order.
    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>>;

    /// Takes tokens, and leases as many jobs that are due.
    fn claim_polls(&self, claim: PollClaim) -> Pending<'_, Polls>;

    /// Stores the outcome of a poll. A lost lease changes nothing.
    fn settle_poll(
        &self,
        lease: PollLease,
        outcome: PollOutcome,
        key: u64,
    ) -> Pending<'_, PollSettled>;

    /// Stores what happened to the bucket.
    fn report(&self, event: BucketEvent) -> Pending<'_, ()>;

    /// The bucket. Before its first use, it is full.
    fn bucket(&self) -> Pending<'_, Bucket>;

    /// The job, if the ledger has it.
    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>>;

    /// A page of the jobs that pass the filter, by ascending id.
    fn jobs(&self, filter: JobFilter) -> Pending<'_, Page<ExpectedJob>>;

    /// The intent, if the ledger has it.
    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>>;

    /// A page of the intents in this state, or of all, by ascending id.
    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, Page<Intent>>;

    /// The figures of the ledger.
    fn ledger_counts(&self) -> Pending<'_, LedgerCounts>;

    /// Removes jobs that ended before this time: the oldest first, and at most `limit`.
    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned>;

    /// Looks for damage, and for settings that may lose what is acknowledged.
    fn check(&self) -> Pending<'_, Vec<Finding>>;

    /// Commits a small change, to check whether the store can commit.
    fn probe(&self) -> Pending<'_, ()>;

    /// What the store reports about itself.
    fn health(&self) -> Pending<'_, StoreHealth> {
        Box::pin(async { Ok(StoreHealth::default()) })
    }

    /// Keeps jobs that are expected where no full disk and no other program hinders it, until the next start. They replace those
    /// that were kept before. Returns how many there was room for, from the first on.
    fn keep(&self, jobs: &[Expect]) -> usize {
        let _ = jobs;
        0
    }

    /// The jobs that the last process kept. `None`: the store is not open yet.
    fn kept(&self) -> Option<Vec<Expect>> {
        Some(Vec::new())
    }

    /// Returns once the store is open, or will not be.
    fn opened(&self) -> Pending<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Takes what wakes the workers of this process when another process may have stored an entry.
    fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        drop(wake);
    }

    /// Finishes the calls in progress and closes the store. Every later call fails with [`Error::closed`].
    fn close(&self) -> Pending<'_, ()>;
}
