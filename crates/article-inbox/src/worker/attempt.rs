use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    Job,
    attempt_result::AttemptResult,
    decode::decode,
    handler_thread::{Handler, HandlerThread},
    settings::Settings,
};
use crate::{
    EntryKey, Error,
    call::{Claimed, Lease, Outcome, Settled},
    store::Store,
    telemetry,
};

/// How long a cancelled handler may take to end, before it is abandoned.
const TO_END: Duration = Duration::from_secs(1);

/// The pause before an outcome is stored again when the store failed.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// The maximum number of tries while the worker stops.
const TRIES: u32 = 5;

/// The signal of the worker to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// It may continue.
    Go,
    /// The worker stops.
    Stop,
    /// Another worker may have the entry.
    LostLease,
}

/// What every attempt needs.
pub(super) struct Attempt {
    pub(super) handler: Handler,
    pub(super) store: Arc<dyn Store>,
    pub(super) settings: Settings,
    /// Counts the threads in which handlers run: one reference here, and one in each thread.
    pub(super) threads: Arc<()>,
}

/// An attempt whose handler has ended or was never started. Its outcome is not stored yet.
pub(super) struct FinishedAttempt {
    lease: Lease,
    key: EntryKey,
    attempt: u32,
    /// `None` if the lease was lost.
    result: Option<AttemptResult>,
    signal: watch::Receiver<Signal>,
    /// Whether the system could start a thread for it.
    pub(super) had_thread: bool,
}

/// An attempt whose outcome is stored or lost.
pub(super) struct SettledAttempt {
    pub(super) lease: Lease,
    /// The time until its entry is due again, if it becomes due.
    pub(super) again: Option<Duration>,
    /// The error of a store that cannot be used any more.
    pub(super) failed: Option<Error>,
}

impl Attempt {
    /// Runs the handler, from the claim to its end.
    pub(super) async fn run(
        self: Arc<Self>,
        claimed: Claimed,
        mut signal: watch::Receiver<Signal>,
    ) -> FinishedAttempt {
        let (lease, key, attempt) = (claimed.lease, claimed.key.clone(), claimed.attempt);
        let mut had_thread = true;
        let started = tokio::time::Instant::now();
        let result = match decode(&claimed) {
            Err(result) => Some(result),
            // The worker stopped before the attempt began.
            Ok(_) if *signal.borrow() == Signal::Stop => Some(AttemptResult::Stopped),
            Ok((body, article)) => {
                let job = Job::new(claimed, body, article, Arc::clone(&self.store));
                let (handler, threads) = (Arc::clone(&self.handler), Arc::clone(&self.threads));
                match HandlerThread::start(handler, job, threads) {
                    Ok(thread) => self.wait(thread, &mut signal).await,
                    Err(_no_thread) => {
                        had_thread = false;
                        Some(AttemptResult::Stopped)
                    }
                }
            }
        };
        match &result {
            None => telemetry::lost_lease(&key, attempt),
            Some(result) => {
                if let Some(label) = result.label() {
                    telemetry::attempted(&key, attempt, label, started.elapsed());
                }
            }
        }
        FinishedAttempt { lease, key, attempt, result, signal, had_thread }
    }

    /// Stores the outcome.
    pub(super) async fn settle(self: Arc<Self>, finished: FinishedAttempt) -> SettledAttempt {
        let FinishedAttempt { lease, key, attempt, result, mut signal, .. } = finished;
        let Some(result) = result else {
            return SettledAttempt { lease, again: None, failed: None };
        };
        let Settings { attempts, backoff, .. } = &self.settings;
        let outcome = result.outcome(attempt, *attempts, backoff, fastrand::f64());
        let again = match outcome {
            Outcome::Retry { after, .. } | Outcome::Snoozed { after } => Some(after),
            // If a body came since the claim, the entry waits instead.
            Outcome::Released | Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => {
                Some(Duration::ZERO)
            }
            Outcome::Done | Outcome::Dead { .. } => None,
        };
        let failed = self.store_outcome(lease, &key, attempt, outcome, &mut signal).await.err();
        SettledAttempt { lease, again, failed }
    }

    /// How the handler ended; `None` if the lease was lost.
    async fn wait(
        &self,
        mut thread: HandlerThread,
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
            Ok(AttemptResult::Stopped) | Err(_) => given_up,
            Ok(ended) => given_up.map(|_| ended),
        }
    }

    /// Stores the outcome, and tries again while the store fails.
    async fn store_outcome(
        &self,
        lease: Lease,
        key: &EntryKey,
        attempt: u32,
        outcome: Outcome,
        signal: &mut watch::Receiver<Signal>,
    ) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            match self.store.settle(lease, outcome.clone()).await {
                Ok(Settled::LostLease) => telemetry::lost_lease(key, attempt),
                Ok(Settled::Settled) => telemetry::settled(key, attempt, &outcome),
                Ok(Settled::AlreadyDone) => telemetry::settled(key, attempt, &Outcome::Done),
                Err(error) if error.is_transient() => {
                    telemetry::store_failed("settle", &error);
                    let now = *signal.borrow_and_update();
                    tries += u32::from(now == Signal::Stop);
                    if now == Signal::LostLease || tries >= TRIES {
                        telemetry::lost_lease(key, attempt);
                        return Ok(());
                    }
                    let _ = timeout(BETWEEN_TRIES, signal.changed()).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

/// The signal, once it is not `Go` any more.
async fn changed(signal: &mut watch::Receiver<Signal>) -> Signal {
    // Without a worker, nothing extends the lease.
    signal
        .wait_for(|signal| *signal != Signal::Go)
        .await
        .map_or(Signal::LostLease, |signal| *signal)
}
