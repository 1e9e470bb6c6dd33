use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    ExpectedJob, Intent, IntentState, JobFilter, JobState, LedgerCounts, LedgerPage, LedgerPruned,
    store::{
        AskClaim, AskLease, AskOutcome, AskSettled, Asks, Bucket, BucketEvent, Expect, Intended,
        IntentLease, Ledger, Pending,
    },
};

use super::{PostgresStore, claim_guard::ClaimGuard, damage::Part};
use crate::{
    connection::{Lane, Length},
    statements,
};

impl Ledger for PostgresStore {
    fn intend<'a>(&'a self, name: &'a str, within: Duration, key: u64) -> Pending<'a, Intended> {
        self.transact((Box::<str>::from(name), within, key), statements::intend)
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
    ) -> Pending<'a, Intended> {
        self.transact((Box::<str>::from(name), within, key), statements::order_again)
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, ()> {
        self.transact((Box::<str>::from(name), job_id, at, key), statements::ordered)
    }

    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, bool> {
        self.transact(lease, statements::not_ordered)
    }

    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool> {
        self.transact(lease, statements::outcome_lost)
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        self.transact(Box::<str>::from(name), statements::abandon)
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        self.transact(jobs, statements::expect)
    }

    fn claim_asks(&self, claim: AskClaim) -> Pending<'_, Asks> {
        Box::pin(async move {
            let (database, damage) = (Arc::clone(&self.database), Arc::clone(&self.damage));
            let claimed = self.database.spawn(async move {
                let (lane, length) = (Lane::Working, Length::Call);
                let (asks, damaged) =
                    database.retried(lane, length, &claim, statements::claim_asks).await?;
                damaged.into_iter().for_each(|finding| damage.add(Part::Ledger, finding));
                let leases = asks.asks.iter().map(|ask| ask.lease).collect();
                Ok(ClaimGuard::new(asks, leases, statements::release_asks, database))
            });
            Ok(claimed.await?.deliver())
        })
    }

    fn settle_ask(
        &self,
        lease: AskLease,
        outcome: AskOutcome,
        key: u64,
    ) -> Pending<'_, AskSettled> {
        self.transact((lease, outcome, key), statements::settle_ask)
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        self.transact(event, statements::report)
    }

    fn bucket(&self) -> Pending<'_, Bucket> {
        self.transact((), statements::bucket)
    }

    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>> {
        self.transact(job_id, statements::job)
    }

    fn jobs(&self, filter: JobFilter) -> Pending<'_, LedgerPage<ExpectedJob>> {
        self.transact(filter, statements::jobs)
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        self.transact(Box::<str>::from(name), statements::intent)
    }

    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, LedgerPage<Intent>> {
        self.transact((state, after, limit), statements::intents)
    }

    fn ledger_counts(&self) -> Pending<'_, LedgerCounts> {
        self.transact((), statements::ledger_counts)
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        self.transact((before, limit), statements::prune_ledger)
    }

    fn import_job(&self, job: ExpectedJob) -> Pending<'_, bool> {
        self.transact(job, statements::import_job)
    }

    fn import_intent(&self, intent: Intent) -> Pending<'_, bool> {
        self.transact(intent, statements::import_intent)
    }

    fn import_bucket(&self, bucket: Bucket) -> Pending<'_, ()> {
        self.transact(bucket, statements::import_bucket)
    }
}
