//! The loop of a worker: it passes events to the [`Schedule`] and carries out its steps.

use std::{
    collections::HashMap,
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::{mpsc, watch},
    task::JoinSet,
    time::{self, sleep_until},
};

use super::{
    attempt::{self, Attempts, Report, Signal},
    retention::Removed,
    schedule::{Schedule, Step},
    status::{AttemptInProgress, Registry},
};
use crate::{
    EntryKey, Error, State,
    call::{Claim, Claims, Events, Filter, Lease},
    rules::decode_again,
    store::Store,
    telemetry,
};

/// What a claim returned, and for each claimed entry that its attempt is in progress.
type Claimed = (Claims, Vec<AttemptInProgress>);

/// The leases of a call to extend, and those among them that still held.
type Extended = (Vec<Lease>, Vec<Lease>);

/// A call of the store that has begun. If the worker is dropped meanwhile, what a claim leases is free when its leases end.
type StoreCall<T> = Option<Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>>;

/// Until when a worker works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    Stopped,
    Idle,
}

struct Loop {
    attempts: Arc<Attempts>,
    schedule: Schedule,
    signals: HashMap<Lease, watch::Sender<Signal>>,
    reports: mpsc::UnboundedSender<Report>,
    claiming: StoreCall<Claimed>,
    extending: StoreCall<Extended>,
    pruning: StoreCall<Option<Removed>>,
}

/// Works until `shutdown`, and then until the attempts that run have ended.
pub(super) async fn run(
    attempts: Attempts,
    until: Until,
    shutdown: impl Future,
) -> Result<(), Error> {
    let mut shutdown = pin!(shutdown);
    // A store that waits for another process has not failed: nothing is claimed meanwhile.
    select! {
        biased;
        _ = &mut shutdown => return Ok(()),
        opened = attempts.store.opened() => opened?,
    }
    // Workers that were woken together do not poll together ever after.
    let poll = attempts.settings.poll.mul_f64(1.0 - 0.2 * fastrand::f64());
    let schedule = Schedule::new(&attempts.settings, poll, now());
    let schedule = match until {
        Until::Stopped => schedule,
        Until::Idle => schedule.until_idle(),
    };
    let mut wake = attempts.registry.listener();
    let quarantine = read_quarantine(Arc::clone(&attempts.store), attempts.registry.clone());
    // The tasks in this set end with the worker.
    let mut beside = JoinSet::new();
    match until {
        Until::Stopped => drop(beside.spawn(quarantine)),
        Until::Idle => quarantine.await,
    }
    let (reports, mut reported) = mpsc::unbounded_channel();
    let mut work = Loop {
        attempts: Arc::new(attempts),
        schedule,
        signals: HashMap::new(),
        reports,
        claiming: None,
        extending: None,
        pruning: None,
    };
    loop {
        // Checked before each claim.
        if !work.schedule.is_stopping() && is_ready(shutdown.as_mut()).await {
            work.schedule.stop(now());
        }
        let until = match work.schedule.next(now()) {
            Step::Wait(until) => until,
            Step::End => return Ok(()),
            step => {
                work.take(step);
                continue;
            }
        };
        select! {
            biased;
            _ = &mut shutdown, if !work.schedule.is_stopping() => work.schedule.stop(now()),
            claimed = result(&mut work.claiming) => work.claimed(claimed)?,
            extended = result(&mut work.extending) => work.extended(extended)?,
            Some(report) = reported.recv() => {
                work.reported(report)?;
                // Handlers that ended together are claimed for together.
                while let Ok(report) = reported.try_recv() {
                    work.reported(report)?;
                }
            }
            removed = result(&mut work.pruning) => work.pruned(removed)?,
            Ok(()) = wake.changed() => work.schedule.woken(now()),
            () = sleep_until(until.unwrap_or_else(now).into()), if until.is_some() => {}
        }
    }
}

/// The pause before the quarantine is read again when the store failed.
const QUARANTINE_PAUSE: Duration = Duration::from_secs(5);

/// Reads what is in quarantine again: an earlier version may have refused what this one reads.
async fn read_quarantine(store: Arc<dyn Store>, registry: Registry) {
    let mut filter = Filter { state: Some(State::Quarantined), ..Filter::default() };
    loop {
        let page = match store.list(filter.clone()).await {
            Ok(page) => page,
            Err(error) => {
                telemetry::store_failed("quarantine", &error);
                if !error.is_transient() {
                    return;
                }
                time::sleep(QUARANTINE_PAUSE).await;
                continue;
            }
        };
        for entry in page.items {
            match requeue_if_readable(&*store, &entry.key).await {
                Ok(true) => {
                    telemetry::decoded_again(&entry.key);
                    registry.wake();
                }
                Ok(false) => {}
                Err(error) => telemetry::store_failed("quarantine", &error),
            }
        }
        let Some(next) = page.next else { return };
        filter.after = next;
    }
}

/// Requeues what is in quarantine if this version can read it. What it cannot read costs no transaction that writes.
async fn requeue_if_readable(store: &dyn Store, key: &EntryKey) -> Result<bool, Error> {
    let bodies = store.show(key.clone()).await?.map_or_else(Vec::new, |(_, bodies)| bodies);
    if !bodies.iter().any(|body| decode_again(key, body).is_some()) {
        return Ok(false);
    }
    Ok(store.requeue(vec![(key.clone(), None)], store.now()).await? == [true])
}

impl Loop {
    fn take(&mut self, step: Step) {
        match step {
            Step::Claim(limit) => {
                let Attempts { registry, settings, .. } = &*self.attempts;
                // Handlers that never end keep their threads. A few of them do not stop all other work, but as many may get
                // stuck as run.
                match limit.min(registry.room_for_stuck(settings.stuck_handlers)) {
                    0 => self.schedule.claim_failed(now()),
                    limit => {
                        self.claiming = Some(Box::pin(claim(Arc::clone(&self.attempts), limit)));
                    }
                }
            }
            Step::Extend(leases) => {
                let (store, lease) =
                    (Arc::clone(&self.attempts.store), self.attempts.settings.lease);
                self.extending = Some(Box::pin(async move {
                    let held = store.extend(&leases, lease).await?;
                    Ok((leases, held))
                }));
            }
            Step::Prune => {
                let store = Arc::clone(&self.attempts.store);
                let retention = self.attempts.settings.retention;
                self.pruning = Some(Box::pin(async move { retention.remove(&*store).await }));
            }
            Step::GiveUp(leases) => self.lost(&leases),
            Step::Cancel => {
                self.signals.values().for_each(|signal| _ = signal.send_replace(Signal::Stop));
            }
            Step::Wait(_) | Step::End => {}
        }
    }

    fn claimed(&mut self, claimed: Result<Claimed, Error>) -> Result<(), Error> {
        let Some((claims, in_progress)) = passing(claimed, "claim")? else {
            self.schedule.claim_failed(now());
            return Ok(());
        };
        telemetry::claimed(&claims);
        if self.attempts.handlers.events() == Events::ExceptFailures {
            self.attempts.registry.claimed_without_failures(&claims);
        }
        let time = self.attempts.store.now();
        self.attempts.registry.note_pause(claims.paused_since.clone(), time);
        let next_due = claims.next_due.map(|due| due.duration_since(time).unwrap_or_default());
        let leases = claims.claimed.iter().map(|claimed| claimed.lease);
        let may_begin = self.schedule.claimed(now(), leases, next_due);
        let first = if may_begin { Signal::Go } else { Signal::Stop };
        for (claimed, in_progress) in claims.claimed.into_iter().zip(in_progress) {
            let (sender, signal) = watch::channel(first);
            self.signals.insert(claimed.lease, sender);
            attempt::begin(&self.attempts, claimed, in_progress, signal, self.reports.clone());
        }
        Ok(())
    }

    fn reported(&mut self, report: Report) -> Result<(), Error> {
        match report {
            Report::Handled { had_thread } => {
                self.schedule.handled();
                if !had_thread {
                    telemetry::no_thread();
                    self.schedule.pause_claims(now());
                }
                Ok(())
            }
            Report::Settled { lease, again, failed } => {
                self.signals.remove(&lease);
                self.schedule.settled(now(), lease, again);
                if self.attempts.registry.can_run_alone() {
                    self.attempts.registry.wake();
                }
                failed.map_or(Ok(()), Err)
            }
        }
    }

    fn extended(&mut self, extended: Result<Extended, Error>) -> Result<(), Error> {
        match passing(extended, "extend")? {
            Some((leases, held)) => {
                let lost = self.schedule.extended(&leases, &held);
                self.lost(&lost);
            }
            None => self.schedule.extend_failed(now()),
        }
        Ok(())
    }

    fn lost(&self, leases: &[Lease]) {
        for signal in leases.iter().filter_map(|lease| self.signals.get(lease)) {
            signal.send_replace(Signal::LostLease);
        }
    }

    fn pruned(&mut self, removed: Result<Option<Removed>, Error>) -> Result<(), Error> {
        match passing(removed, "prune")?.flatten() {
            Some(removed) => {
                telemetry::pruned(&removed.entries, &removed.ledger);
                self.schedule.pruned(now(), &removed);
            }
            None => self.schedule.prune_failed(now()),
        }
        Ok(())
    }
}

async fn claim(attempts: Arc<Attempts>, limit: u32) -> Result<Claimed, Error> {
    let turn = attempts.registry.turn().await;
    // While an entry runs alone, or waits to, the worker is woken once that has changed.
    let Some((running, retries_first)) = turn.begin() else { return Ok(Claimed::default()) };
    let claim = Claim {
        limit,
        lease: attempts.settings.lease,
        attempts: attempts.settings.attempts,
        running,
        events: attempts.handlers.events(),
        retries_first,
    };
    let claims = attempts.store.claim(claim).await?;
    let in_progress = turn.claimed(&claims);
    Ok((claims, in_progress))
}

/// The result of a call. `None`: it failed, and the worker goes on. Damage is of one entry, or has been logged.
fn passing<T>(result: Result<T, Error>, call: &'static str) -> Result<Option<T>, Error> {
    let Err(error) = result else { return result.map(Some) };
    telemetry::store_failed(call, &error);
    if error.is_transient() || error.is_damaged() { Ok(None) } else { Err(error) }
}

/// The time of Tokio's clock, which a test can pause.
fn now() -> Instant {
    time::Instant::now().into_std()
}

/// The result of a call that has begun. Never ready without a call.
async fn result<T>(call: &mut StoreCall<T>) -> Result<T, Error> {
    match call {
        Some(begun) => {
            let result = begun.await;
            *call = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// Whether a future is ready now.
async fn is_ready(future: Pin<&mut impl Future>) -> bool {
    select! {
        biased;
        _ = future => true,
        () = std::future::ready(()) => false,
    }
}
