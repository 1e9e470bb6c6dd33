use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use article_webhook::adapter::SeenDrift;
use tokio::sync::watch;

use crate::{
    EntryKey, Error,
    call::{Claims, Events, Since},
    store::Store,
    telemetry,
};

/// The workers of an inbox in this process.
///
/// ```
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main]
/// async fn main() -> Result<(), article_webhook_inbox::Error> {
///     let inbox = Inbox::memory();
///     assert_eq!(inbox.health().await.workers.started, 0, "nothing is worked on");
///
///     let worker = tokio::spawn(inbox.worker(|_| async { Ok(()) }).run(std::future::pending::<()>()));
///     while inbox.health().await.workers.running == 0 {
///         tokio::task::yield_now().await;
///     }
///     inbox.close().await?;
///     assert!(worker.await.unwrap().is_err());
///
///     let workers = inbox.health().await.workers;
///     assert_eq!((workers.started, workers.running), (1, 0));
///     assert!(workers.failure.unwrap().error.is_closed());
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive] // more may be reported
pub struct Workers {
    /// How many run now.
    pub running: u32,
    /// How many were started since the inbox was opened.
    pub started: u64,
    /// Why the last one ended that did not end by its `shutdown`. It stays when another is started.
    pub failure: Option<WorkerFailure>,
    /// At the last claim, the failure of a job was due, and no worker of this inbox had a
    /// [handler](crate::Worker::on_failure) for it.
    pub failures_wait: bool,
    /// At the last claim, as many handlers were [stuck](crate::Health::stuck) as a worker
    /// [allows](crate::Worker::stuck_handlers), so nothing was claimed.
    pub claims_stopped: bool,
}

/// The end of a worker without a requested stop.
///
/// ```
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     let inbox = Inbox::memory();
///     assert!(inbox.health().await.workers.failure.is_none());
///
///     let worker = inbox.worker(|_| async { Ok(()) }).attempts(0);
///     assert!(worker.run(std::future::pending::<()>()).await.is_err());
///     let failure = inbox.health().await.workers.failure.unwrap();
///     assert!(failure.error.is_invalid());
///     assert_eq!(failure.error.to_string(), "worker: attempts: expected at least 1, found 0");
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive] // more may be reported
pub struct WorkerFailure {
    /// When it ended.
    pub at: SystemTime,
    /// The error with which it ended, or that it was dropped.
    pub error: Error,
}

/// A handler that goes on although its attempt was given up: it ran into its time limit, its lease was lost, or its
/// worker stopped. It keeps its thread until it returns.
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use article_webhook_inbox::{Inbox, Job};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
///     assert!(inbox.health().await.stuck.is_empty());
///
///     let (end, never) = mpsc::channel::<()>();
///     let never = std::sync::Mutex::new(never);
///     let handler = move |_: Job| {
///         let _ = never.lock().map(|never| never.recv()); // blocks its thread
///         async { Ok(()) }
///     };
///     let worker = inbox.worker(handler).attempts(1).handler_timeout(Duration::ZERO);
///     let watched = inbox.clone();
///     let stuck = async move {
///         while watched.health().await.stuck.is_empty() {
///             tokio::time::sleep(Duration::from_millis(10)).await;
///         }
///     };
///     worker.run(stuck).await?;
///     assert_eq!(inbox.health().await.stuck[0].key.to_string(), "job_1 (article.complete)");
///     drop(end);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct StuckHandler {
    /// The job and the event.
    pub key: EntryKey,
    /// The number of the attempt.
    pub attempt: u32,
    /// When the handler began.
    pub since: SystemTime,
}

/// The workers of an inbox, their attempts, and the threads of their handlers. It outlives them, so that the health of the
/// inbox shows what became of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry(pub(super) Arc<Shared>);

#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    /// One worker claims at a time, so that each knows what the others run.
    claiming: tokio::sync::Mutex<()>,
    wake: watch::Sender<()>,
    /// What articles have that the service's document does not.
    pub(super) drift: SeenDrift,
}

#[derive(Debug, Default)]
struct State {
    workers: Workers,
    /// How many of the workers have a handler for failures.
    on_failure: u32,
    has_warned_of_failures: bool,
    /// Since when claims are paused, as the last claim found it.
    paused_since: Option<Since>,
    last_thread: u64,
    threads: BTreeMap<u64, Thread>,
    /// Attempts of all workers that are not over: their handlers run, or their outcomes are not stored yet.
    attempts: u32,
    /// An entry runs alone, or waits until it can. Nothing is claimed beside it: if it crashes the process, no other entry
    /// loses an attempt.
    is_alone: bool,
    turns: ClaimTurns,
}

#[derive(Debug)]
struct Thread {
    handler: StuckHandler,
    /// Its attempt was given up, and it goes on.
    is_stuck: bool,
}

/// Which claims take retries first.
#[derive(Debug, Default)]
struct ClaimTurns {
    claims: u32,
    /// A retry waits to run alone. Until it has its claim, all claims take retries first.
    alone_waits: bool,
}

impl ClaimTurns {
    /// Every fourth claim takes retries first, so that neither they nor new entries starve.
    fn next(&mut self) -> bool {
        self.claims = self.claims.wrapping_add(1);
        self.alone_waits || self.claims.is_multiple_of(4)
    }
}

impl Registry {
    /// Wakes all workers of this process, because one of them may be busy or about to stop.
    pub(crate) fn wake(&self) {
        self.0.wake.send_replace(());
    }

    /// What is changed when workers are woken. A change that comes while a worker does not wait is kept for it.
    pub(super) fn listener(&self) -> watch::Receiver<()> {
        self.0.wake.subscribe()
    }

    /// A worker begins, which claims these events.
    pub(super) fn start_worker(&self, store: Arc<dyn Store>, events: Events) -> RunningWorker {
        let mut state = self.state();
        if events == Events::All {
            state.on_failure += 1;
            state.workers.failures_wait = false;
        }
        state.workers.started += 1;
        state.workers.running += 1;
        telemetry::workers(state.workers.running);
        drop(state);
        RunningWorker { registry: self.clone(), store, events, has_ended: false }
    }

    /// A handler begins, with a thread to itself.
    pub(super) fn start_thread(
        &self,
        key: EntryKey,
        attempt: u32,
        since: SystemTime,
    ) -> ThreadSlot {
        let mut state = self.state();
        state.last_thread += 1;
        let id = state.last_thread;
        let handler = StuckHandler { key, attempt, since };
        state.threads.insert(id, Thread { handler, is_stuck: false });
        drop(state);
        ThreadSlot { registry: self.clone(), id }
    }

    /// The handler of this thread is no longer waited for. If it has not ended, it is stuck.
    pub(super) fn give_up(&self, thread: u64) {
        if let Some(thread) = self.state().threads.get_mut(&thread) {
            thread.is_stuck = true;
        }
    }

    pub(crate) fn workers(&self) -> Workers {
        self.state().workers.clone()
    }

    pub(crate) fn drift(&self) -> Vec<String> {
        self.0.drift.all()
    }

    /// The handlers that go on although their attempts were given up, those that began first first.
    pub(crate) fn stuck(&self) -> Vec<StuckHandler> {
        let state = self.state();
        let stuck = state.threads.values().filter(|thread| thread.is_stuck);
        stuck.map(|thread| thread.handler.clone()).collect()
    }

    /// How many more handlers may get stuck. With none left, nothing is claimed, which is logged.
    pub(super) fn room_for_stuck(&self, limit: usize) -> u32 {
        let stuck = self.stuck();
        telemetry::stuck_handlers(stuck.len());
        let has_too_many = stuck.len() >= limit;
        self.state().workers.claims_stopped = has_too_many;
        if has_too_many {
            telemetry::stuck(&stuck.iter().map(|handler| &handler.key).collect::<Vec<_>>());
        }
        u32::try_from(limit.saturating_sub(stuck.len())).unwrap_or(u32::MAX)
    }

    /// Waits until no other worker of the inbox claims.
    pub(super) async fn turn(&self) -> Turn<'_> {
        let claiming = self.0.claiming.lock().await;
        Turn { registry: self, _claiming: claiming }
    }

    /// Whether an entry waits to run alone, and nothing else runs any more.
    pub(super) fn can_run_alone(&self) -> bool {
        let state = self.state();
        state.is_alone && state.attempts == 0
    }

    /// Logs that a pause began or ended, once for all workers. `now` is the time of the store.
    pub(super) fn note_pause(&self, since: Option<Since>, now: SystemTime) {
        let mut state = self.state();
        if state.paused_since != since {
            telemetry::paused(since.as_ref(), now);
            state.paused_since = since;
        }
    }

    /// A worker without a handler for failures has claimed. If no other has one, a failure that is due is logged, once.
    pub(super) fn claimed_without_failures(&self, claims: &Claims) {
        let mut state = self.state();
        let failures_wait = claims.failures_wait && state.on_failure == 0;
        state.workers.failures_wait = failures_wait;
        if failures_wait && !state.has_warned_of_failures {
            state.has_warned_of_failures = true;
            telemetry::failures_wait();
        }
    }

    fn end_worker(&self, events: Events, failure: Option<WorkerFailure>) {
        let mut state = self.state();
        state.on_failure -= u32::from(events == Events::All);
        state.workers.running -= 1;
        if failure.is_some() {
            state.workers.failure = failure;
        }
        telemetry::workers(state.workers.running);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a worker to claim.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    registry: &'a Registry,
    _claiming: tokio::sync::MutexGuard<'a, ()>,
}

impl Turn<'_> {
    /// How many attempts are not over, and whether this claim takes retries first. `None` if nothing may be claimed until
    /// they are over.
    pub(super) fn begin(&self) -> Option<(u32, bool)> {
        let mut state = self.registry.state();
        let may_claim = !state.is_alone || state.attempts == 0;
        may_claim.then(|| (state.attempts, state.turns.next()))
    }

    /// A claim returned these entries, whose attempts are in progress from now on.
    pub(super) fn claimed(self, claims: &Claims) -> Vec<AttemptInProgress> {
        let mut state = self.registry.state();
        state.turns.alone_waits = claims.alone_waits;
        state.is_alone =
            claims.alone_waits || claims.claimed.iter().any(|claimed| claimed.runs_alone);
        let attempts = claims.claimed.iter().map(|_| {
            state.attempts += 1;
            AttemptInProgress(self.registry.clone())
        });
        attempts.collect()
    }
}

/// An attempt that is not over. Dropping it ends it.
#[derive(Debug)]
pub(super) struct AttemptInProgress(Registry);

impl Drop for AttemptInProgress {
    fn drop(&mut self) {
        self.0.state().attempts -= 1;
    }
}

/// The thread of a handler. It is dropped when the handler ends.
#[derive(Debug)]
pub(super) struct ThreadSlot {
    registry: Registry,
    pub(super) id: u64,
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        self.registry.state().threads.remove(&self.id);
    }
}

/// A worker that runs. If it is dropped, so was the worker.
#[derive(Debug)]
pub(super) struct RunningWorker {
    registry: Registry,
    store: Arc<dyn Store>,
    events: Events,
    has_ended: bool,
}

impl RunningWorker {
    /// The worker has ended.
    pub(super) fn end(mut self, result: &Result<(), Error>) {
        self.has_ended = true;
        let failure = result.as_ref().err().map(|error| {
            telemetry::worker_failed(error);
            WorkerFailure { at: self.store.now(), error: error.clone() }
        });
        self.registry.end_worker(self.events, failure);
    }
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        telemetry::worker_dropped();
        let error = Error::unavailable("the worker was dropped before a stop was requested");
        let failure = WorkerFailure { at: self.store.now(), error };
        self.registry.end_worker(self.events, Some(failure));
    }
}
