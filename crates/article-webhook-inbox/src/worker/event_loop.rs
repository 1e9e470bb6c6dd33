mod store_call;

use std::{collections::HashMap, pin::pin, sync::Arc, time::Instant};

use tokio::{
    runtime::Handle,
    select,
    sync::watch,
    task::{JoinError, JoinSet, yield_now},
};

use self::store_call::{StoreCall, is_ready, now, sleep_until_then};
use super::{
    attempt::{Attempt, ClaimGuard, FinishedAttempt, SettledAttempt, Signal, enter},
    in_progress::AttemptInProgress,
    retention::Removed,
    schedule::{Heartbeat, PruneTimer, Scheduler, Step},
    settings::Settings,
    wake::WakeSignal,
};
use crate::{
    Error,
    call::{Claim, Claims, Events, Lease},
    store::Ledger,
    telemetry,
};

/// The event loop of a worker. It passes events to the state machines of the schedule, and carries out their
/// decisions.
///
/// Dropped, it leaves no entry leased whose handler has not begun, and it loses no outcome that is known. Handlers that
/// run are cancelled; their attempts count, and their leases end by themselves.
pub(super) struct EventLoop {
    store: Arc<dyn Ledger>,
    wake: WakeSignal,
    settings: Settings,
    attempt: Arc<Attempt>,
    scheduler: Scheduler,
    heartbeat: Heartbeat,
    prune_timer: PruneTimer,
    running: JoinSet<FinishedAttempt>,
    settling: JoinSet<SettledAttempt>,
    signals: HashMap<Lease, watch::Sender<Signal>>,
    runtime: Handle,
    stops_when_idle: bool,
}

/// What a claim returned, and for each claimed entry the duty to give it back if its handler does not begin.
type NewLeases = (Claims, Vec<(ClaimGuard, AttemptInProgress)>);

/// The leases of a call to extend, and those among them that still held.
type Extended = (Vec<Lease>, Vec<Lease>);

impl EventLoop {
    pub(super) fn new(wake: WakeSignal, attempt: Attempt) -> Self {
        let (settings, now) = (attempt.settings.clone(), now());
        // Workers that were woken together do not poll together ever after.
        let poll = settings.poll.mul_f64(1.0 - 0.2 * fastrand::f64());
        Self {
            store: Arc::clone(&attempt.store),
            wake,
            scheduler: Scheduler::new(settings.concurrency, poll, settings.grace, now),
            heartbeat: Heartbeat::new(settings.lease, now),
            prune_timer: PruneTimer::new(now),
            settings,
            attempt: Arc::new(attempt),
            running: JoinSet::new(),
            settling: JoinSet::new(),
            signals: HashMap::new(),
            runtime: Handle::current(),
            stops_when_idle: false,
        }
    }

    /// Stops once nothing is due and nothing runs.
    pub(super) fn until_idle(mut self) -> Self {
        self.stops_when_idle = true;
        self
    }

    /// Works until `shutdown`, and then until the attempts that run have ended.
    pub(super) async fn run(mut self, shutdown: impl Future) -> Result<(), Error> {
        let mut shutdown = pin!(shutdown);
        let mut claiming: Option<StoreCall<NewLeases>> = None;
        let mut extending: Option<StoreCall<Extended>> = None;
        let mut pruning: Option<StoreCall<Option<Removed>>> = None;
        let mut listener = self.wake.listener();
        loop {
            // Checked before each claim.
            if !self.scheduler.is_stopping() && is_ready(shutdown.as_mut()).await {
                self.scheduler.stop(now());
            }
            let until = match self.scheduler.next(now()) {
                Step::Claim(limit) => {
                    claiming = Some(self.claim(limit));
                    None
                }
                Step::Wait(until) => until,
                Step::Cancel => {
                    self.signals.values().for_each(|signal| _ = signal.send_replace(Signal::Stop));
                    continue;
                }
                Step::Stop if extending.is_none() && pruning.is_none() => return Ok(()),
                Step::Stop => Some(self.scheduler.finish(now())),
                Step::Abandon => return Ok(()),
            };
            self.give_up_lost_leases(now());
            if extending.is_none() {
                extending = self.beat();
            }
            let may_prune = pruning.is_none() && !self.scheduler.is_stopping();
            if may_prune && self.prune_timer.due() <= now() {
                pruning = Some(self.prune());
            }
            // Leases also end while the store is extending them.
            let beat =
                if extending.is_none() { self.heartbeat.due() } else { self.heartbeat.end() };
            let prune = (pruning.is_none() && !self.scheduler.is_stopping())
                .then(|| self.prune_timer.due());
            let timer = [until, beat, prune].into_iter().flatten().min();
            select! {
                biased;
                _ = &mut shutdown, if !self.scheduler.is_stopping() => self.scheduler.stop(now()),
                claims = store_call::result(&mut claiming) => {
                    self.claimed(claims)?;
                    // Handlers begin before more is claimed.
                    yield_now().await;
                }
                extended = store_call::result(&mut extending) => self.extended(extended)?,
                Some(settled) = self.settling.join_next() => self.settled(settled)?,
                Some(finished) = self.running.join_next() => self.finished(finished).await,
                pruned = store_call::result(&mut pruning) => self.pruned(pruned)?,
                () = listener.woken() => self.scheduler.woken(now()),
                () = sleep_until_then(timer) => {}
            }
        }
    }

    fn claim(&self, limit: u32) -> StoreCall<NewLeases> {
        let Settings { lease, attempts, stuck_handlers, .. } = self.settings;
        // Handlers that never end keep their threads. A few of them do not stop all other work.
        let stuck = self.attempt.registry.stuck();
        telemetry::stuck_handlers(stuck.len());
        let in_progress = self.attempt.registry.in_progress.clone();
        let events = self.attempt.handlers.events();
        store_call::begin(&self.store, move |store| async move {
            if stuck.len() >= stuck_handlers {
                let jobs: Vec<_> = stuck.iter().map(|handler| &handler.key).collect();
                telemetry::stuck(&jobs);
                return Err(Error::unavailable("too many handlers never end"));
            }
            // As many may get stuck as run.
            let left = u32::try_from(stuck_handlers - stuck.len()).unwrap_or(u32::MAX);
            let limit = limit.min(left);
            let turn = in_progress.turn().await;
            // While an entry runs alone, or waits to, the worker is woken once that has changed.
            let Some(running) = turn.running() else { return Ok(NewLeases::default()) };
            let claims = store.claim(Claim { limit, lease, attempts, running, events }).await;
            let claims = claims.inspect_err(|error| telemetry::store_failed("claim", error))?;
            let guards = claims.claimed.iter().map(|claimed| ClaimGuard::new(claimed, &store));
            let guards: Vec<_> = guards.collect();
            let attempts = turn.claimed(&claims);
            Ok((claims, guards.into_iter().zip(attempts).collect()))
        })
    }

    fn claimed(
        &mut self,
        (asked, claims): (Instant, Result<NewLeases, Error>),
    ) -> Result<(), Error> {
        let (claims, guards) = match claims {
            Ok(claims) => claims,
            Err(error) if may_pass(&error) => {
                self.scheduler.failed(now());
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        telemetry::claimed(&claims);
        if self.attempt.handlers.events() == Events::ExceptFailures {
            self.attempt.registry.claimed_without_failures(&claims);
        }
        let time = self.store.now();
        let next_due = claims.next_due.map(|due| due.duration_since(time).unwrap_or_default());
        let brought =
            u32::try_from(claims.claimed.len()).expect("a claim brings no more than its limit");
        self.scheduler.claimed(now(), brought, next_due);
        if self.stops_when_idle && self.scheduler.is_idle(now()) {
            self.scheduler.stop(now());
        }
        let mut claimed = claims.claimed.iter();
        if let Some(last) = claimed.find(|claimed| claimed.attempt >= self.settings.attempts) {
            self.scheduler.last_attempt(last.lease, now());
        }
        // Entries that are claimed while the worker stops are released.
        let first = if self.scheduler.is_stopping() { Signal::Stop } else { Signal::Go };
        for (claimed, (guard, in_progress)) in claims.claimed.into_iter().zip(guards) {
            let (sender, signal) = watch::channel(first);
            self.heartbeat.held(claimed.lease, asked);
            self.signals.insert(claimed.lease, sender);
            self.running.spawn(Arc::clone(&self.attempt).run(
                (guard, in_progress),
                claimed,
                signal,
            ));
        }
        Ok(())
    }

    async fn finished(&mut self, finished: Result<FinishedAttempt, JoinError>) {
        let mut next = Some(finished);
        while let Some(finished) = next {
            let finished =
                finished.expect("an attempt catches the handler's panics and has none of its own");
            self.scheduler.handled(finished.entry.lease);
            if !finished.had_thread {
                telemetry::no_thread();
                self.scheduler.rest(now());
            }
            self.settling.spawn(self.attempt.settle(finished));
            next = self.running.try_join_next();
        }
        // The outcomes are sent first, so that the next claim shares their commit.
        yield_now().await;
    }

    fn settled(&mut self, settled: Result<SettledAttempt, JoinError>) -> Result<(), Error> {
        let settled = settled.expect("storing an outcome does not panic");
        self.heartbeat.ended(settled.lease);
        self.signals.remove(&settled.lease);
        self.scheduler.settled(now(), settled.again);
        drop(settled.in_progress);
        // Whether anything is due now is known after another claim.
        if self.stops_when_idle || self.attempt.registry.in_progress.can_run_alone() {
            self.wake.wake();
        }
        settled.failed.map_or(Ok(()), Err)
    }

    fn beat(&mut self) -> Option<StoreCall<Extended>> {
        let leases = self.heartbeat.beat(now());
        if leases.is_empty() {
            return None;
        }
        let lease = self.settings.lease;
        Some(store_call::begin(&self.store, move |store| async move {
            let held = store.extend(&leases, lease).await?;
            Ok((leases, held))
        }))
    }

    fn extended(
        &mut self,
        (asked, extended): (Instant, Result<Extended, Error>),
    ) -> Result<(), Error> {
        match extended {
            Ok((leases, held)) => {
                for lost in self.heartbeat.extended(asked, &leases, &held) {
                    self.signal(lost, Signal::LostLease);
                }
                Ok(())
            }
            Err(error) if may_pass(&error) => {
                telemetry::store_failed("extend", &error);
                self.heartbeat.failed(now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the attempts whose leases have ended, because the store could not extend them.
    fn give_up_lost_leases(&mut self, now: Instant) {
        for lost in self.heartbeat.expired(now) {
            self.signal(lost, Signal::LostLease);
        }
    }

    fn signal(&self, lease: Lease, signal: Signal) {
        if let Some(sender) = self.signals.get(&lease) {
            sender.send_replace(signal);
        }
    }

    /// Removes a batch of what is old.
    fn prune(&self) -> StoreCall<Option<Removed>> {
        let retention = self.settings.retention;
        store_call::begin(&self.store, move |store| async move { retention.remove(&*store).await })
    }

    fn pruned(
        &mut self,
        (_, pruned): (Instant, Result<Option<Removed>, Error>),
    ) -> Result<(), Error> {
        match pruned {
            Ok(None) => {
                self.prune_timer.postponed(now());
                Ok(())
            }
            Ok(Some(removed)) => {
                telemetry::pruned(&removed.entries, &removed.ledger);
                self.prune_timer.pruned(now(), &removed);
                Ok(())
            }
            Err(error) if may_pass(&error) => {
                telemetry::store_failed("prune", &error);
                self.prune_timer.postponed(now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether the worker continues after this error. Damage is repaired while the store is open, or concerns one entry.
fn may_pass(error: &Error) -> bool {
    error.is_transient() || error.is_damage()
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        let _entered = enter(&self.runtime);
        while let Some(finished) = self.running.try_join_next() {
            if let Ok(finished) = finished {
                drop(self.runtime.spawn(self.attempt.settle(finished)));
            }
        }
        self.settling.detach_all();
    }
}
