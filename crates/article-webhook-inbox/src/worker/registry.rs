use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use article_webhook::adapter::SeenDrift;

use super::{
    in_progress::InProgress,
    status::{StuckHandler, WorkerFailure, Workers},
};
use crate::{
    EntryKey, Error,
    call::{Claims, Events},
    store::Ledger,
    telemetry,
};

/// The workers of an inbox, and the threads of their handlers. It outlives them, so that the health of the inbox shows
/// what became of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry {
    registered: Arc<Mutex<Registered>>,
    /// The attempts of all workers.
    pub(super) in_progress: InProgress,
    /// What articles have that the service's document does not.
    pub(crate) drift: SeenDrift,
}

#[derive(Debug, Default)]
struct Registered {
    workers: Workers,
    /// How many of the workers have a handler for failures.
    on_failure: u32,
    warned_of_failures: bool,
    last_thread: u64,
    threads: BTreeMap<u64, Thread>,
}

#[derive(Debug)]
struct Thread {
    handler: StuckHandler,
    /// Its attempt was given up, and it goes on.
    is_stuck: bool,
}

impl Registry {
    /// A worker begins, which claims these events.
    pub(super) fn start_worker(&self, store: Arc<dyn Ledger>, events: Events) -> RunningWorker {
        let mut registered = self.lock();
        if events == Events::All {
            registered.on_failure += 1;
            registered.workers.failures_wait = false;
        }
        registered.workers.started += 1;
        registered.workers.running += 1;
        telemetry::workers(registered.workers.running);
        drop(registered);
        RunningWorker { registry: self.clone(), store, events, has_ended: false }
    }

    /// A handler begins, with a thread to itself.
    pub(super) fn start_thread(
        &self,
        key: EntryKey,
        attempt: u32,
        since: SystemTime,
    ) -> ThreadSlot {
        let mut registered = self.lock();
        registered.last_thread += 1;
        let id = registered.last_thread;
        let handler = StuckHandler { key, attempt, since };
        registered.threads.insert(id, Thread { handler, is_stuck: false });
        drop(registered);
        ThreadSlot { registry: self.clone(), id }
    }

    pub(crate) fn workers(&self) -> Workers {
        self.lock().workers.clone()
    }

    /// The handlers that go on although their attempts were given up, those that began first first.
    pub(crate) fn stuck(&self) -> Vec<StuckHandler> {
        let registered = self.lock();
        let stuck = registered.threads.values().filter(|thread| thread.is_stuck);
        stuck.map(|thread| thread.handler.clone()).collect()
    }

    /// A worker without a handler for failures has claimed. If no other has one, a failure that is due is told, once.
    pub(super) fn claimed_without_failures(&self, claims: &Claims) {
        let mut registered = self.lock();
        let failures_wait = claims.failures_wait && registered.on_failure == 0;
        registered.workers.failures_wait = failures_wait;
        if failures_wait && !registered.warned_of_failures {
            registered.warned_of_failures = true;
            telemetry::failures_wait();
        }
    }

    fn end_worker(&self, events: Events, failure: Option<WorkerFailure>) {
        let mut registered = self.lock();
        registered.on_failure -= u32::from(events == Events::All);
        registered.workers.running -= 1;
        if failure.is_some() {
            registered.workers.failure = failure;
        }
        telemetry::workers(registered.workers.running);
    }

    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that runs. If it is dropped, so was the worker.
#[derive(Debug)]
pub(super) struct RunningWorker {
    registry: Registry,
    store: Arc<dyn Ledger>,
    events: Events,
    has_ended: bool,
}

impl RunningWorker {
    /// The worker has ended.
    pub(super) fn end(mut self, result: &Result<(), Error>) {
        self.has_ended = true;
        let failure = result.as_ref().err().map(|error| {
            telemetry::worker_failed(error);
            WorkerFailure { at: self.store.now(), error: error.to_string() }
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
        let error = "the worker was dropped before it was told to stop".to_owned();
        let failure = WorkerFailure { at: self.store.now(), error };
        self.registry.end_worker(self.events, Some(failure));
    }
}

/// The thread of a handler. It is dropped when the handler ends.
#[derive(Debug)]
pub(super) struct ThreadSlot {
    registry: Registry,
    id: u64,
}

/// The right to say that the attempt of a thread was given up.
#[derive(Debug)]
pub(super) struct ThreadWatch {
    registry: Registry,
    id: u64,
}

impl ThreadSlot {
    pub(super) fn watch(&self) -> ThreadWatch {
        ThreadWatch { registry: self.registry.clone(), id: self.id }
    }
}

impl ThreadWatch {
    /// The handler is no longer waited for. If it has not ended, it is stuck.
    pub(super) fn give_up(&self) {
        if let Some(thread) = self.registry.lock().threads.get_mut(&self.id) {
            thread.is_stuck = true;
        }
    }
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        self.registry.lock().threads.remove(&self.id);
    }
}
