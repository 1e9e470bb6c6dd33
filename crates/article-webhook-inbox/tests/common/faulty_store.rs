//! A store with faults. It does what the memory store does, unless a test makes it fail, hang, or slow.
#![allow(dead_code)] // each target of tests uses its own part

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Body, CauseCount, Clock, Completion, Counts, Entry, EntryKey, Error, ExpectedJob, Filter,
    Finding, HourCount, Imported, Intent, IntentState, JobFilter, JobState, LedgerCounts,
    LedgerPage, LedgerPruned, MemoryStore, Page, Prune, Pruned, Since, State, Topic,
    store::{
        Arrival, Bucket, BucketEvent, CallRefused, Claim, Claims, Expect, Export, ExportLine,
        Intended, IntentLease, Lease, Merge, Outcome, Pending, PollClaim, PollLease, PollOutcome,
        PollSettled, Polls, Quarantine, Quarantined, Recorded, Settled, Store, StoreHealth,
    },
};
use tokio::sync::Notify;

/// What is wrong with a call.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// It fails that many times, and then works.
    Fails(u32),
    /// It works that many times, but its answer is lost.
    AnswerLost(u32),
    /// It fails, and may succeed later.
    Down,
    /// It fails with an error that is not transient.
    Unusable,
    /// It finds damage that many times, and then works.
    Damaged(u32),
    /// It never returns.
    Hangs,
    /// It begins only after a notification.
    Waits(Arc<Notify>),
    /// It works, after a pause by a timer of Tokio.
    Slow(Duration),
    /// Its code panics.
    Panics,
}

/// How long a call waits.
enum Wait {
    ForEver,
    Until(Arc<Notify>),
    Pause(Duration),
}

/// Clones are the same store.
#[derive(Debug, Clone)]
pub(crate) struct Faulty {
    store: Arc<MemoryStore>,
    faults: Arc<Mutex<HashMap<&'static str, Fault>>>,
    calls: Arc<Mutex<HashMap<&'static str, u32>>>,
    /// How far its time is ahead of its clock, until its health is asked for.
    ahead: Arc<Mutex<Duration>>,
}

/// Every call that a worker or an inbox makes while it works.
const CALLS: [&str; 8] =
    ["record", "claim", "extend", "settle", "expect", "prune", "probe", "due_since"];

impl Faulty {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            store: Arc::new(MemoryStore::new(clock)),
            faults: Arc::default(),
            calls: Arc::default(),
            ahead: Arc::default(),
        }
    }

    /// Its time is wrong, as that of a store whose server was replaced by one with another clock.
    pub(crate) fn is_ahead(&self, by: Duration) {
        *self.ahead.lock().unwrap() = by;
    }

    pub(crate) fn fault(&self, call: &'static str, fault: Fault) {
        self.faults.lock().unwrap().insert(call, fault);
    }

    pub(crate) fn fault_everywhere(&self, fault: &Fault) {
        CALLS.iter().for_each(|call| self.fault(call, fault.clone()));
    }

    pub(crate) fn repair(&self) {
        self.faults.lock().unwrap().clear();
    }

    /// How often the call was made.
    pub(crate) fn calls(&self, call: &str) -> u32 {
        self.calls.lock().unwrap().get(call).copied().unwrap_or_default()
    }

    /// Counts the call, and lets it through, fail or hang. `true` if its answer must be lost.
    async fn gate(&self, call: &'static str) -> Result<bool, Error> {
        *self.calls.lock().unwrap().entry(call).or_default() += 1;
        let down = || Err(Error::unavailable("the store is down"));
        let wait = {
            let mut faults = self.faults.lock().unwrap();
            match faults.get_mut(call) {
                None | Some(Fault::Fails(0) | Fault::AnswerLost(0) | Fault::Damaged(0)) => {
                    return Ok(false);
                }
                Some(Fault::Damaged(times)) => {
                    *times -= 1;
                    return Err(Error::damaged("a page of the store is damaged"));
                }
                Some(Fault::Fails(times)) => {
                    *times -= 1;
                    return down();
                }
                Some(Fault::AnswerLost(times)) => {
                    *times -= 1;
                    return Ok(true);
                }
                Some(Fault::Down) => return down(),
                Some(Fault::Unusable) => {
                    return Err(Error::unusable("an operator must repair the store"));
                }
                Some(Fault::Panics) => {
                    drop(faults);
                    panic!("the store has a defect");
                }
                Some(Fault::Hangs) => Wait::ForEver,
                Some(Fault::Waits(until)) => Wait::Until(Arc::clone(until)),
                Some(Fault::Slow(pause)) => Wait::Pause(*pause),
            }
        };
        match wait {
            Wait::ForEver => std::future::pending().await,
            Wait::Until(until) => until.notified().await,
            Wait::Pause(pause) => tokio::time::sleep(pause).await,
        }
        Ok(false)
    }

    fn through<'a, T: Send + 'a>(
        &'a self,
        call: &'static str,
        result: Pending<'a, T>,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            let is_lost = self.gate(call).await?;
            let result = result.await;
            if is_lost { Err(Error::unavailable("the answer was lost")) } else { result }
        })
    }
}

/// Calls that are passed on, through the gate.
macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $name(&self, $($argument: $type),*) -> Pending<'_, $result> {
            self.through(stringify!($name), self.store.$name($($argument),*))
        }
    )*};
}

impl Store for Faulty {
    fn now(&self) -> SystemTime {
        self.store.now() + *self.ahead.lock().unwrap()
    }
    fn health(&self) -> Pending<'_, StoreHealth> {
        *self.ahead.lock().unwrap() = Duration::ZERO;
        self.store.health()
    }
    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        self.through("record", self.store.record(arrival))
    }
    fn quarantine(&self, quarantine: Quarantine) -> Pending<'_, Quarantined> {
        self.through("quarantine", self.store.quarantine(quarantine))
    }
    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        self.through("claim", self.store.claim(claim))
    }
    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        self.through("extend", self.store.extend(leases, lease))
    }
    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        self.through("settle", self.store.settle(lease, outcome))
    }
    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.store.completion(lease)
    }
    fn prune(&self, prune: Prune) -> Pending<'_, Pruned> {
        self.through("prune", self.store.prune(prune))
    }
    fn counts(&self) -> Pending<'_, Counts> {
        self.store.counts()
    }
    fn due_since(&self) -> Pending<'_, Option<SystemTime>> {
        self.through("due_since", self.store.due_since())
    }
    fn list(&self, filter: Filter) -> Pending<'_, Page> {
        self.store.list(filter)
    }
    fn entries_of(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<Entry>> {
        self.store.entries_of(jobs)
    }
    fn show(&self, key: EntryKey) -> Pending<'_, Option<(Entry, Vec<Body>)>> {
        self.store.show(key)
    }
    fn causes(&self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>> {
        self.store.causes(requeued_at)
    }
    fn hours(&self, since: SystemTime) -> Pending<'_, Vec<HourCount>> {
        self.store.hours(since)
    }
    fn requeue(
        &self,
        entries: Vec<(EntryKey, Option<State>)>,
        at: SystemTime,
    ) -> Pending<'_, Vec<bool>> {
        self.store.requeue(entries, at)
    }
    fn discard(&self, entries: Vec<EntryKey>, cause: String) -> Pending<'_, Vec<bool>> {
        self.store.discard(entries, cause)
    }
    fn pause(&self, by: Box<str>) -> Pending<'_, ()> {
        self.store.pause(by)
    }
    fn resume(&self) -> Pending<'_, ()> {
        self.store.resume()
    }
    fn paused_since(&self) -> Pending<'_, Option<Since>> {
        self.store.paused_since()
    }
    fn erase(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<u64>> {
        self.store.erase(jobs)
    }
    fn export(&self, part: Export) -> Pending<'_, LedgerPage<ExportLine>> {
        self.store.export(part)
    }
    fn import(&self, lines: Vec<ExportLine>) -> Pending<'_, Imported> {
        self.store.import(lines)
    }
    fn merge(&self, part: Merge) -> Pending<'_, Imported> {
        self.store.merge(part)
    }
    fn check(&self) -> Pending<'_, Vec<Finding>> {
        self.store.check()
    }
    fn probe(&self) -> Pending<'_, ()> {
        self.through("probe", self.store.probe())
    }
    fn close(&self) -> Pending<'_, ()> {
        self.store.close()
    }
    fn intend<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        self.through("intend", self.store.intend(name, within, key, topic))
    }
    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        self.through("order_again", self.store.order_again(name, within, key, topic))
    }
    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, Option<JobId>> {
        self.through("ordered", self.store.ordered(name, job_id, at, key))
    }
    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        self.through("abandon", self.store.abandon(name))
    }
    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        self.through("intent", self.store.intent(name))
    }
    calls! {
        note_gaps() -> ();
        orders_checked() -> bool;
        not_ordered(lease: IntentLease) -> CallRefused;
        outcome_lost(lease: IntentLease) -> bool;
        expect(jobs: Vec<Expect>) -> Vec<JobState>;
        claim_polls(claim: PollClaim) -> Polls;
        settle_poll(lease: PollLease, outcome: PollOutcome, key: u64) -> PollSettled;
        report(event: BucketEvent) -> ();
        bucket() -> Bucket;
        job(job_id: JobId) -> Option<ExpectedJob>;
        jobs(filter: JobFilter) -> LedgerPage<ExpectedJob>;
        intents(state: Option<IntentState>, after: i64, limit: u32) -> LedgerPage<Intent>;
        ledger_counts() -> LedgerCounts;
        prune_ledger(before: SystemTime, limit: u32) -> LedgerPruned;
    }
}
