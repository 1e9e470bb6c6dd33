use std::{
    future::pending,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use article_webhook_inbox::{
    Error,
    store::{Pending, Polls},
};
use tokio::{
    select,
    sync::watch,
    task::{JoinError, JoinSet},
    time::{Instant, sleep_until},
};

use super::poll::{Signal, claim_of, poll};
use crate::{
    call_start::CallStart,
    shared::{CLAIM_INTERVAL, Shared, may_pass},
    telemetry,
};

/// The shortest pause after a claim that brought nothing: the times of the store are whole milliseconds.
const MIN_PAUSE_AFTER_EMPTY_CLAIM: Duration = Duration::from_millis(10);

/// How long the outcomes of cancelled calls may take to be stored. What is left then is due when its lease ends.
const STORE_TIMEOUT_AFTER_CANCEL: Duration = Duration::from_secs(5);

/// The first and the longest pause after a claim that failed.
const PAUSES_AFTER_FAILURE: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// Claims polls, and carries out as many at the same time as the settings say.
///
/// Dropped, it cancels the calls that are under way. Their jobs are due again when their leases end.
pub(crate) struct EventLoop {
    shared: Arc<Shared>,
    polls: JoinSet<Option<Duration>>,
    signal: watch::Sender<Signal>,
    /// When the next claim may bring something. `None` while a claim is under way and nothing has
    /// happened since it began.
    due: Option<Instant>,
    failures: u32,
    stopping: Option<Stopping>,
    /// Whether it stops once nothing is due.
    ends: Ends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    AtShutdown,
    WhenIdle,
}

/// The loop has stopped claiming.
struct Stopping {
    /// The end of the time for what is under way: of the grace period at first, then of the time in which the store may
    /// keep the outcomes of cancelled calls.
    next: Instant,
    /// What ended the loop, if it was not a shutdown.
    error: Option<Error>,
}

impl EventLoop {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let running = shared.running.fetch_add(1, Ordering::Relaxed);
        telemetry::running(running + 1);
        Self {
            shared,
            polls: JoinSet::new(),
            signal: watch::Sender::new(Signal::Go),
            due: Some(Instant::now()),
            failures: 0,
            stopping: None,
            ends: Ends::AtShutdown,
        }
    }

    /// Stops once nothing is due and no call is under way.
    pub(crate) fn until_idle(mut self) -> Self {
        self.ends = Ends::WhenIdle;
        self
    }

    /// Polls until `shutdown`, and then until the calls and the orders that are under way have ended.
    pub(crate) async fn run(mut self, shutdown: impl Future) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let mut shutdown = pin!(shutdown);
        let mut claiming: Option<Pending<'_, (CallStart, Polls)>> = None;
        let mut orders = shared.orders.subscribe();
        loop {
            // Checked before each claim.
            if self.stopping.is_none() && is_ready(shutdown.as_mut()).await {
                self.stop(None);
            }
            let is_going = self.stopping.is_none();
            if claiming.is_none()
                && self.polls.is_empty()
                && !(self.waits_for_orders() && *orders.borrow_and_update() > 0)
                && let Some(Stopping { error, .. }) = &mut self.stopping
            {
                return error.take().map_or(Ok(()), Err);
            }
            let free = self.free();
            let is_due = self.due.is_some_and(|due| due <= Instant::now());
            if is_going && claiming.is_none() && free > 0 && is_due {
                self.due = None;
                let (shared, claim) = (&shared, claim_of(&shared, free));
                claiming = Some(Box::pin(async move {
                    shared.store_pause().await?;
                    let began = shared.began();
                    Ok((began, shared.ledger.claim_polls(claim).await?))
                }));
            }
            let timer = match &self.stopping {
                Some(stopping) => Some(stopping.next),
                None => self.due.filter(|_| claiming.is_none() && free > 0),
            };
            select! {
                biased;
                _ = &mut shutdown, if is_going => self.stop(None),
                claimed = result(&mut claiming) => self.claimed(claimed),
                Some(ended) = self.polls.join_next() => self.ended(ended),
                () = shared.wake.notified(), if is_going => self.due_in(Duration::ZERO),
                Ok(()) = orders.changed(), if !is_going => {}
                () = sleep_until_then(timer) => match &mut self.stopping {
                    None => {}
                    Some(stopping) if *self.signal.borrow() < Signal::Cancel => {
                        self.signal.send_replace(Signal::Cancel);
                        stopping.next += STORE_TIMEOUT_AFTER_CANCEL;
                    }
                    Some(stopping) => {
                        self.polls.abort_all();
                        claiming = None;
                        stopping.next += STORE_TIMEOUT_AFTER_CANCEL;
                    }
                },
            }
        }
    }

    /// How many more polls may be carried out.
    fn free(&self) -> u32 {
        let running = u32::try_from(self.polls.len()).unwrap_or(u32::MAX);
        self.shared.settings.concurrency.saturating_sub(running)
    }

    /// Whether orders that are under way may still end. A loop that stops when it is idle does not wait for them.
    fn waits_for_orders(&self) -> bool {
        self.ends == Ends::AtShutdown && *self.signal.borrow() < Signal::Cancel
    }

    /// Claims nothing more, and releases what was claimed and not begun.
    fn stop(&mut self, error: Option<Error>) {
        let next = Instant::now() + self.shared.settings.grace;
        self.signal.send_replace(Signal::Release);
        self.stopping = Some(Stopping { next, error });
    }

    /// A claim may bring something after this pause, or earlier.
    fn due_in(&mut self, pause: Duration) {
        let due = Instant::now() + pause;
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    fn claimed(&mut self, claimed: Result<(CallStart, Polls), Error>) {
        let (began, Polls { polls, next }) = match claimed {
            Ok(polls) => polls,
            Err(error) => {
                telemetry::store_failed("claim_polls", &error);
                if may_pass(&error) {
                    let [first, longest] = PAUSES_AFTER_FAILURE;
                    let pause = first.saturating_mul(1 << self.failures.min(8));
                    self.failures = self.failures.saturating_add(1);
                    self.due = Some(Instant::now() + pause.min(longest));
                } else if self.stopping.is_none() {
                    self.stop(Some(error));
                }
                return;
            }
        };
        self.failures = 0;
        let time = self.shared.ledger.now();
        let pause =
            next.map_or(CLAIM_INTERVAL, |next| next.duration_since(time).unwrap_or_default());
        let is_idle = polls.is_empty() && self.polls.is_empty() && !pause.is_zero();
        // What happened during the claim may not have been known to it.
        if is_idle && self.due.is_none() && self.ends == Ends::WhenIdle && self.stopping.is_none() {
            self.stop(None);
        }
        let shortest = if polls.is_empty() { MIN_PAUSE_AFTER_EMPTY_CLAIM } else { Duration::ZERO };
        self.due_in(pause.clamp(shortest, CLAIM_INTERVAL));
        for claimed in polls {
            let (shared, signal) = (Arc::clone(&self.shared), self.signal.subscribe());
            self.polls.spawn(poll(shared, claimed, began, signal));
        }
    }

    fn ended(&mut self, ended: Result<Option<Duration>, JoinError>) {
        match ended {
            // The last claim did not know of this pause, which may be shorter than the loop's.
            Ok(Some(pause)) => {
                self.due_in(pause.clamp(MIN_PAUSE_AFTER_EMPTY_CLAIM, CLAIM_INTERVAL));
            }
            Err(error) if error.is_panic() => telemetry::poll_panicked(),
            Ok(None) | Err(_) => {}
        }
        // Whether anything is due now is known after another claim.
        if self.ends == Ends::WhenIdle {
            self.due_in(Duration::ZERO);
        }
    }
}

/// The result of a call that has begun. Never ready without a call.
async fn result<T>(call: &mut Option<Pending<'_, T>>) -> Result<T, Error> {
    match call {
        Some(begun) => {
            let result = begun.await;
            *call = None;
            result
        }
        None => pending().await,
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

/// Waits until this time, or for ever without one.
async fn sleep_until_then(timer: Option<Instant>) {
    match timer {
        Some(then) => sleep_until(then).await,
        None => pending().await,
    }
}

impl Drop for EventLoop {
    fn drop(&mut self) {
        let running = self.shared.running.fetch_sub(1, Ordering::Relaxed);
        telemetry::running(running - 1);
    }
}
