use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::store_trait::{Pending, Store};
use crate::{
    call::{
        BucketEvent, Expect, ExpectedJob, Intended, Intent, IntentLease, IntentState, JobFilter,
        JobState, LedgerCounts, LedgerPage, LedgerPruned, PollClaim, PollLease, PollOutcome,
        PollSettled, Polls,
    },
    rules::Bucket,
};

/// The calls of a store about its ledger: which jobs are expected, what was ordered, and how fast the API may be polled. The
/// ledger is in the store of the entries, because an arrival ends the expectation of its job in one transaction.
pub trait Ledger: Store {
    /// Stores an intent, whose call is made with this API key within this time, unless it is stored or the key is paused.
    fn intend<'a>(&'a self, name: &'a str, within: Duration, key: u64) -> Pending<'a, Intended>;

    /// As [`intend`](Self::intend), and an intent whose outcome is unknown or that was abandoned is ordered again.
    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
    ) -> Pending<'a, Intended>;

    /// The service took the order: the intent became this job, which is expected.
    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, ()>;

    /// The service took no order under this lease: the intent is removed. `false` if that changes nothing.
    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, bool>;

    /// It is not known whether the service took the order under this lease. `false` if that changes nothing.
    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool>;

    /// Gives up an intent whose outcome is unknown. `false` for any other.
    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool>;

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
    fn jobs(&self, filter: JobFilter) -> Pending<'_, LedgerPage<ExpectedJob>>;

    /// The intent, if the ledger has it.
    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>>;

    /// A page of the intents in this state, or of all, by ascending id.
    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, LedgerPage<Intent>>;

    /// The figures of the ledger.
    fn ledger_counts(&self) -> Pending<'_, LedgerCounts>;

    /// Removes jobs that ended before this time: the oldest first, and at most `limit`.
    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned>;
}
