use std::{
    collections::HashMap,
    pin::{Pin, pin},
    sync::Arc,
    time::{Instant, SystemTime},
};

use tokio::{
    select,
    sync::watch,
    task::{JoinError, JoinSet, yield_now},
    time::{self, sleep_until},
};

use super::{
    Limits,
    attempt::{Attempt, Over, Signal, Worked},
};
use crate::{
    Error, Store,
    inbox::Wake,
    rules::{
        heartbeat::Heartbeat,
        pace::{Pace, Step},
        retention::{Retention, Sweep},
    },
    store::{Claim, Claims, Lease, Prune, Pruned},
    telemetry,
};

/// The most bodies of each kind that go in one batch.
const BATCH: u32 = 500;

/// The most threads that handlers may hold beyond those at work, because they were given up and never end.
const STUCK: usize = 64;

/// The shell around the rules: carries what happens to them and what they say to the store.
pub(super) struct Driver {
    store: Arc<dyn Store>,
    wake: Wake,
    limits: Limits,
    retention: Retention,
    attempt: Arc<Attempt>,
    pace: Pace,
    heartbeat: Heartbeat,
    sweep: Sweep,
    working: JoinSet<Worked>,
    settling: JoinSet<Over>,
    signals: HashMap<Lease, watch::Sender<Signal>>,
}

/// The leases that were to be extended, and those of them that still held.
type Extended = (Vec<Lease>, Vec<Lease>);

type Call<T> = Pin<Box<dyn Future<Output = (Instant, Result<T, Error>)> + Send>>;

impl Driver {
    pub(super) fn new(wake: Wake, retention: Retention, attempt: Attempt) -> Self {
        let (limits, now) = (attempt.limits.clone(), now());
        Self {
            store: Arc::clone(&attempt.store),
            wake,
            pace: Pace::new(limits.concurrency, limits.poll, limits.grace, now),
            heartbeat: Heartbeat::new(limits.lease, now),
            sweep: Sweep::new(now),
            limits,
            retention,
            attempt: Arc::new(attempt),
            working: JoinSet::new(),
            settling: JoinSet::new(),
            signals: HashMap::new(),
        }
    }

    /// Works until `shutdown` and what is left to end after it.
    pub(super) async fn run(mut self, shutdown: impl Future) -> Result<(), Error> {
        let mut shutdown = pin!(shutdown);
        let mut claiming: Option<Call<Claims>> = None;
        let mut extending: Option<Call<Extended>> = None;
        let mut sweeping: Option<Call<Pruned>> = None;
        let mut listener = self.wake.listener();
        loop {
            // Before anything is claimed.
            if !self.pace.is_stopping() && is_ready(shutdown.as_mut()).await {
                self.pace.stop(now());
            }
            let until = match self.pace.next(now()) {
                Step::Claim(limit) => {
                    claiming = Some(self.claim(limit));
                    None
                }
                Step::Wait(until) => until,
                Step::Cancel => {
                    self.signals.values().for_each(|signal| _ = signal.send_replace(Signal::Stop));
                    continue;
                }
                Step::Stop if extending.is_none() && sweeping.is_none() => return Ok(()),
                Step::Stop => Some(self.pace.over(now())),
                Step::Abandon => return Ok(()),
            };
            self.lose(now());
            if extending.is_none() {
                extending = self.beat();
            }
            if sweeping.is_none() && !self.pace.is_stopping() && self.sweep.due() <= now() {
                sweeping = Some(self.prune());
            }
            // Also while the store takes its time to extend them, leases end.
            let beat =
                if extending.is_none() { self.heartbeat.due() } else { self.heartbeat.end() };
            let sweep = (sweeping.is_none() && !self.pace.is_stopping()).then(|| self.sweep.due());
            let timer = [until, beat, sweep].into_iter().flatten().min();
            select! {
                biased;
                _ = &mut shutdown, if !self.pace.is_stopping() => self.pace.stop(now()),
                claims = called(&mut claiming) => self.claimed(claims)?,
                extended = called(&mut extending) => self.extended(extended)?,
                Some(over) = self.settling.join_next() => self.over(over)?,
                Some(worked) = self.working.join_next() => self.worked(worked).await,
                pruned = called(&mut sweeping) => self.swept(pruned)?,
                () = listener.woken() => self.pace.woken(now()),
                () = until_then(timer) => {}
            }
        }
    }

    fn claim(&self, limit: u32) -> Call<Claims> {
        let Limits { lease, attempts, .. } = self.limits;
        // Every claim leaves room for one attempt at least: handlers that never end must not stop all others.
        let stuck = Arc::strong_count(&self.attempt.threads).saturating_sub(1 + self.working.len());
        telemetry::given_up(stuck);
        let limit = if stuck >= STUCK { 0 } else { limit };
        call(&self.store, move |store| async move {
            if limit == 0 {
                telemetry::stuck(stuck);
                return Err(Error::unavailable("too many handlers never end"));
            }
            let claims = store.claim(Claim { limit, lease, attempts }).await;
            claims.inspect_err(|error| telemetry::store_failed("claim", error))
        })
    }

    fn claimed(&mut self, (asked, claims): (Instant, Result<Claims, Error>)) -> Result<(), Error> {
        let claims = match claims {
            Ok(claims) => claims,
            Err(error) if error.is_transient() => {
                self.pace.failed(now());
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        telemetry::claimed(&claims);
        let time = self.store.now();
        let next_due = claims.next_due.map(|due| due.duration_since(time).unwrap_or_default());
        let brought =
            u32::try_from(claims.claimed.len()).expect("a claim brings no more than its limit");
        self.pace.claimed(now(), brought, next_due);
        // What a claim brings after the word to stop is given back.
        let first = if self.pace.is_stopping() { Signal::Stop } else { Signal::Go };
        for claimed in claims.claimed {
            let (sender, signal) = watch::channel(first);
            self.heartbeat.held(claimed.lease, asked);
            self.signals.insert(claimed.lease, sender);
            self.working.spawn(Arc::clone(&self.attempt).work(claimed, signal));
        }
        Ok(())
    }

    async fn worked(&mut self, worked: Result<Worked, JoinError>) {
        let mut next = Some(worked);
        while let Some(worked) = next {
            let worked =
                worked.expect("an attempt catches the handler's panics and has none of its own");
            self.pace.handled();
            if !worked.had_thread {
                telemetry::no_thread();
                self.pace.rest(now());
            }
            self.settling.spawn(Arc::clone(&self.attempt).settle(worked));
            next = self.working.try_join_next();
        }
        // The outcomes first, so that the next claim shares their commit.
        yield_now().await;
    }

    fn over(&mut self, over: Result<Over, JoinError>) -> Result<(), Error> {
        let over = over.expect("storing an outcome does not panic");
        self.heartbeat.ended(over.lease);
        self.signals.remove(&over.lease);
        self.pace.ended(now(), over.again);
        over.failed.map_or(Ok(()), Err)
    }

    fn beat(&mut self) -> Option<Call<Extended>> {
        let leases = self.heartbeat.beat(now());
        if leases.is_empty() {
            return None;
        }
        let lease = self.limits.lease;
        Some(call(&self.store, move |store| async move {
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
            Err(error) if error.is_transient() => {
                telemetry::store_failed("extend", &error);
                self.heartbeat.failed(now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the attempts whose leases have ended, as the store could not extend them.
    fn lose(&mut self, now: Instant) {
        for lost in self.heartbeat.expired(now) {
            self.signal(lost, Signal::LostLease);
        }
    }

    fn signal(&self, lease: Lease, signal: Signal) {
        if let Some(sender) = self.signals.get(&lease) {
            sender.send_replace(signal);
        }
    }

    fn prune(&self) -> Call<Pruned> {
        let Retention { bodies, entries } = self.retention;
        call(&self.store, move |store| async move {
            let now = store.now();
            // Where nothing is old enough, nothing goes.
            let before = |age| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
            let (bodies_before, entries_before) = (before(bodies), before(entries));
            store.prune(Prune { bodies_before, entries_before, limit: BATCH }).await
        })
    }

    fn swept(&mut self, (_, pruned): (Instant, Result<Pruned, Error>)) -> Result<(), Error> {
        match pruned {
            Ok(pruned) => {
                telemetry::pruned(&pruned);
                self.sweep.swept(now(), pruned.more);
                Ok(())
            }
            Err(error) if error.is_transient() => {
                telemetry::store_failed("prune", &error);
                self.sweep.failed(now());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// The time by tokio's clock, which a test can pause.
fn now() -> Instant {
    time::Instant::now().into_std()
}

/// A call to the store, with the time at which it began: a lease counts from there.
fn call<T, F>(
    store: &Arc<dyn Store>,
    ask: impl FnOnce(Arc<dyn Store>) -> F + Send + 'static,
) -> Call<T>
where
    F: Future<Output = Result<T, Error>> + Send,
    T: 'static,
{
    let store = Arc::clone(store);
    Box::pin(async move {
        let asked = now();
        (asked, ask(store).await)
    })
}

/// What a call brings; never ready without one.
async fn called<T>(call: &mut Option<Call<T>>) -> (Instant, Result<T, Error>) {
    match call {
        Some(under_way) => {
            let result = under_way.await;
            *call = None;
            result
        }
        None => std::future::pending().await,
    }
}

/// Whether a future is ready already.
async fn is_ready(future: Pin<&mut impl Future>) -> bool {
    select! {
        biased;
        _ = future => true,
        () = std::future::ready(()) => false,
    }
}

async fn until_then(timer: Option<Instant>) {
    match timer {
        Some(then) => sleep_until(then.into()).await,
        None => std::future::pending().await,
    }
}
