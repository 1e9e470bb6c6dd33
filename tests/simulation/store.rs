use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Body, Completion, Counts, Digest, Entry, EntryKey, Error, ExpectedJob, Filter, Finding,
    Imported, Page, Prune, Pruned, Source, State,
    store::{
        Arrival, Claim, Claims, ImportRow, Lease, Ledger, Outcome, Pending, Recorded, Settled,
        Store,
    },
};
use tokio::time::sleep;

use crate::{faults::CallFault, node::Process, observed::Observed, world::World};

/// The connection of one process to the store. Clones are the same connection.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) world: Arc<World>,
    pub(crate) process: Process,
}

impl Connection {
    pub(crate) fn new(world: &Arc<World>, process: &Process) -> Self {
        Self { world: Arc::clone(world), process: process.clone() }
    }

    /// A call with its faults. `seen` is told what was carried out, also if the application is not.
    pub(crate) fn through<'a, T: Send + 'a>(
        &'a self,
        name: &'static str,
        call: Pending<'a, T>,
        seen: impl FnOnce(&T, &mut Observed, Duration) -> Result<(), String> + Send + 'a,
    ) -> Pending<'a, T> {
        let (world, process) = (&self.world, &self.process);
        Box::pin(async move {
            process.while_running().await;
            let now = world.now();
            let (is_down, call_fault) = world.with(|inner| {
                let is_down = inner.faults.store_is_down(process.node(), now);
                (is_down, inner.faults.call_fault(&mut inner.rng))
            });
            match call_fault {
                CallFault::CrashBefore => process.crash(world, name, "before").await,
                CallFault::SlowBefore(time) => {
                    sleep(time).await;
                    process.while_running().await;
                }
                _ => {}
            }
            if is_down || call_fault == CallFault::FailsBefore {
                if name == "report" {
                    world.with(|inner| inner.observed.rate.report_failed(process, now));
                }
                return Err(Error::unavailable("the store is down"));
            }
            world.now();
            let result = call.await;
            if let Ok(value) = &result {
                world.seen(|observed, now| seen(value, observed, now));
            }
            if !matches!(name, "claim" | "claim_polls" | "intent") {
                world.note(&format!("{process} {name} {call_fault:?}"));
                world.changed.notify_waiters();
            }
            match call_fault {
                CallFault::CrashAfter => process.crash(world, name, "after").await,
                CallFault::FailsAfter => return Err(Error::unavailable("the answer was lost")),
                CallFault::SlowAfter(time) => sleep(time).await,
                _ => {}
            }
            process.while_running().await;
            result
        })
    }

    /// Notes which of these jobs the store knows nothing of.
    pub(crate) async fn look_for_a_trace(&self, jobs: &[JobId]) -> Result<(), Error> {
        for id in jobs {
            let entry = self.world.store.show(EntryKey::article(id.clone())).await?;
            if entry.is_none() && self.world.store.job(id.clone()).await?.is_none() {
                self.world.with(|inner| inner.observed.left_no_trace(id.as_str()));
            }
        }
        Ok(())
    }

    /// The bodies of a job's article that were delivered, read past the connection.
    pub(crate) async fn delivered(&self, id: i64) -> Vec<Digest> {
        let row = self.world.with(|inner| inner.observed.rows.get(&id).cloned());
        let Some(job_id) = row.and_then(|poll| poll.job.parse().ok()) else { return Vec::new() };
        let shown = self.world.store.show(EntryKey::article(job_id)).await;
        let bodies = shown.ok().flatten().map(|(_, bodies)| bodies).unwrap_or_default();
        let delivered = bodies.iter().filter(|body| body.source == Source::Webhook);
        delivered.map(|body| body.digest).collect()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection of {}", self.process)
    }
}

/// Calls that are passed on, and of which the harness need not know more.
macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        fn $name(&self, $($argument: $type),*) -> Pending<'_, $result> {
            let call = self.world.store.$name($($argument),*);
            self.through(stringify!($name), call, |_, _, _| Ok(()))
        }
    )*};
}

pub(crate) use calls;

impl Store for Connection {
    fn now(&self) -> SystemTime {
        self.world.now();
        self.world.store.now()
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        let (key, source) = (arrival.key.clone(), arrival.source);
        let job = key.is_article().then(|| key.job_id.clone());
        let call = Box::pin(async move {
            self.look_for_a_trace(job.as_slice()).await?;
            self.world.store.record(arrival).await
        });
        self.through("record", call, move |recorded, observed, now| {
            if *recorded != Recorded::BodyLimitReached
                && key.is_article()
                && source == Source::Webhook
            {
                observed.is_back(key.job_id.as_str());
                observed.pushed(key.job_id.as_str());
                // A copy of a body that could not be read leaves its entry as it is.
                if recorded.is_stored() {
                    observed.in_hand(key.job_id.as_str(), now);
                }
            }
            Ok(())
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        self.through("claim", self.world.store.claim(claim), |claims, observed, _| {
            let keys = claims.claimed.iter().map(|claimed| (claimed.lease.id, claimed.key.clone()));
            observed.entries.extend(keys);
            Ok(())
        })
    }

    fn settle(&self, lease: Lease, outcome: Outcome) -> Pending<'_, Settled> {
        let settled = outcome.clone();
        let call = self.world.store.settle(lease, outcome);
        self.through("settle", call, move |result, observed, _| {
            let Some(key) = observed.entries.get(&lease.id).cloned() else { return Ok(()) };
            let id = key.job_id.as_str();
            match settled {
                _ if *result != Settled::Settled => {}
                Outcome::Done if key.is_article() => observed.job(id).done = true,
                Outcome::Done => observed.job(id).failure_done = true,
                Outcome::Unhandled { .. } | Outcome::Corrupt { .. } if key.is_article() => {
                    observed.unreadable(id);
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn extend<'a>(&'a self, leases: &'a [Lease], lease: Duration) -> Pending<'a, Vec<Lease>> {
        self.through("extend", self.world.store.extend(leases, lease), |_, _, _| Ok(()))
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        self.world.store.completion(lease)
    }

    fn pause(&self) -> Pending<'_, ()> {
        self.world.store.pause()
    }
    fn resume(&self) -> Pending<'_, ()> {
        self.world.store.resume()
    }
    fn paused_since(&self) -> Pending<'_, Option<SystemTime>> {
        self.world.store.paused_since()
    }
    fn erase(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<u64>> {
        let named = jobs.clone();
        self.through("erase", self.world.store.erase(jobs), move |erased, observed, _| {
            named.iter().take(erased.len()).for_each(|id| observed.erased(id.as_str()));
            Ok(())
        })
    }

    calls! {
        prune(prune: Prune) -> Pruned;
        counts() -> Counts;
        due_since() -> Option<SystemTime>;
        list(filter: Filter) -> Page;
        show(key: EntryKey) -> Option<(Entry, Vec<Body>)>;
        requeue(entries: Vec<(EntryKey, Option<State>)>) -> Vec<bool>;
        discard(entries: Vec<EntryKey>, cause: String) -> Vec<bool>;
        import(rows: Vec<ImportRow>) -> (Imported, Vec<ExpectedJob>);
        check() -> Vec<Finding>;
        probe() -> ();
        close() -> ();
    }
}
