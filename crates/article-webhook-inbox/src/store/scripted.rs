use std::{
    fmt,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use super::{Pending, Store};
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
    script::{self, Export, Merge, Script},
};

/// A store that runs scripts on its tables. It is a [`Store`] by that.
pub trait Run: fmt::Debug + Send + Sync + 'static {
    /// As [`Store::now`].
    fn now(&self) -> SystemTime;

    /// Runs a script in one transaction, and returns when what it changed is safe.
    fn write<S: Script>(&self, script: S) -> Pending<'_, S::Output>;

    /// Runs a script that changes nothing.
    fn read<S: Script>(&self, script: S) -> Pending<'_, S::Output>;

    /// As [`Store::completion`].
    ///
    /// # Errors
    ///
    /// As those of [`Store::completion`].
    fn completion(&self, lease: Lease) -> Result<Completion, Error>;

    /// As [`Store::check`].
    fn check(&self) -> Pending<'_, Vec<Finding>>;

    /// As [`Store::probe`].
    fn probe(&self) -> Pending<'_, ()>;

    /// As [`Store::health`].
    fn health(&self) -> Pending<'_, StoreHealth>;

    /// As [`Store::close`].
    fn close(&self) -> Pending<'_, ()>;

    /// As [`Store::keep`].
    fn keep(&self, jobs: &[Expect]) -> usize {
        let _ = jobs;
        0
    }

    /// As [`Store::kept`].
    fn kept(&self) -> Option<Vec<Expect>> {
        Some(Vec::new())
    }

    /// As [`Store::opened`].
    fn opened(&self) -> Pending<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// As [`Store::wake_with`].
    fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        drop(wake);
    }

    /// As [`Store::record`]. A store may run the scripts of concurrent calls as one.
    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        Box::pin(async move { Ok(self.write(script::Record(vec![arrival])).await?[0]) })
    }

    /// As [`Store::claim`].
    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        self.write(claim)
    }

    /// As [`Store::extend`].
    fn extend(&self, leases: Vec<Lease>, by: Duration) -> Pending<'_, Vec<Lease>> {
        self.write(script::Extend(leases, by))
    }

    /// As [`Store::settle`]. A store may run the scripts of concurrent calls as one.
    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        Box::pin(async move { Ok(self.write(script::Settle(vec![(lease, outcome)])).await?[0]) })
    }
}

impl<R: Run> Store for R {
    fn now(&self) -> SystemTime {
        Run::now(self)
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        Run::record(self, arrival)
    }

    fn quarantine(&self, quarantine: Quarantine) -> Pending<'_, Quarantined> {
        self.write(quarantine)
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        Run::claim(self, claim)
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], by: Duration) -> Pending<'a, Vec<Lease>> {
        Run::extend(self, leases.to_vec(), by)
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        Run::settle(self, lease, outcome)
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        Run::completion(self, lease)
    }

    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        self.write(prune)
    }

    fn counts(&self) -> Pending<'_, Counts> {
        self.read(script::Count)
    }

    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        self.read(script::DueSince)
    }

    fn list(&self, filter: Filter) -> Pending<'_, Page<Entry>> {
        self.read(filter)
    }

    fn entries_of(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<Entry>> {
        self.read(script::EntriesOf(jobs))
    }

    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        self.read(script::Show(key))
    }

    fn causes(&self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>> {
        self.read(script::CountCauses(requeued_at))
    }

    fn hours(&self, since: SystemTime) -> Pending<'_, Vec<HourCount>> {
        self.read(script::CountHours(since))
    }

    fn requeue(
        &self,
        entries: Vec<(EntryKey, Option<State>)>,
        at: SystemTime,
    ) -> Pending<'_, Vec<bool>> {
        self.write(script::Requeue { entries, at })
    }

    fn discard(&self, entries: Vec<EntryKey>, cause: String) -> Pending<'_, Vec<bool>> {
        self.write(script::Discard(entries, cause))
    }

    fn pause(&self, by: Box<str>) -> Pending<'_, ()> {
        self.write(script::Pause(Some(by)))
    }

    fn resume(&self) -> Pending<'_, ()> {
        self.write(script::Resume)
    }

    fn paused_since(&self) -> Pending<'_, Option<Since>> {
        self.read(script::PausedSince)
    }

    fn erase(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<u64>> {
        self.write(script::Erase(jobs))
    }

    fn export(&self, part: Export) -> Pending<'_, Page<ExportLine>> {
        self.read(part)
    }

    fn import(&self, lines: Vec<ExportLine>) -> Pending<'_, Imported> {
        self.write(script::Import(lines))
    }

    fn merge(&self, part: Merge) -> Pending<'_, Imported> {
        self.write(part)
    }

    fn intend<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        self.write(script::Intend { name: name.into(), within, key, topic, again: false })
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        self.write(script::Intend { name: name.into(), within, key, topic, again: true })
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, Option<JobId>> {
        self.write(script::Ordered { name: name.into(), job_id, at, key })
    }

    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, CallRefused> {
        self.write(script::NotTaken(lease))
    }

    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool> {
        self.write(script::OutcomeLost(lease))
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        self.write(script::Abandon(name.into()))
    }

    fn note_gaps(&self) -> Pending<'_, ()> {
        self.write(script::NoteGaps)
    }

    fn orders_checked(&self) -> Pending<'_, bool> {
        self.write(script::OrdersChecked)
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        self.write(script::Expecting(jobs))
    }

    fn claim_polls(&self, claim: PollClaim) -> Pending<'_, Polls> {
        self.write(claim)
    }

    fn settle_poll(
        &self,
        lease: PollLease,
        outcome: PollOutcome,
        key: u64,
    ) -> Pending<'_, PollSettled> {
        self.write(script::SettlePoll { lease, outcome, key })
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        self.write(script::Report(event))
    }

    fn bucket(&self) -> Pending<'_, Bucket> {
        self.read(script::ShowBucket)
    }

    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>> {
        self.read(script::ShowJob(job_id))
    }

    fn jobs(&self, filter: JobFilter) -> Pending<'_, Page<ExpectedJob>> {
        self.read(filter)
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        self.read(script::ShowIntent(name.into()))
    }

    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, Page<Intent>> {
        self.read(script::ListIntents { state, after, limit })
    }

    fn ledger_counts(&self) -> Pending<'_, LedgerCounts> {
        self.read(script::CountLedger)
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        self.write(script::PruneLedger { before, limit })
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Run::check(self)
    }

    fn probe(&self) -> Pending<'_, ()> {
        Run::probe(self)
    }

    fn health(&self) -> Pending<'_, StoreHealth> {
        Run::health(self)
    }

    fn keep(&self, jobs: &[Expect]) -> usize {
        Run::keep(self, jobs)
    }

    fn kept(&self) -> Option<Vec<Expect>> {
        Run::kept(self)
    }

    fn opened(&self) -> Pending<'_, ()> {
        Run::opened(self)
    }

    fn wake_with(&self, wake: Box<dyn Fn() + Send + Sync>) {
        Run::wake_with(self, wake);
    }

    fn close(&self) -> Pending<'_, ()> {
        Run::close(self)
    }
}
