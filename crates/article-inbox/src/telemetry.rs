//! What the inbox says of itself: metrics (feature `metrics`) and log events (feature `tracing`). Without the
//! features all of this is empty.
//!
//! No name, label or field holds a body, a token, the label of a target, an intent, or what a handler said. A job
//! id stands in the log alone, and escaped: it may hold characters that a terminal obeys.

mod count;
mod log;
#[cfg(feature = "metrics")]
pub mod metric;

use std::time::Duration;

use article_webhook::{Delivery, Refused};

use crate::{
    Error, Key,
    rules::ending::Ending,
    store::{Claims, Outcome, Pruned, Recorded},
};

/// A delivery was answered, after so long.
pub(crate) fn recorded(delivery: &Delivery, recorded: &Result<Recorded, Error>, took: Duration) {
    count::recorded(recorded, took);
    match recorded {
        Ok(recorded) => log::recorded(delivery, *recorded),
        Err(error) => store_failed("record", error),
    }
}

/// An authentic delivery was refused. The core has logged that.
pub(crate) fn refused(refused: &Refused) {
    count::refused(refused);
}

/// A worker asked for work.
pub(crate) fn claimed(claims: &Claims) {
    count::claimed(claims);
    log::claimed(claims);
}

/// An attempt ended so, after so long. Its outcome is not stored yet.
pub(crate) fn attempted(key: &Key, attempt: u32, ending: &Ending, took: Duration) {
    if let Some(ending) = of_the_handler(ending) {
        count::attempted(ending, took);
        log::attempted(key, attempt, ending, took);
    }
}

/// The outcome of an attempt is stored.
pub(crate) fn settled(key: &Key, attempt: u32, outcome: &Outcome) {
    count::settled(outcome);
    log::settled(key, attempt, outcome);
}

/// The result of an attempt is dropped.
pub(crate) fn lost_lease(key: &Key, attempt: u32) {
    count::lost_lease();
    log::lost_lease(key, attempt);
}

/// A batch of what is old was removed.
pub(crate) fn pruned(pruned: &Pruned) {
    count::pruned(pruned);
    log::pruned(pruned);
}

/// For how long the entry that waits longest could have been worked on.
pub(crate) fn overdue(age: Duration) {
    count::overdue(age);
}

/// A call of the store failed, and this is all that becomes of it: whoever needs it comes again.
pub(crate) fn store_failed(call: &'static str, error: &Error) {
    count::store_failed(call);
    log::store_failed(call, error);
}

/// A worker ends because the store cannot be used any more.
pub(crate) fn worker_failed(error: &Error) {
    log::worker_failed(error);
}

/// So many handlers were given up and go on all the same.
pub(crate) fn given_up(handlers: usize) {
    count::given_up(handlers);
}

/// They are so many that nothing is claimed any more.
pub(crate) fn stuck(handlers: usize) {
    log::stuck(handlers);
}

/// The system gave no thread for an attempt.
pub(crate) fn no_thread() {
    count::no_thread();
    log::no_thread();
}

/// So many calls became durable with one sync of the disk, which took so long.
#[cfg(feature = "sqlite")]
pub(crate) fn committed(calls: usize, took: Duration) {
    count::committed(calls, took);
    log::committed(calls, took);
}

/// How the handler ended; `None` when it did not, or was never started.
fn of_the_handler(ending: &Ending) -> Option<&'static str> {
    match ending {
        Ending::Succeeded => Some("succeeded"),
        Ending::Failed { .. } => Some("failed"),
        Ending::GaveUp { .. } => Some("gave_up"),
        Ending::Panicked { .. } => Some("panicked"),
        Ending::TimedOut { .. } => Some("timed_out"),
        Ending::Stopped | Ending::Undecodable { .. } | Ending::Damaged { .. } => None,
    }
}

/// What became of an attempt, in one word: the state of its entry, unless the entry waits again.
#[cfg(any(feature = "metrics", feature = "tracing"))]
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Retry { .. } => "retry",
        Outcome::Dead { .. } => "dead",
        Outcome::Unhandled { .. } => "unhandled",
        Outcome::Corrupt { .. } => "corrupt",
        Outcome::Released => "released",
    }
}
