use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::store_trait::{Pending, Store};
use crate::{
    call::{
        AskClaim, AskLease, AskOutcome, AskSettled, Asks, BucketEvent, Expect, ExpectedJob,
        Intended, Intent, IntentLease, IntentState, JobFilter, JobState, LedgerCounts, LedgerPage,
        LedgerPruned,
    },
    rules::Bucket,
};

/// The ledger of a store: which jobs are expected, what was ordered, and how fast the API may be asked. Everything that
/// [`Store`] says about its calls holds for these.
///
/// The ledger is in the store of the entries, because an arrival ends the expectation of its job in one transaction. So
/// a store that has a ledger does more in the calls of [`Store`]:
///
/// - [`record`](Store::record): a copy of a job's article (the event is `article.complete`) that is not
///   [`Crowded`](crate::store::Recorded::Crowded) notes what it knows in the job: the time of the first push, and the
///   intent. If the entry can be read, the job ends as arrived, or as collected if the copy came from the API, and the ask
///   that is under way loses its lease. A delivery that so ends an order ([`Reason::is_order`](crate::Reason::is_order))
///   is [`Arrived`](crate::store::Recorded::Arrived) instead of [`Stored`](crate::store::Recorded::Stored), and says how
///   long the job was expected.
/// - When the article of a job comes, the entry of its failure is removed, if that waits or is leased. The rules are
///   [`JobRow::has_arrived_since`](crate::store::JobRow::has_arrived_since) and
///   [`Row::is_overtaken`](crate::store::Row::is_overtaken).
/// - A copy of an article that arrived or was collected, and whose entry retention removed, is a
///   [`Duplicate`](crate::store::Recorded::Duplicate), and [`import`](Store::import) does not add its entry: nothing is
///   handled twice because it was forgotten early.
/// - A delivery with an intent that the ledger knows: the intent, unless its job is known, becomes ordered, with this job.
///   If the ledger does not have the job, it is added.
/// - [`settle`](Store::settle), [`requeue`](Store::requeue), [`bury`](Store::bury) and [`import`](Store::import) of the
///   article's entry: if the entry is unhandled or corrupt now, a job that had arrived or was collected is expected again,
///   due now, or after an hour if the API gave the body. If it is in any other state, a job without an article ends as
///   arrived, or as collected if the API gave all its bodies.
/// - [`forget`](Store::forget) erases the job and the link of its intent. The ask that is under way loses its lease, and
///   the intent keeps a digest of the job id, so that neither an ask nor the answer to an order brings the job back. If
///   the ledger has no intent of the job, each intent without a job keeps that digest. The intent stays ordered, without
///   a job. The rules are [`IntentRow::may_have_ordered`](crate::store::IntentRow::may_have_ordered) and
///   [`IntentRow::forget`](crate::store::IntentRow::forget).
/// - [`prune`](Store::prune) removes nothing from the ledger. If it removes an article's entry that could be read, and the
///   ledger does not have the job, the job is added as it would have ended, so that it is not expected again. The rule is
///   [`JobRow::of_pruned`](crate::store::JobRow::of_pruned).
///
/// The rules are the transitions of [`JobRow`](crate::store::JobRow), [`IntentRow`](crate::store::IntentRow) and
/// [`Bucket`].
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{Digest, EntryKey, JobState, MemoryStore, Source};
/// use article_webhook_inbox::store::{Arrival, Intended, Ledger, Store};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let store = MemoryStore::default();
///     let (deadline, key) = (Duration::from_secs(60), 1);
///     assert!(matches!(store.intend("post-17", deadline, key).await?, Intended::Begun(_)));
///     // ... the call that orders ...
///     let first_ask = store.now() + Duration::from_secs(600);
///     store.ordered("post-17", "job_1".parse()?, first_ask, key).await?;
///     assert!(matches!(store.intend("post-17", deadline, key).await?, Intended::Known(_)), "ordered once");
///
///     let arrival = Arrival {
///         key: EntryKey::article("job_1".parse()?),
///         source: Source::Webhook,
///         target: "default".into(),
///         intent: None,
///         digest: Digest::of(b"{}"),
///         bytes: "{}".into(),
///     };
///     store.record(arrival).await?;
///     let job = store.job("job_1".parse()?).await?.ok_or("it was ordered")?;
///     assert_eq!((job.state, job.intent.as_deref()), (JobState::Arrived, Some("post-17")));
///     Ok(())
/// }
/// ```
pub trait Ledger: Store {
    /// Stores an intent, whose call is made with this API key. The call may be made within this time from now on: two hours
    /// at most, because a deadline that is further away at a start comes from a clock that was set back. If the intent is
    /// stored already, or calls with the key are paused, nothing is stored. A call takes no token. The rule of the pause is
    /// [`Bucket::begin_call`].
    fn intend<'a>(&'a self, name: &'a str, within: Duration, key: u64) -> Pending<'a, Intended>;

    /// Like [`intend`](Self::intend), and an intent whose outcome is unknown or that was abandoned may be ordered again,
    /// under a new fence.
    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
    ) -> Pending<'a, Intended>;

    /// The service took the order: the intent, unless its job is known, becomes ordered, with this job. The job is
    /// expected, as [`expect`](Self::expect) says, and asked for first at that time. If the intent is gone, it is stored
    /// again: the order is paid for. A job that was [forgotten](Store::forget) since the call began stays so: the intent
    /// becomes ordered, without a job. The rule is [`IntentRow::answer`](crate::store::IntentRow::answer).
    ///
    /// The service accepted the key of the call, which ends its [pause](BucketEvent::KeyRefused).
    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, ()>;

    /// The call under this lease proved that the service took no order. The intent is removed, and may be ordered at
    /// once. If it had been ordered again, its outcome is unknown instead, because an earlier call may have succeeded.
    /// `false` if the lease is not that of its last call, or the intent is ordered or abandoned: then nothing changes.
    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, bool>;

    /// The call under this lease has ended, and it is not known whether the service took the order. The intent's outcome is
    /// unknown from now on, and not only from the deadline on. `false` if that changes nothing. The rule is
    /// [`IntentRow::outcome_lost`](crate::store::IntentRow::outcome_lost).
    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool>;

    /// Gives up an intent whose outcome is unknown. `false` for any other: then nothing changes. A delivery still resolves
    /// it.
    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool>;

    /// Expects jobs, and returns the state of each, in order.
    ///
    /// - A new job is expected from now on. If its article's entry is there already and can be read, it has arrived; or it
    ///   was collected, if the API gave its first body.
    /// - A job that failed, is unreadable or was not found is opened again, unless the reason is `backfill`.
    /// - An open job changes in two cases: a refused delivery brings its ask forward and is noted as its cause, and a
    ///   reason of its own takes the place of `backfill`.
    /// - A job that arrived or was collected stays as it is.
    /// - An intent that is named, and whose job is not known, became this job.
    ///
    /// The rules are [`JobRow::new`](crate::store::JobRow::new) and [`JobRow::expect`](crate::store::JobRow::expect).
    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>>;

    /// Takes tokens, and leases as many jobs that are due. What has been due longest comes first, and of these the smallest
    /// id. A job counts as asked from now on.
    /// It is due again when its lease ends without an outcome.
    fn claim_asks(&self, claim: AskClaim) -> Pending<'_, Asks>;

    /// Stores the outcome of an ask. A lost lease changes nothing, and nothing is recorded.
    ///
    /// - [`Answered`](AskOutcome::Answered): the body is recorded as [`record`](Store::record) says, with the job's intent,
    ///   and the job was collected. If the entry cannot be read even so, or the API gives the very body that it gave for
    ///   this unhandled entry before, the job is asked for again after an hour. If the API has given nothing but such bodies
    ///   for 72 hours, the job is unreadable. A corrupt entry takes every body, and ends no job.
    /// - [`Failed`](AskOutcome::Failed): the answer is recorded under [`EntryKey::failure`](crate::EntryKey::failure), and
    ///   the job failed. Another answer than the one of an earlier failure takes its place, and waits, due now, without
    ///   attempts. The rule is [`Row::record_failure`](crate::store::Row::record_failure).
    /// - The other outcomes record nothing. [`Missing`](AskOutcome::Missing) is not counted if the service knows the job with
    ///   another key.
    ///
    /// The rule is [`JobRow::settle`](crate::store::JobRow::settle).
    ///
    /// An outcome that shows that the service accepted the key of the call, which is any but [`Again`](AskOutcome::Again)
    /// and [`Released`](AskOutcome::Released), ends the [pause](BucketEvent::KeyRefused) of that key, also if the lease is
    /// lost.
    fn settle_ask(&self, lease: AskLease, outcome: AskOutcome, key: u64)
    -> Pending<'_, AskSettled>;

    /// Stores what happened to the bucket. The rule is [`Bucket::report`].
    fn report(&self, event: BucketEvent) -> Pending<'_, ()>;

    /// The bucket. Before its first use, it is full.
    fn bucket(&self) -> Pending<'_, Bucket>;

    /// The job, if the ledger has it.
    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>>;

    /// A page of the jobs that pass the filter, by ascending id. The rule is [`JobFilter::accepts`].
    fn jobs(&self, filter: JobFilter) -> Pending<'_, LedgerPage<ExpectedJob>>;

    /// The intent, if the ledger has it.
    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>>;

    /// A page of the intents in this state, or of all, by ascending id. They have a greater id than `after`, and there are
    /// at most `limit`.
    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, LedgerPage<Intent>>;

    /// The figures of the ledger. The rule is [`LedgerCounts::add`].
    fn ledger_counts(&self) -> Pending<'_, LedgerCounts>;

    /// Removes jobs that ended before this time: the oldest first, and at most `limit`. An entry may still be there. An open
    /// job stays, however old it is, and so does every intent, so that it is never ordered twice.
    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned>;

    /// Adds a job that another store exported, under an id of this store. Its lease does not hold here. If its article is
    /// here, it has ended. `false` if this store has the job, which then stays as it is. In both cases its intent became
    /// this job, unless the job of that is known; an intent that is not there is added. The rules are
    /// [`JobRow::import`](crate::store::JobRow::import) and [`IntentRow::of_imported`](crate::store::IntentRow::of_imported).
    fn import_job(&self, job: ExpectedJob) -> Pending<'_, bool>;

    /// Adds an intent that another store exported, under an id of this store. `false` if this store has an intent of the
    /// name: then its job is taken over, if only the other store knows it. The rules are
    /// [`IntentRow::import`](crate::store::IntentRow::import) and
    /// [`IntentRow::import_outcome`](crate::store::IntentRow::import_outcome).
    fn import_intent(&self, intent: Intent) -> Pending<'_, bool>;

    /// Takes over the bucket that another store exported, as far as it allows less. The rule is [`Bucket::import`].
    fn import_bucket(&self, bucket: Bucket) -> Pending<'_, ()>;
}
