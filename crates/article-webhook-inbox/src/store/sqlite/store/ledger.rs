use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{SqliteStore, dispatch::CALL_BYTES};
use crate::{
    call::{
        AskClaim, AskLease, AskOutcome, AskSettled, Asks, BucketEvent, BucketSettings, Expect,
        ExpectedJob, Intended, Intent, IntentLease, IntentState, JobFilter, JobState, LedgerCounts,
        LedgerPage, LedgerPruned,
    },
    rules::Bucket,
    store::{ledger::Ledger, sqlite::statements, store_trait::Pending},
};

impl Ledger for SqliteStore {
    fn intend<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        bucket: BucketSettings,
    ) -> Pending<'a, Intended> {
        let name = name.to_owned();
        self.write(CALL_BYTES, move |tx| statements::intend(tx, &name, within, bucket))
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        bucket: BucketSettings,
    ) -> Pending<'a, Intended> {
        let name = name.to_owned();
        self.write(CALL_BYTES, move |tx| statements::order_again(tx, &name, within, bucket))
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, ()> {
        let name = name.to_owned();
        self.write(CALL_BYTES, move |tx| statements::ordered(tx, &name, &job_id, at, key))
    }

    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, bool> {
        self.write(CALL_BYTES, move |tx| statements::not_ordered(tx, lease))
    }

    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool> {
        self.write(CALL_BYTES, move |tx| statements::outcome_lost(tx, lease))
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        let name = name.to_owned();
        self.write(CALL_BYTES, move |tx| statements::abandon(tx, &name))
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        let bytes = CALL_BYTES * jobs.len().max(1);
        self.write(bytes, move |tx| statements::expect(tx, &jobs))
    }

    fn claim_asks(&self, claim: AskClaim) -> Pending<'_, Asks> {
        if let Err(error) = self.has_exclusive_access("collector") {
            return Box::pin(async move { Err(error) });
        }
        self.lease(move |tx| statements::claim_asks(tx, claim), statements::release_asks)
    }

    fn settle_ask(
        &self,
        lease: AskLease,
        outcome: AskOutcome,
        key: u64,
    ) -> Pending<'_, AskSettled> {
        let bytes = match &outcome {
            AskOutcome::Answered(answer) | AskOutcome::Failed { answer, .. } => answer.bytes.len(),
            _ => 0,
        };
        self.write(CALL_BYTES + bytes, move |tx| statements::settle_ask(tx, lease, &outcome, key))
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        self.write(CALL_BYTES, move |tx| statements::report(tx, event))
    }

    fn bucket(&self) -> Pending<'_, Bucket> {
        self.read_quickly(statements::bucket)
    }

    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>> {
        self.read(move |tx| statements::job(tx, &job_id))
    }

    fn jobs(&self, filter: JobFilter) -> Pending<'_, LedgerPage<ExpectedJob>> {
        self.read(move |tx| statements::jobs(tx, &filter))
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        let name = name.to_owned();
        self.read(move |tx| statements::intent(tx, &name))
    }

    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, LedgerPage<Intent>> {
        self.read(move |tx| statements::intents(tx, state, after, limit))
    }

    fn ledger_counts(&self) -> Pending<'_, LedgerCounts> {
        self.read(statements::ledger_counts)
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        self.write(CALL_BYTES, move |tx| statements::prune_ledger(tx, before, limit))
    }

    fn import_job(&self, job: ExpectedJob) -> Pending<'_, bool> {
        self.write(CALL_BYTES, move |tx| statements::import_job(tx, &job))
    }

    fn import_intent(&self, intent: Intent) -> Pending<'_, bool> {
        self.write(CALL_BYTES, move |tx| statements::import_intent(tx, &intent))
    }

    fn import_bucket(&self, bucket: Bucket) -> Pending<'_, ()> {
        self.write(CALL_BYTES, move |tx| statements::import_bucket(tx, &bucket))
    }
}
