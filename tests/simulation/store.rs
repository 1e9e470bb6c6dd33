use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;
use article_webhook_inbox::{
    Body, CauseCount, Completion, Counts, Digest, Entry, EntryKey, Error, ExpectedJob, Filter,
    Finding, HourCount, Imported, Intent, IntentState, JobFilter, JobState, LedgerCounts,
    LedgerPruned, Page, Prune, Pruned, Since, Source, State, Topic,
    store::{
        self, Arrival, Bucket, BucketEvent, CallRefused, Claim, Claims, Expect, Export, ExportLine,
        Intended, IntentLease, Lease, Merge, Outcome, Pending, PollClaim, PollLease, PollOutcome,
        PollSettled, Polls, Quarantine, Quarantined, Recorded, Settled, Store,
    },
};
use tokio::time::sleep;

use crate::{
    faults::CallFault,
    forge::is_forged,
    ledger::Opened,
    node::Process,
    observed::{Observed, Poll},
    world::World,
};

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

    /// A call with its faults. `seen` gets what was carried out, also if the application does not.
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
        // What came to a URL alone may be set aside, or give way.
        let delivered = bodies.iter().filter(|body| body.source == Source::Webhook);
        let delivered = delivered.filter(|body| !body.is_by_capability());
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

impl Store for Connection {
    fn now(&self) -> SystemTime {
        self.world.now();
        self.world.store.now()
    }

    fn record(&self, arrival: Arrival) -> Pending<'_, Recorded> {
        let (key, source) = (arrival.key.clone(), arrival.source);
        let is_by_capability = arrival.is_by_capability();
        let job = key.is_article().then(|| key.job_id.clone());
        let call = Box::pin(async move {
            self.look_for_a_trace(job.as_slice()).await?;
            self.world.store.record(arrival).await
        });
        self.through("record", call, move |recorded, observed, now| {
            let is_refused = matches!(recorded, Recorded::BodyLimitReached | Recorded::OtherJob);
            if !is_refused && key.is_article() && source == Source::Webhook {
                let id = key.job_id.as_str();
                observed.is_back(id);
                // Until the service answers, it may be forged, and is polled.
                let is_in_doubt = is_by_capability && !observed.keyed.contains(id);
                // A copy of a body that could not be read leaves its entry as it is.
                match recorded.is_stored() {
                    true if is_in_doubt => observed.in_doubt(id),
                    true => observed.in_hand(id, now),
                    false => {}
                }
            }
            Ok(())
        })
    }

    fn claim(&self, claim: Claim) -> Pending<'_, Claims> {
        self.through("claim", self.world.store.claim(claim), |claims, observed, _| {
            for claimed in claims.claimed.iter().filter(|claimed| claimed.key.is_article()) {
                let job = claimed.key.job_id.as_str();
                let mut bodies = claimed.bodies.iter().filter_map(|body| body.bytes.as_ref());
                if bodies.any(|bytes| is_forged(job, bytes)) {
                    observed.forgeries.claimed(job)?;
                }
            }
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
                    observed.may_be_polled(id);
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

    fn pause(&self, by: Box<str>) -> Pending<'_, ()> {
        self.world.store.pause(by)
    }
    fn resume(&self) -> Pending<'_, ()> {
        self.world.store.resume()
    }
    fn paused_since(&self) -> Pending<'_, Option<Since>> {
        self.world.store.paused_since()
    }
    fn erase(&self, jobs: Vec<JobId>) -> Pending<'_, Vec<u64>> {
        let named = jobs.clone();
        self.through("erase", self.world.store.erase(jobs), move |erased, observed, _| {
            named.iter().take(erased.len()).for_each(|id| observed.erased(id.as_str()));
            Ok(())
        })
    }

    fn intend<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        let call = self.world.store.intend(name, within, key, topic);
        self.through("intend", call, |intended, observed, _| {
            if matches!(intended, Intended::Begun(_)) {
                observed.forgeries.begun(name);
            }
            Ok(())
        })
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
        topic: Option<Topic>,
    ) -> Pending<'a, Intended> {
        let call = self.world.store.order_again(name, within, key, topic);
        self.through("order_again", call, |intended, observed, _| {
            if matches!(intended, Intended::Begun(_)) {
                observed.again(name);
                observed.forgeries.begun(name);
            }
            Ok(())
        })
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, Option<JobId>> {
        let id = job_id.clone();
        let call = Box::pin(async move {
            // While the store failed, a refused delivery may have made the job known, and retention removed it since.
            self.look_for_a_trace(std::slice::from_ref(&job_id)).await?;
            let opened = self.opened(&Expect::job(job_id.clone(), at)).await?;
            self.world.store.ordered(name, job_id, at, key).await?;
            Ok(opened)
        });
        let call = self.through("ordered", call, move |opened, observed, now| {
            if let Opened::Now(pause) = *opened {
                observed.opened(id.as_str(), now, pause);
            }
            observed.ordered(id.as_str());
            observed.forgeries.answered(name, id.as_str());
            observed.keyed.insert(id.to_string());
            observed.rate.key_accepted(key);
            Ok(())
        });
        Box::pin(async move { call.await.map(|_| None) })
    }

    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, CallRefused> {
        let call = Box::pin(async move {
            let intents = self.world.ledger().await.1;
            let name = intents.into_iter().find(|intent| intent.id == lease.id).map(|it| it.name);
            Ok((self.world.store.not_ordered(lease).await?, name))
        });
        let call = self.through("not_ordered", call, |(refused, name), observed, _| {
            let name = name.as_ref().filter(|_| refused.is_noted);
            name.into_iter().for_each(|name| observed.forgeries.refused(name));
            Ok(())
        });
        Box::pin(async move { call.await.map(|(refused, _)| refused) })
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        self.through("abandon", self.world.store.abandon(name), |_, _, _| Ok(()))
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        self.through("intent", self.world.store.intent(name), |_, _, _| Ok(()))
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        let ids: Vec<_> = jobs.iter().map(|expect| expect.job_id.clone()).collect();
        let names = ids.clone();
        let call = Box::pin(async move {
            self.look_for_a_trace(&names).await?;
            let mut seen = Vec::new();
            for expect in &jobs {
                seen.push((self.opened(expect).await?, expect.intent.clone()));
            }
            let states = self.world.store.expect(jobs).await?;
            let mut noted = Vec::new();
            for ((opened, intent), id) in seen.into_iter().zip(names) {
                let stored = self.world.store.job(id).await?.and_then(|job| job.intent);
                noted.push((opened, intent.is_some() && intent != stored));
            }
            Ok((states, noted))
        });
        let call = self.through("expect", call, move |(states, noted), observed, now| {
            for ((id, state), (opened, is_of_another)) in ids.iter().zip(states).zip(noted) {
                observed.job(id.as_str()).is_candidate |= *is_of_another;
                observed.expected_now(id.as_str(), *state, *opened, now);
            }
            Ok(())
        });
        Box::pin(async move { call.await.map(|(states, _)| states) })
    }

    fn quarantine(&self, quarantine: Quarantine) -> Pending<'_, Quarantined> {
        let id = quarantine.arrival.key.job_id.clone();
        let job = id.clone();
        let call = Box::pin(async move {
            self.look_for_a_trace(std::slice::from_ref(&job)).await?;
            let opened = match &quarantine.expect {
                Some(expect) => self.opened(expect).await?,
                None => Opened::Not,
            };
            let quarantined = self.world.store.quarantine(quarantine).await?;
            let state = self.world.store.job(job).await?.map(|job| job.state);
            Ok((quarantined, state, opened))
        });
        let call = self.through("quarantine", call, move |(kept, state, opened), observed, now| {
            observed.job(id.as_str()).is_candidate |= matches!(kept, Quarantined::OtherJob { .. });
            match (state, kept) {
                (Some(state), _) => observed.expected_now(id.as_str(), *state, *opened, now),
                // The order is known to be another job.
                (None, Quarantined::OtherJob { .. })
                    if observed.forgeries.is_forged(id.as_str()) => {}
                (None, _) => return Err(format!("{id} is not expected")),
            }
            Ok(())
        });
        Box::pin(async move { call.await.map(|(quarantined, ..)| quarantined) })
    }

    fn claim_polls(&self, claim: PollClaim) -> Pending<'_, Polls> {
        let call = self.world.store.claim_polls(claim);
        self.through("claim_polls", call, move |polls, observed, now| {
            for store::Poll { lease, job } in &polls.polls {
                let poll = Poll {
                    job: job.job_id.to_string(),
                    fence: lease.fence,
                    claimed: now,
                    ends: now + claim.lease,
                    settled: false,
                };
                observed.rows.insert(lease.id, poll);
            }
            Ok(())
        })
    }

    fn settle_poll(
        &self,
        lease: PollLease,
        outcome: PollOutcome,
        key: u64,
    ) -> Pending<'_, PollSettled> {
        let settled = outcome.clone();
        let call = Box::pin(async move {
            let before = self.delivered(lease.id).await;
            let result = self.world.store.settle_poll(lease, outcome, key).await;
            let after = self.delivered(lease.id).await;
            if matches!(result, Ok(PollSettled::Settled(_) | PollSettled::OtherHandled { .. })) {
                self.waits(lease.id).await;
            }
            if !before.iter().all(|digest| after.contains(digest)) {
                self.world.fail("an answer of the API took the place of a delivered body");
            }
            result
        });
        self.through("settle_poll", call, move |result, observed, now| {
            let poll = observed.rows.get(&lease.id).cloned().unwrap_or_default();
            let id = poll.job;
            if !matches!(settled, PollOutcome::Again { .. } | PollOutcome::Released) {
                observed.rate.key_accepted(key);
            }
            if *result == PollSettled::LostLease {
                return Ok(());
            }
            if poll.fence != lease.fence || now >= poll.ends || poll.settled {
                return Err(format!("the answer to a lost poll of {id} is stored"));
            }
            observed.rows.entry(lease.id).or_default().settled = true;
            let (PollSettled::Settled(state) | PollSettled::OtherHandled { state, .. }) = result
            else {
                return Ok(());
            };
            match (state, settled) {
                (_, PollOutcome::Released) => observed.poll_released(&id),
                (JobState::Collected, _)
                | (
                    JobState::Arrived,
                    PollOutcome::Unfinished { .. } | PollOutcome::Unconfirmed { .. },
                ) => observed.in_hand(&id, now),
                (_, PollOutcome::Unconfirmed { .. }) => observed.poll_to_be_confirmed(&id, now),
                (_, PollOutcome::NotFound { .. }) => observed.forgeries.not_found(&id),
                _ => observed.poll_ended(&id, now),
            }
            Ok(())
        })
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        let call = Box::pin(self.world.prune_ledger(before, limit));
        self.through("prune_ledger", call, |_, _, _| Ok(()))
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        let process = &self.process;
        self.through("report", self.world.store.report(event), move |(), observed, now| match event
        {
            BucketEvent::RateLimited { retry_after } | BucketEvent::Unavailable { retry_after } => {
                observed.rate.pause_stored(process, retry_after, now)
            }
            BucketEvent::KeyAccepted { key } => {
                observed.rate.key_accepted(key);
                Ok(())
            }
            BucketEvent::Resumed => {
                observed.rate.resumed();
                Ok(())
            }
            BucketEvent::KeyRefused { key } => observed.rate.refusal_stored(key, now),
        })
    }

    calls! {
        prune(prune: Prune) -> Pruned;
        counts() -> Counts;
        due_since() -> Option<SystemTime>;
        list(filter: Filter) -> Page<Entry>;
        show(key: EntryKey) -> Option<(Entry, Vec<Body>)>;
        entries_of(jobs: Vec<JobId>) -> Vec<Entry>;
        causes(requeued_at: Option<SystemTime>) -> Vec<CauseCount>;
        hours(since: SystemTime) -> Vec<HourCount>;
        requeue(entries: Vec<(EntryKey, Option<State>)>, at: SystemTime) -> Vec<bool>;
        discard(entries: Vec<EntryKey>, cause: String) -> Vec<bool>;
        export(part: Export) -> Page<ExportLine>;
        import(lines: Vec<ExportLine>) -> Imported;
        merge(part: Merge) -> Imported;
        check() -> Vec<Finding>;
        probe() -> ();
        close() -> ();
        note_gaps() -> ();
        orders_checked() -> bool;
        outcome_lost(lease: IntentLease) -> bool;
        bucket() -> Bucket;
        job(job_id: JobId) -> Option<ExpectedJob>;
        jobs(filter: JobFilter) -> Page<ExpectedJob>;
        intents(state: Option<IntentState>, after: i64, limit: u32) -> Page<Intent>;
        ledger_counts() -> LedgerCounts;
    }
}

impl Observed {
    /// A job is expected, and was opened by that or not.
    fn expected_now(&mut self, id: &str, state: JobState, opened: Opened, now: Duration) {
        self.expected(id);
        match opened {
            Opened::Now(pause) if state.is_open() => self.opened(id, now, pause),
            Opened::Before(pause) => self.brought_forward(id, now, pause),
            Opened::Now(_) | Opened::Not => {}
        }
    }
}
