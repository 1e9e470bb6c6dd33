use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::watch,
    time::{sleep, timeout},
};

use super::{Handler, Job, Limits, reading::read, thread::Running};
use crate::{
    Error, Key, Store,
    rules::ending::Ending,
    store::{Claimed, Lease, Outcome, Settled},
    telemetry,
};

/// How long a handler that was asked to end may take to do so, before it is left to itself.
const TO_END: Duration = Duration::from_secs(1);

/// The pause before an outcome is stored again when the store failed.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// How often it is tried when the worker is to stop.
const TRIES: u32 = 5;

/// Whether an attempt may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Go,
    /// The worker stops.
    Stop,
    /// Somebody else may be at the entry.
    LostLease,
}

/// Everything that an attempt needs.
pub(super) struct Attempt {
    pub(super) handler: Handler,
    pub(super) store: Arc<dyn Store>,
    pub(super) limits: Limits,
    /// Held by each thread in which a handler runs, and by nothing else but this.
    pub(super) threads: Arc<()>,
}

/// An attempt whose handler has ended, or was never started.
pub(super) struct Worked {
    lease: Lease,
    key: Key,
    attempt: u32,
    /// `None` when the lease was lost meanwhile.
    ending: Option<Ending>,
    signal: watch::Receiver<Signal>,
    /// Whether the system gave a thread for it.
    pub(super) had_thread: bool,
}

/// What is left of an attempt.
pub(super) struct Over {
    pub(super) lease: Lease,
    /// How long it is until its entry is due again, if it is.
    pub(super) again: Option<Duration>,
    /// A store that cannot be used any more.
    pub(super) failed: Option<Error>,
}

impl Attempt {
    /// From the claim to the handler's end.
    pub(super) async fn work(
        self: Arc<Self>,
        claimed: Claimed,
        mut signal: watch::Receiver<Signal>,
    ) -> Worked {
        let (lease, key, attempt) = (claimed.lease, claimed.key.clone(), claimed.attempt);
        let mut had_thread = true;
        let started = tokio::time::Instant::now();
        let ending = match read(&claimed) {
            Err(ending) => Some(ending),
            // It is not begun any more.
            Ok(_) if *signal.borrow() == Signal::Stop => Some(Ending::Stopped),
            Ok((body, article)) => {
                let job = Job::new(claimed, body, article, Arc::clone(&self.store));
                match Running::start(Arc::clone(&self.handler), job, Arc::clone(&self.threads)) {
                    Ok(running) => self.wait(running, &mut signal).await,
                    Err(_no_thread) => {
                        had_thread = false;
                        Some(Ending::Stopped)
                    }
                }
            }
        };
        match &ending {
            Some(ending) => telemetry::attempted(&key, attempt, ending, started.elapsed()),
            None => telemetry::lost_lease(&key, attempt),
        }
        Worked { lease, key, attempt, ending, signal, had_thread }
    }

    /// From the handler's end to the stored outcome.
    pub(super) async fn settle(self: Arc<Self>, worked: Worked) -> Over {
        let Worked { lease, key, attempt, ending, mut signal, .. } = worked;
        let Some(ending) = ending else {
            return Over { lease, again: None, failed: None };
        };
        let Limits { attempts, backoff, .. } = &self.limits;
        let outcome = ending.outcome(attempt, *attempts, backoff, fastrand::f64());
        let again = match outcome {
            Outcome::Retry { after, .. } => Some(after),
            // A body that came meanwhile lets the entry wait instead.
            Outcome::Released | Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => {
                Some(Duration::ZERO)
            }
            Outcome::Done | Outcome::Dead { .. } => None,
        };
        let failed = self.keep(lease, &key, attempt, outcome, &mut signal).await.err();
        Over { lease, again, failed }
    }

    /// How the handler ended; `None` when the lease was lost meanwhile.
    async fn wait(
        &self,
        mut running: Running,
        signal: &mut watch::Receiver<Signal>,
    ) -> Option<Ending> {
        let given_up = select! {
            biased;
            ended = running.ended() => return Some(ended),
            signal = changed(signal) => (signal != Signal::LostLease).then_some(Ending::Stopped),
            () = sleep(self.limits.handler) => Some(Ending::TimedOut { limit: self.limits.handler }),
        };
        // It must not work on while somebody else begins. What it did return just now still counts.
        running.ask_to_end();
        match timeout(TO_END, running.ended()).await {
            Ok(Ending::Stopped) | Err(_) => given_up,
            Ok(ended) => given_up.map(|_| ended),
        }
    }

    /// Stores the outcome, as often as it takes.
    async fn keep(
        &self,
        lease: Lease,
        key: &Key,
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

/// The signal, once it is another than to go on.
async fn changed(signal: &mut watch::Receiver<Signal>) -> Signal {
    // Without a worker nobody extends the lease.
    signal
        .wait_for(|signal| *signal != Signal::Go)
        .await
        .map_or(Signal::LostLease, |signal| *signal)
}
