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
        PollSettled, Polls, Quarantine, Quarantined, Recorded, Settled, Store,
    },
};

/// What is wrong with a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// It fails this many times, and then works.
    Fails(u32),
    /// It works once this time has passed by a timer of Tokio.
    Slow(Duration),
    /// Once, the clock shows so much more before it works.
    Late(Duration),
    /// Once, the clock shows so much more when it has worked.
    Takes(Duration),
    /// Once, it works, and its result comes when this time has passed by a timer of Tokio.
    Replies(Duration),
}

/// The memory store, with faults. Clones are the same store.
#[derive(Debug, Clone)]
pub(crate) struct FaultyLedger {
    store: Arc<MemoryStore>,
    clock: Clock,
    faults: Arc<Mutex<HashMap<&'static str, Fault>>>,
    /// How often each call has ended.
    calls: Arc<Mutex<HashMap<&'static str, u32>>>,
}

impl FaultyLedger {
    pub(crate) fn new(clock: Clock) -> Self {
        let store = Arc::new(MemoryStore::new(clock.clone()));
        Self { store, clock, faults: Arc::default(), calls: Arc::default() }
    }

    /// How often the call has ended.
    pub(crate) fn calls(&self, call: &str) -> u32 {
        self.calls.lock().unwrap().get(call).copied().unwrap_or_default()
    }

    pub(crate) fn fault(&self, call: &'static str, fault: Fault) {
        self.faults.lock().unwrap().insert(call, fault);
    }

    pub(crate) fn repair(&self) {
        self.faults.lock().unwrap().clear();
    }

    fn through<'a, T: Send + 'a>(
        &'a self,
        call: &'static str,
        result: Pending<'a, T>,
    ) -> Pending<'a, T> {
        let mut faults = self.faults.lock().unwrap();
        let fault = faults.remove(call);
        match fault {
            Some(Fault::Fails(times @ 2..)) => {
                faults.insert(call, Fault::Fails(times - 1));
            }
            Some(slow @ Fault::Slow(_)) => {
                faults.insert(call, slow);
            }
            _ => {}
        }
        Box::pin(async move {
            match fault {
                Some(Fault::Fails(_)) => return Err(Error::unavailable("the store is down")),
                Some(Fault::Late(time)) => self.clock.advance(time),
                Some(Fault::Slow(time)) => tokio::time::sleep(time).await,
                _ => {}
            }
            let result = result.await;
            match fault {
                Some(Fault::Takes(time)) => self.clock.advance(time),
                Some(Fault::Replies(time)) => tokio::time::sleep(time).await,
                _ => {}
            }
            *self.calls.lock().unwrap().entry(call).or_default() += 1;
            result
        })
    }
}

/// Calls that are passed on, unless they have a fault.
macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $name(&self, $($argument: $type),*) -> Pending<'_, $result> {
            self.through(stringify!($name), self.store.$name($($argument),*))
        }
    )*};
}

impl Store for FaultyLedger {
    fn now(&self) -> SystemTime {
        self.store.now()
    }
    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        self.store.extend(leases, lease)
    }
    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.store.completion(lease)
    }
    calls! {
        record(arrival: Arrival) -> Recorded;
        quarantine(quarantine: Quarantine) -> Quarantined;
        claim(claim: Claim) -> Claims;
        settle(lease: Lease, outcome: Outcome) -> Settled;
        prune(prune: Prune) -> Pruned;
        counts() -> Counts;
        due_since() -> Option<SystemTime>;
        list(filter: Filter) -> Page;
        show(key: EntryKey) -> Option<(Entry, Vec<Body>)>;
        entries_of(jobs: Vec<JobId>) -> Vec<Entry>;
        causes(requeued_at: Option<SystemTime>) -> Vec<CauseCount>;
        hours(since: SystemTime) -> Vec<HourCount>;
        requeue(entries: Vec<(EntryKey, Option<State>)>, at: SystemTime) -> Vec<bool>;
        discard(entries: Vec<EntryKey>, cause: String) -> Vec<bool>;
        pause(by: Box<str>) -> ();
        resume() -> ();
        paused_since() -> Option<Since>;
        erase(jobs: Vec<JobId>) -> Vec<u64>;
        export(part: Export) -> LedgerPage<ExportLine>;
        import(lines: Vec<ExportLine>) -> Imported;
        merge(part: Merge) -> Imported;
        check() -> Vec<Finding>;
        probe() -> ();
        close() -> ();
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
