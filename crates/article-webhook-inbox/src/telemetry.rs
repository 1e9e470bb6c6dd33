//! Metrics (feature `metrics`) and log events (feature `tracing`). Without the features the functions are empty.
//!
//! No name, label or field contains a body, a token, the label of a target, or an intent. The error of a handler appears
//! in log events alone, unless `article_webhook::hide_causes` was called. A job id appears in log events alone, as a text:
//! the subscriber escapes it, as it does in the log of the receiver.

#[cfg(feature = "metrics")]
pub mod metric;
#[cfg(feature = "tracing")]
mod rate_limit;

mod count;
mod log;
#[cfg(any(feature = "metrics", feature = "tracing"))]
mod outcome_name;

use std::time::Duration;

use article_webhook::{Delivery, Drift, Refused, adapter::SeenDrift};

use crate::{
    Digest, EntryKey, Error,
    call::{Claims, LedgerPruned, Outcome, Pruned, Recorded},
};

/// A delivery was answered after this time.
pub(crate) fn recorded(
    delivery: &Delivery,
    digest: Digest,
    recorded: &Result<Recorded, Error>,
    took: Duration,
) {
    count::recorded(recorded, took);
    match recorded {
        Ok(recorded) => log::recorded(delivery, digest, *recorded),
        Err(error) => store_failed("record", error),
    }
}

/// An authentic delivery was refused. The adapter has logged that.
pub(crate) fn refused(refused: &Refused) {
    count::refused(refused);
}

/// A worker claimed entries.
pub(crate) fn claimed(claims: &Claims) {
    count::claimed(claims);
    log::claimed(claims);
}

/// An article differs from the service's document.
pub(crate) fn drift(drift: &[Drift], seen: &SeenDrift, key: &EntryKey) {
    seen.see(drift).iter().for_each(|difference| log::drift(key, difference));
}

/// A handler ended after this time. Its outcome is not stored yet.
pub(crate) fn attempted(key: &EntryKey, attempt: u32, ending: &'static str, took: Duration) {
    count::attempted(ending, took);
    log::attempted(key, attempt, ending, took);
}

/// The outcome of an attempt is stored.
pub(crate) fn settled(key: &EntryKey, attempt: u32, outcome: &Outcome) {
    count::settled(outcome);
    log::settled(key, attempt, outcome);
}

/// The job ended as unreadable.
pub(crate) fn unreadable(key: &EntryKey) {
    count::unreadable();
    log::unreadable(key);
}

/// The result of an attempt is dropped.
pub(crate) fn lost_lease(key: &EntryKey, attempt: u32) {
    count::lost_lease();
    log::lost_lease(key, attempt);
}

/// Retention removed a batch.
pub(crate) fn pruned(pruned: &Pruned, ledger: &LedgerPruned) {
    count::pruned(pruned, ledger);
    log::pruned(pruned, ledger);
}

/// How long the oldest due entry has been due.
pub(crate) fn overdue(age: Duration) {
    count::overdue(age);
}

/// A call of the store failed. Nothing else reports the error.
pub(crate) fn store_failed(call: &'static str, error: &Error) {
    count::store_failed(call);
    log::store_failed(call, error);
}

/// The store cannot commit now, for a reason that is new.
#[cfg(feature = "sqlite")]
pub(crate) fn blocked(error: &Error) {
    log::store_failed("begin", error);
}

/// A group of calls failed, because the store cannot commit now.
#[cfg(feature = "sqlite")]
pub(crate) fn failed_while_blocked() {
    count::store_failed("begin");
}

/// Damage was found in this part of the store. The finding names no body and no target.
pub(crate) fn damage_found(part: &'static str, finding: &str) {
    count::damage_found(part);
    log::damage_found(part, finding);
}

/// This many workers of an inbox run.
pub(crate) fn workers(running: u32) {
    count::workers(running);
}

/// Damage was found after so much that it is no longer told one by one.
#[cfg(feature = "sqlite")]
pub(crate) fn more_damage_found(part: &'static str) {
    count::damage_found(part);
    log::more_damage_found(part);
}

/// A worker ends with an error.
pub(crate) fn worker_failed(error: &Error) {
    count::worker_failed();
    log::worker_failed(error);
}

/// The program was told to stop.
#[cfg(feature = "signal")]
pub(crate) fn stopping() {
    log::stopping();
}

/// A worker was dropped before it was told to stop.
pub(crate) fn worker_dropped() {
    count::worker_failed();
    log::worker_dropped();
}

/// The failure of a job is due, and no worker has a handler for it.
pub(crate) fn failures_wait() {
    log::failures_wait();
}

/// An entry has been due for this long, and no process claims it.
pub(crate) fn no_worker(age: Duration) {
    log::no_worker(age);
}

/// An attempt is given up, and its handler goes on.
pub(crate) fn given_up(key: &EntryKey, attempt: u32) {
    log::given_up(key, attempt);
}

/// This many handlers go on, although their attempts were given up.
pub(crate) fn stuck_handlers(handlers: usize) {
    count::stuck_handlers(handlers);
}

/// Too many of them go on, so nothing is claimed.
pub(crate) fn stuck(jobs: &[&EntryKey]) {
    log::stuck(jobs);
}

/// The system could not start a thread for an attempt.
pub(crate) fn no_thread() {
    count::no_thread();
    log::no_thread();
}

/// The write-ahead log has this size.
#[cfg(feature = "sqlite")]
pub(crate) fn wal_bytes(bytes: u64) {
    count::wal_bytes(bytes);
}

/// The write-ahead log is too large, and could not be emptied.
#[cfg(feature = "sqlite")]
pub(crate) fn log_grows(bytes: u64) {
    log::log_grows(bytes);
}

/// The store can commit again.
#[cfg(feature = "sqlite")]
pub(crate) fn unblocked() {
    log::unblocked();
}

/// The clock is this far ahead of what the last process stored.
#[cfg(feature = "sqlite")]
pub(crate) fn clock_is_ahead(by: Duration) {
    log::clock_is_ahead(by);
}

/// The clock was set back by this much while the store was open.
#[cfg(feature = "sqlite")]
pub(crate) fn clock_was_set_back(by: Duration) {
    log::clock_was_set_back(by);
}

/// This many calls became durable with one sync of the disk, in this time.
#[cfg(feature = "sqlite")]
pub(crate) fn committed(calls: usize, took: Duration) {
    count::committed(calls, took);
    log::committed(calls, took);
}
