use std::{
    future::ready,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

use tokio::{
    runtime::{EnterGuard, Handle},
    sync::watch,
    time::{sleep, timeout},
};

use super::signal::Signal;
use crate::{
    EntryKey, Error,
    call::{Claimed, JobState, Lease, Outcome, Settled},
    store::Ledger,
    telemetry,
};

/// The pause before an outcome is stored again when the store failed.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// The maximum number of tries while the worker stops, or after it was dropped.
const TRIES: u32 = 5;

/// Enters the runtime if this thread is in none: a call of the store may need its timers. A thread that drops the tasks of
/// a runtime is in it, and may enter none.
pub(crate) fn enter(runtime: &Handle) -> Option<EnterGuard<'_>> {
    Handle::try_current().is_err().then(|| runtime.enter())
}

/// A call of the store that owns what it needs.
type SettleCall = Pin<Box<dyn Future<Output = Result<Settled, Error>> + Send>>;

/// An entry under a lease of this worker.
#[derive(Debug, Clone)]
pub(crate) struct LeasedEntry {
    pub(crate) lease: Lease,
    pub(crate) key: EntryKey,
    pub(crate) attempt: u32,
}

impl LeasedEntry {
    pub(super) fn of(claimed: &Claimed) -> Self {
        Self { lease: claimed.lease, key: claimed.key.clone(), attempt: claimed.attempt }
    }

    /// Stores the outcome of the attempt, and tries again while the store fails temporarily.
    ///
    /// The first call of the store begins at once, if it [may](Self::may_call), before the future is polled: while a runtime
    /// is dropped it polls nothing any more, and a call that has begun may complete all the same.
    ///
    /// # Errors
    ///
    /// The store cannot be used any more.
    pub(super) fn settle(
        self,
        store: &Arc<dyn Ledger>,
        outcome: Outcome,
        signal: watch::Receiver<Signal>,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let store = Arc::clone(store);
        let mut begun = self.call(&store, &outcome);
        if Self::may_call()
            && let Poll::Ready(settled) =
                begun.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            begun = Box::pin(ready(settled));
        }
        async move { self.settle_by(begun, &store, outcome, signal).await }
    }

    /// Whether the store is called at once: one that panics must not do so twice.
    pub(super) fn may_call() -> bool {
        !thread::panicking()
    }

    fn call(&self, store: &Arc<dyn Ledger>, outcome: &Outcome) -> SettleCall {
        let (store, lease, outcome) = (Arc::clone(store), self.lease, outcome.clone());
        Box::pin(async move { store.settle(lease, outcome).await })
    }

    async fn settle_by(
        &self,
        mut call: SettleCall,
        store: &Arc<dyn Ledger>,
        outcome: Outcome,
        mut signal: watch::Receiver<Signal>,
    ) -> Result<(), Error> {
        let Self { key, attempt, .. } = self;
        let mut tries = 0;
        loop {
            match call.await {
                Ok(Settled::LostLease) => telemetry::lost_lease(key, *attempt),
                Ok(Settled::Settled) => {
                    telemetry::settled(key, *attempt, &outcome);
                    self.tell_of_unreadable(store, &outcome).await;
                }
                Ok(Settled::AlreadyDone) => telemetry::settled(key, *attempt, &Outcome::Done),
                Err(error) if error.is_transient() => {
                    telemetry::store_failed("settle", &error);
                    let is_dropped = signal.has_changed().is_err();
                    let now = *signal.borrow_and_update();
                    tries += u32::from(is_dropped || now == Signal::Stop);
                    if now == Signal::LostLease || tries >= TRIES {
                        telemetry::lost_lease(key, *attempt);
                        return Ok(());
                    }
                    if is_dropped {
                        sleep(BETWEEN_TRIES).await;
                    } else {
                        let _ = timeout(BETWEEN_TRIES, signal.changed()).await;
                    }
                    call = self.call(store, &outcome);
                    continue;
                }
                // What is damaged does not get better by trying. The lease ends, and the next claim judges the entry.
                Err(error) if error.is_damage() => {
                    telemetry::store_failed("settle", &error);
                    telemetry::lost_lease(key, *attempt);
                }
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// Tells that the job ended as unreadable by this outcome: nothing is asked for any more, and a person must look.
    async fn tell_of_unreadable(&self, store: &Arc<dyn Ledger>, outcome: &Outcome) {
        if !self.key.is_article() || !matches!(outcome, Outcome::Unhandled { .. }) {
            return;
        }
        if let Ok(Some(job)) = store.job(self.key.job_id.clone()).await
            && job.state == JobState::Unreadable
        {
            telemetry::unreadable(&self.key);
        }
    }
}
