//! One attempt, from the claim of its entry to its stored outcome.

mod attempt_result;
mod signal;

mod decode;

mod handlers;

mod handler_thread;
mod handler_threads;
mod leased_entry;

mod claim_guard;

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, timeout},
};

pub(super) use self::{
    claim_guard::ClaimGuard, handler_threads::HandlerThreads, handlers::Handlers,
    leased_entry::enter, signal::Signal,
};

use self::{
    attempt_result::AttemptResult, handler_thread::HandlerThread, leased_entry::LeasedEntry,
    signal::changed,
};
use super::{in_progress::AttemptInProgress, registry::Registry, settings::Settings};
use crate::{
    Error,
    call::{Claimed, Lease, Outcome},
    store::Ledger,
    telemetry,
};

/// How long a cancelled handler may take to end, before it is abandoned.
const TO_END: Duration = Duration::from_secs(1);

/// What every attempt needs.
pub(super) struct Attempt {
    pub(super) handlers: Handlers,
    pub(super) store: Arc<dyn Ledger>,
    pub(super) settings: Settings,
    pub(super) registry: Registry,
    pub(super) threads: HandlerThreads,
}

/// An attempt whose handler has ended or was never started. Its outcome is not stored yet.
pub(super) struct FinishedAttempt {
    pub(super) entry: LeasedEntry,
    /// The handler was never started: dropping this gives the entry back.
    guard: Option<ClaimGuard>,
    /// `None` if the lease was lost.
    result: Option<AttemptResult>,
    signal: watch::Receiver<Signal>,
    /// Whether the system could start a thread for it.
    pub(super) had_thread: bool,
    in_progress: AttemptInProgress,
}

/// An attempt whose outcome is stored or lost.
pub(super) struct SettledAttempt {
    pub(super) lease: Lease,
    /// The time until its entry is due again, if it becomes due.
    pub(super) again: Option<Duration>,
    /// The error of a store that cannot be used any more.
    pub(super) failed: Option<Error>,
    pub(super) in_progress: AttemptInProgress,
}

impl Attempt {
    /// Runs the handler, from the claim to its end.
    pub(super) async fn run(
        self: Arc<Self>,
        (guard, in_progress): (ClaimGuard, AttemptInProgress),
        claimed: Claimed,
        mut signal: watch::Receiver<Signal>,
    ) -> FinishedAttempt {
        let entry = LeasedEntry::of(&claimed);
        let started = Instant::now();
        let mut had_thread = true;
        let (result, guard) = match self.handlers.bind(claimed, &self.store, &self.registry.drift) {
            Err(result) => (Some(result), Some(guard)),
            // The worker stopped before the attempt began.
            Ok(_) if *signal.borrow() == Signal::Stop => {
                (Some(AttemptResult::Stopped), Some(guard))
            }
            Ok(handler) => {
                let (key, now) = (entry.key.clone(), self.store.now());
                let slot = self.registry.start_thread(key, entry.attempt, now);
                match HandlerThread::start(handler, slot, &self.threads) {
                    Ok(thread) => {
                        // Nothing is awaited before this: an attempt counts exactly if its handler has a thread.
                        guard.keep();
                        (self.wait(thread, &entry, &mut signal).await, None)
                    }
                    Err(_no_thread) => {
                        had_thread = false;
                        (Some(AttemptResult::Stopped), Some(guard))
                    }
                }
            }
        };
        match &result {
            None => telemetry::lost_lease(&entry.key, entry.attempt),
            Some(result) => {
                if let Some(label) = result.label() {
                    telemetry::attempted(&entry.key, entry.attempt, label, started.elapsed());
                }
            }
        }
        FinishedAttempt { entry, guard, result, signal, had_thread, in_progress }
    }

    /// Stores the outcome. The call of the store begins at once, before the future is polled.
    pub(super) fn settle(
        &self,
        finished: FinishedAttempt,
    ) -> impl Future<Output = SettledAttempt> + Send + use<> {
        let FinishedAttempt { entry, guard, result, signal, in_progress, .. } = finished;
        let lease = entry.lease;
        let (mut again, mut settling) = (None, None);
        if let Some(result) = result {
            let Settings { attempts, backoff, .. } = &self.settings;
            let outcome = result.outcome(entry.attempt, *attempts, backoff, fastrand::f64());
            again = match outcome {
                Outcome::Retry { after, .. } | Outcome::Snoozed { after } => Some(after),
                // If a body came since the claim, the entry waits instead.
                Outcome::Released | Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => {
                    Some(Duration::ZERO)
                }
                Outcome::Done | Outcome::Dead { .. } => None,
            };
            settling = Some(entry.settle(&self.store, outcome, signal));
        }
        let guard = match guard {
            Some(guard) if LeasedEntry::may_call() => {
                guard.keep();
                None
            }
            guard => guard,
        };
        async move {
            let failed = match settling {
                Some(settling) => settling.await.err(),
                None => None,
            };
            if let Some(guard) = guard {
                guard.keep();
            }
            SettledAttempt { lease, again, failed, in_progress }
        }
    }

    /// How the handler ended; `None` if the lease was lost.
    async fn wait(
        &self,
        mut thread: HandlerThread,
        entry: &LeasedEntry,
        signal: &mut watch::Receiver<Signal>,
    ) -> Option<AttemptResult> {
        let limit = self.settings.handler_timeout;
        let given_up = select! {
            biased;
            ended = thread.ended() => return Some(ended),
            signal = changed(signal) => (signal != Signal::LostLease).then_some(AttemptResult::Stopped),
            () = sleep(limit) => Some(AttemptResult::TimedOut { limit }),
        };
        // It must not run while another worker begins. A result that it returns now still counts.
        thread.cancel();
        match timeout(TO_END, thread.ended()).await {
            Ok(AttemptResult::Stopped) => given_up,
            Ok(ended) => given_up.map(|_| ended),
            Err(_) => {
                telemetry::given_up(&entry.key, entry.attempt);
                given_up
            }
        }
    }
}
