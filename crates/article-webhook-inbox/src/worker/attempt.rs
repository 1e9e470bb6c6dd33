//! One attempt: its handler in a thread of its own, and a task that waits for the handler and stores the outcome.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::Arc,
    thread,
    time::Duration,
};

use tokio::{
    runtime::Handle,
    select,
    sync::{mpsc::UnboundedSender, oneshot, watch},
    time::{Instant, sleep, timeout},
};

use super::{
    failed::Failed,
    job::{Job, JobKind},
    settings::{Backoff, MAX_PAUSE, Settings},
    status::{AttemptInProgress, Registry, ThreadSlot},
};
use crate::{
    EntryKey, Error,
    call::{Claimed, Events, JobState, Lease, Outcome, Settled},
    store::Store,
    telemetry,
};

/// How long a cancelled handler may take to end, before its attempt is given up.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause before an outcome is stored again when the store failed.
const SETTLE_PAUSE: Duration = Duration::from_millis(200);

/// How often an outcome is stored again while the worker stops.
const MAX_SETTLES_WHILE_STOPPING: u32 = 5;

/// The shortest pause of a snooze. It costs no attempt, so without a pause it would go on for ever without a rest.
const MIN_SNOOZE: Duration = Duration::from_secs(1);

/// How many bytes of a cause are kept.
const MAX_CAUSE_BYTES: usize = 1000;

/// A running handler.
type Handling = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send>>;

type Handler = Arc<dyn Fn(Job) -> Handling + Send + Sync>;

/// The application's handlers.
pub(super) struct Handlers {
    article: Handler,
    pub(super) failure: Option<Handler>,
    pub(super) undecodable: Option<Handler>,
}

/// A handler of the application, whatever its type.
pub(super) fn boxed<H, F>(handler: H) -> Handler
where
    H: Fn(Job) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), Failed>> + Send + 'static,
{
    Arc::new(move |job| Box::pin(handler(job)))
}

/// What every attempt of a worker needs.
pub(super) struct Attempts {
    pub(super) handlers: Handlers,
    pub(super) store: Arc<dyn Store>,
    pub(super) settings: Settings,
    pub(super) registry: Registry,
}

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

/// What an attempt reports to its worker.
pub(super) enum Report {
    /// The handler has ended, was given up, or did not begin. Its outcome is stored next.
    Handled {
        /// Whether the system gave it a thread.
        had_thread: bool,
    },
    /// The outcome is stored or lost.
    Settled {
        lease: Lease,
        /// The time until the entry is due again, if it becomes due.
        again: Option<Duration>,
        /// The error of a store that cannot be used any more.
        failed: Option<Error>,
    },
}

impl Handlers {
    pub(super) fn new(article: Handler) -> Self {
        Self { article, failure: None, undecodable: None }
    }

    /// What the worker claims.
    pub(super) fn events(&self) -> Events {
        if self.failure.is_some() { Events::All } else { Events::ExceptFailures }
    }

    fn of(&self, kind: JobKind) -> Option<&Handler> {
        match kind {
            JobKind::Article => Some(&self.article),
            JobKind::Failure => self.failure.as_ref(),
            JobKind::Undecodable => self.undecodable.as_ref(),
        }
    }
}

/// Begins an attempt. Its thread runs when this returns, so that an attempt that was counted also begins. If the signal is
/// to stop, the entry is given back instead.
pub(super) fn begin(
    attempts: &Arc<Attempts>,
    claimed: Claimed,
    in_progress: AttemptInProgress,
    signal: watch::Receiver<Signal>,
    reports: UnboundedSender<Report>,
) {
    let (lease, key, attempt) = (claimed.lease, claimed.key.clone(), claimed.attempt);
    let is_stopping = *signal.borrow() == Signal::Stop;
    let thread = (!is_stopping).then(|| HandlerThread::start(Arc::clone(attempts), claimed));
    let attempts = Arc::clone(attempts);
    let attempt = Attempt { lease, key, attempt, attempts, signal };
    tokio::spawn(attempt.supervise(thread, in_progress, reports));
}

/// An attempt under a lease of this worker.
struct Attempt {
    lease: Lease,
    key: EntryKey,
    attempt: u32,
    attempts: Arc<Attempts>,
    signal: watch::Receiver<Signal>,
}

impl Attempt {
    /// Waits for the handler and stores the outcome. This also ends if the worker is dropped: an outcome that is known is
    /// stored then, and a handler that runs is cancelled.
    async fn supervise(
        mut self,
        thread: Option<io::Result<HandlerThread>>,
        in_progress: AttemptInProgress,
        reports: UnboundedSender<Report>,
    ) {
        let (key, began) = (self.key.clone(), Instant::now());
        let had_thread = !matches!(thread, Some(Err(_)));
        let result = match thread {
            Some(Ok(thread)) => self.result(thread).await,
            // It did not begin: the worker stopped before, or there is no thread for it.
            Some(Err(_)) | None => Some(AttemptResult::Stopped),
        };
        match result.as_ref().map(AttemptResult::label) {
            None => telemetry::lost_lease(&key, self.attempt),
            Some(Some(label)) => telemetry::attempted(&key, self.attempt, label, began.elapsed()),
            Some(None) => {}
        }
        // The worker may be gone.
        let _ = reports.send(Report::Handled { had_thread });
        let (mut again, mut failed) = (None, None);
        if let Some(result) = result {
            let Settings { attempts: allowed, backoff, .. } = self.attempts.settings;
            let outcome = result.outcome(self.attempt, allowed, backoff, fastrand::f64());
            again = due_again(&outcome);
            failed = self.settle(outcome).await.err();
        }
        drop(in_progress);
        let _ = reports.send(Report::Settled { lease: self.lease, again, failed });
    }

    /// How the attempt ended; `None` if its lease was lost.
    async fn result(&mut self, mut thread: HandlerThread) -> Option<AttemptResult> {
        let limit = self.attempts.settings.handler_timeout;
        let given_up = select! {
            biased;
            ended = thread.ended() => return Some(ended),
            signal = self.signalled() => (signal == Signal::Stop).then_some(AttemptResult::Stopped),
            () = sleep(limit) => Some(AttemptResult::TimedOut { limit }),
        };
        // It must not run while another worker begins. A result that it returns now still counts.
        thread.cancel();
        match timeout(CANCEL_TIMEOUT, thread.ended()).await {
            Ok(AttemptResult::Stopped) => given_up,
            Ok(ended) => given_up.map(|_| ended),
            Err(_) => {
                telemetry::given_up(&self.key, self.attempt);
                given_up
            }
        }
    }

    /// The signal, once it is another than `Go`. Without a worker, nothing extends the lease.
    async fn signalled(&mut self) -> Signal {
        let signal = self.signal.wait_for(|signal| *signal != Signal::Go).await;
        signal.map_or(Signal::LostLease, |signal| *signal)
    }

    /// Stores the outcome, and tries again while the store fails temporarily.
    ///
    /// # Errors
    ///
    /// The store cannot be used any more.
    async fn settle(&mut self, outcome: Outcome) -> Result<(), Error> {
        let store = Arc::clone(&self.attempts.store);
        let mut tries_left = MAX_SETTLES_WHILE_STOPPING;
        loop {
            let error = match store.settle(self.lease, outcome.clone()).await {
                Ok(Settled::LostLease) => break,
                Ok(Settled::Settled) => {
                    telemetry::settled(&self.key, self.attempt, &outcome);
                    self.report_unreadable(&outcome).await;
                    return Ok(());
                }
                Ok(Settled::AlreadyDone) => {
                    telemetry::settled(&self.key, self.attempt, &Outcome::Done);
                    return Ok(());
                }
                Err(error) => error,
            };
            if error.is_damaged() {
                // What is damaged does not get better by trying. The lease ends, and the next claim validates the entry.
                telemetry::store_failed("settle", &error);
                break;
            }
            if !error.is_transient() {
                return Err(error);
            }
            telemetry::store_failed("settle", &error);
            let is_worker_gone = self.signal.has_changed().is_err();
            let signal = *self.signal.borrow_and_update();
            tries_left -= u32::from(is_worker_gone || signal == Signal::Stop);
            if signal == Signal::LostLease || tries_left == 0 {
                break;
            }
            match is_worker_gone {
                true => sleep(SETTLE_PAUSE).await,
                false => drop(timeout(SETTLE_PAUSE, self.signal.changed()).await),
            }
        }
        telemetry::lost_lease(&self.key, self.attempt);
        Ok(())
    }

    /// Logs that the job ended as unreadable by this outcome: it is polled no more, and a person must look.
    async fn report_unreadable(&self, outcome: &Outcome) {
        if !self.key.is_article() || !matches!(outcome, Outcome::Unhandled { .. }) {
            return;
        }
        if let Ok(Some(job)) = self.attempts.store.job(self.key.job_id.clone()).await
            && job.state == JobState::Unreadable
        {
            telemetry::unreadable(&self.key);
        }
    }
}

/// When the entry is due again after this outcome.
fn due_again(outcome: &Outcome) -> Option<Duration> {
    match outcome {
        Outcome::Retry { after, .. } | Outcome::Snoozed { after } => Some(*after),
        // If a body came since the claim, the entry waits instead.
        Outcome::Released | Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => {
            Some(Duration::ZERO)
        }
        Outcome::Done | Outcome::Dead { .. } => None,
    }
}

/// The thread of a handler. A handler that never yields blocks no other task there, and no other handler. The thread does
/// not belong to the runtime, so it cannot keep the program from ending. It has the runtime's context, for timers, sockets
/// and tasks, but is not inside its `block_on`: that would forbid the handler to block on anything. Dropping this value
/// cancels the handler.
struct HandlerThread {
    ended: oneshot::Receiver<AttemptResult>,
    cancel: Option<oneshot::Sender<()>>,
    registry: Registry,
    id: u64,
}

impl HandlerThread {
    /// Starts the thread. An error: the system has none.
    fn start(attempts: Arc<Attempts>, claimed: Claimed) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let (cancel, cancelled) = oneshot::channel();
        let registry = attempts.registry.clone();
        let slot =
            registry.start_thread(claimed.key.clone(), claimed.attempt, attempts.store.now());
        let (id, runtime) = (slot.id, Handle::current());
        let thread = thread::Builder::new().name("article-handler".to_owned());
        let run = move || run_handler(&attempts, claimed, &runtime, slot, cancelled, end);
        thread.spawn(run)?;
        Ok(Self { ended, cancel: Some(cancel), registry, id })
    }

    /// How the handler ended; `Stopped` if it was cancelled. The future may be dropped and awaited again.
    async fn ended(&mut self) -> AttemptResult {
        let lost =
            |_| AttemptResult::Panicked { message: "its thread ended without a result".to_owned() };
        (&mut self.ended).await.unwrap_or_else(lost)
    }

    /// Cancels the handler at its next `await`.
    fn cancel(&mut self) {
        self.cancel = None;
    }
}

impl Drop for HandlerThread {
    /// A handler that goes on, although it is no longer waited for, is stuck until it ends.
    fn drop(&mut self) {
        self.registry.give_up(self.id);
    }
}

/// Decodes the entry and runs its handler, in the handler's thread.
fn run_handler(
    attempts: &Attempts,
    claimed: Claimed,
    runtime: &Handle,
    slot: ThreadSlot,
    cancelled: oneshot::Receiver<()>,
    end: oneshot::Sender<AttemptResult>,
) {
    // What a handler drops, the value of its panic included, may need the runtime.
    let _context = runtime.enter();
    // After a panic nothing of the handler is used again. Formatting its error may panic as well.
    let result = catch_unwind(AssertUnwindSafe(|| {
        let key = claimed.key.clone();
        let seen = claimed.bodies.len();
        let (job, drift) = match Job::of(claimed, Arc::clone(&attempts.store)) {
            Ok(job) => job,
            Err(result) => return result,
        };
        let Some(handler) = attempts.handlers.of(job.kind()) else {
            let cause =
                job.cause().unwrap_or("the worker has no handler for this event").to_owned();
            return AttemptResult::Undecodable { seen, cause };
        };
        telemetry::drift(&drift, &attempts.registry.0.drift, &key);
        pollster::block_on(async {
            let handling = pin!(async { handler(job).await });
            select! {
                biased;
                returned = handling => AttemptResult::of(returned),
                _ = cancelled => AttemptResult::Stopped,
            }
        })
    }));
    let result =
        result.unwrap_or_else(|panic| AttemptResult::Panicked { message: message(&*panic) });
    // Dropped before the result is sent, so that a handler with a known result is not stuck.
    drop(slot);
    // The attempt may have been given up.
    let _ = end.send(result);
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttemptResult {
    /// The handler returned `Ok`.
    Succeeded,
    /// The handler requests another attempt, after its own pause if it sets one.
    Failed { cause: String, after: Option<Duration> },
    /// The handler puts the entry off.
    Snoozed { after: Duration },
    /// The handler returned that no further attempt will help.
    GaveUp { cause: String },
    /// The handler panicked.
    Panicked { message: String },
    /// The handler did not end in time.
    TimedOut { limit: Duration },
    /// The worker stops, and the handler was cancelled or never started.
    Stopped,
    /// No body of the entry is an article, or its event is unknown.
    Undecodable { seen: usize, cause: String },
    /// A body is damaged, and no other is an article.
    Damaged { seen: usize },
}

impl AttemptResult {
    fn of(returned: Result<(), Failed>) -> Self {
        match returned {
            Ok(()) => Self::Succeeded,
            Err(failed) if failed.is_snooze() => {
                Self::Snoozed { after: failed.after().unwrap_or_default() }
            }
            Err(failed) if failed.is_dead() => Self::GaveUp { cause: failed.to_string() },
            Err(failed) => Self::Failed { cause: failed.to_string(), after: failed.after() },
        }
    }

    /// The outcome to store. After a failure another attempt follows, unless this was the last one allowed.
    /// `random` is from 0.0 to 1.0.
    fn outcome(self, attempt: u32, allowed: u32, backoff: Backoff, random: f64) -> Outcome {
        let (cause, after) = match self {
            Self::Succeeded => return Outcome::Done,
            Self::Stopped => return Outcome::Released,
            Self::Snoozed { after } => {
                return Outcome::Snoozed { after: after.clamp(MIN_SNOOZE, MAX_PAUSE) };
            }
            Self::GaveUp { cause } => return Outcome::Dead { cause: shortened(cause) },
            Self::Undecodable { seen, cause } => return Outcome::Unhandled { seen, cause },
            Self::Damaged { seen } => {
                let cause = "the stored body is not the one that was received".to_owned();
                return Outcome::Corrupt { seen, cause };
            }
            Self::Failed { cause, after } => (cause, after),
            Self::Panicked { message } => (format!("the handler panicked: {message}"), None),
            Self::TimedOut { limit } => (format!("the handler did not end within {limit:?}"), None),
        };
        let cause = shortened(cause);
        if attempt >= allowed {
            return Outcome::Dead { cause };
        }
        let after = after.unwrap_or_else(|| backoff.pause(attempt, random)).min(MAX_PAUSE);
        Outcome::Retry { after, cause }
    }

    /// How the handler ended, as a label of a metric; `None` if it did not end by itself or was never started.
    fn label(&self) -> Option<&'static str> {
        match self {
            Self::Succeeded => Some("succeeded"),
            Self::Failed { .. } => Some("failed"),
            Self::Snoozed { .. } => Some("snoozed"),
            Self::GaveUp { .. } => Some("gave_up"),
            Self::Panicked { .. } => Some("panicked"),
            Self::TimedOut { .. } => Some("timed_out"),
            Self::Stopped | Self::Undecodable { .. } | Self::Damaged { .. } => None,
        }
    }
}

/// The cause, cut between two characters.
fn shortened(mut cause: String) -> String {
    if let Some(end) =
        (0..=MAX_CAUSE_BYTES.min(cause.len())).rfind(|at| cause.is_char_boundary(*at))
    {
        cause.truncate(end);
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(result: AttemptResult, attempt: u32) -> Outcome {
        result.outcome(attempt, 3, Backoff::default(), 0.0)
    }

    fn failed(after: Option<u64>) -> AttemptResult {
        AttemptResult::Failed { cause: "no".to_owned(), after: after.map(Duration::from_secs) }
    }

    #[test]
    fn a_failure_waits_for_its_pause_and_is_dead_after_the_last_attempt() {
        let retry = |seconds| Outcome::Retry {
            after: Duration::from_secs(seconds),
            cause: "no".to_owned(),
        };
        assert_eq!(outcome(failed(None), 1), retry(10));
        assert_eq!(outcome(failed(None), 2), retry(30));
        assert_eq!(outcome(failed(None), 3), Outcome::Dead { cause: "no".to_owned() });
        assert_eq!(outcome(failed(Some(7)), 2), retry(7));
        assert_eq!(outcome(failed(Some(7)), 3), Outcome::Dead { cause: "no".to_owned() });
    }

    #[test]
    fn a_handler_can_put_an_entry_off_for_a_day_at_most() {
        let Outcome::Retry { after, .. } = outcome(failed(Some(1 << 40)), 1) else {
            panic!("a first failure is retried");
        };
        assert_eq!(after, MAX_PAUSE);
        let endless = AttemptResult::Snoozed { after: Duration::MAX };
        assert_eq!(outcome(endless, 1), Outcome::Snoozed { after: MAX_PAUSE });
    }

    #[test]
    fn a_result_that_costs_no_attempt_is_never_dead() {
        assert_eq!(outcome(AttemptResult::Stopped, 3), Outcome::Released);
        let after = Duration::from_secs(7);
        assert_eq!(outcome(AttemptResult::Snoozed { after }, 3), Outcome::Snoozed { after });
        assert_eq!(outcome(AttemptResult::Succeeded, 3), Outcome::Done);
        let cause = || "status: expected a string, found nothing".to_owned();
        let undecodable = AttemptResult::Undecodable { seen: 2, cause: cause() };
        assert_eq!(outcome(undecodable, 3), Outcome::Unhandled { seen: 2, cause: cause() });
        assert!(matches!(
            outcome(AttemptResult::Damaged { seen: 1 }, 3),
            Outcome::Corrupt { seen: 1, .. }
        ));
    }

    #[test]
    fn a_cause_is_cut_between_two_characters() {
        let cause = "é".repeat(700);
        let Outcome::Dead { cause } = outcome(AttemptResult::GaveUp { cause }, 1) else {
            panic!("given up is dead");
        };
        assert_eq!(cause, "é".repeat(500));
    }
}
