//! Log events. An event that can occur at any rate while something is broken is logged once per second.

use std::time::Duration;

use article_webhook::Delivery;

use crate::{
    Digest, EntryKey, Error,
    call::{Claims, LedgerPruned, Outcome, Pruned, Recorded},
};

#[cfg(feature = "tracing")]
mod enabled {
    use article_webhook::adapter::logged_cause;
    use tracing::{debug, error, field::display, info, warn};

    use super::*;
    use crate::telemetry::{outcome_name::outcome_name, rate_limit::RateLimit};

    /// The target of all events, so that one filter selects them.
    const TARGET: &str = "article_webhook_inbox";

    /// How many of many jobs a line names.
    const NAMED: usize = 5;

    /// Each of these logs one line per second.
    static FAILURES: RateLimit = RateLimit::per_second();
    static DAMAGE: RateLimit = RateLimit::per_second();
    static NO_THREAD: RateLimit = RateLimit::per_second();
    static NOT_KEPT: RateLimit = RateLimit::per_second();

    /// One line per minute, for as long as it lasts.
    static STUCK: RateLimit = RateLimit::per_minute();
    #[cfg(feature = "sqlite")]
    static LOG_GROWS: RateLimit = RateLimit::per_minute();

    pub(crate) fn recorded(delivery: &Delivery, digest: Digest, recorded: Recorded) {
        let (job_id, event) = (delivery.job_id().as_str(), delivery.event().as_str());
        match recorded {
            Recorded::Stored | Recorded::Arrived { .. } => {
                debug!(target: TARGET, job_id, event, "delivery stored");
            }
            Recorded::Duplicate => {
                debug!(target: TARGET, job_id, event, "delivery was stored before");
            }
            Recorded::Conflict { kept: true } => {
                info!(target: TARGET, job_id, event, %digest, "another body came for an entry that is stored");
            }
            Recorded::Conflict { kept: false } => NOT_KEPT.log(|unlogged| {
                let why = "the entry has four others, and a worker found one that decodes";
                warn!(target: TARGET, job_id, event, %digest, unlogged, "another body was acknowledged and not kept: {why}");
            }),
            Recorded::Crowded => {
                warn!(target: TARGET, job_id, event, "no room for another body until a worker has seen those stored");
            }
        }
    }

    pub(crate) fn claimed(claims: &Claims) {
        for EntryKey { job_id, event } in &claims.buried {
            let (job_id, event) = (job_id.as_str(), event.as_str());
            warn!(target: TARGET, job_id, event, "entry is dead: its last attempt did not end");
        }
        for claimed in claims.claimed.iter().filter(|claimed| claimed.runs_alone) {
            let (job_id, event) = (claimed.key.job_id.as_str(), claimed.key.event.as_str());
            let why = "entry runs alone: its last attempts ended without a result, and may have crashed the process";
            info!(target: TARGET, job_id, event, attempt = claimed.attempt, "{why}");
        }
        if claims.expired > 0 {
            warn!(target: TARGET, leases = claims.expired, "leases had ended: was a worker killed?");
        }
    }

    /// The name of the field comes from an authentic sender, and is escaped.
    pub(crate) fn drift(key: &EntryKey, difference: &str) {
        let job_id = key.job_id.as_str();
        warn!(target: TARGET, job_id, "the service has changed, told once: {difference}");
    }

    pub(crate) fn attempted(key: &EntryKey, attempt: u32, ending: &'static str, took: Duration) {
        let (job_id, event) = (key.job_id.as_str(), key.event.as_str());
        debug!(target: TARGET, job_id, event, attempt, ending, ?took, "handler ended");
    }

    pub(crate) fn settled(key: &EntryKey, attempt: u32, outcome: &Outcome) {
        let (job_id, event) = (key.job_id.as_str(), key.event.as_str());
        match outcome {
            Outcome::Done => debug!(target: TARGET, job_id, event, attempt, "entry is done"),
            Outcome::Retry { after, cause } => {
                let cause = logged_cause(cause).map(display);
                warn!(target: TARGET, job_id, event, attempt, ?after, cause, "attempt failed, and another will follow");
            }
            Outcome::Released => {
                info!(target: TARGET, job_id, event, attempt, "entry is given back: the worker stops");
            }
            Outcome::Snoozed { after } => {
                info!(target: TARGET, job_id, event, attempt, ?after, "entry is put off: the handler asked for it");
            }
            Outcome::Dead { cause }
            | Outcome::Unhandled { cause, .. }
            | Outcome::Corrupt { cause, .. } => {
                let (state, cause) = (outcome_name(outcome), logged_cause(cause).map(display));
                warn!(target: TARGET, job_id, event, attempt, cause, "entry is {state}: its cause is stored with it");
            }
        }
    }

    pub(crate) fn unreadable(key: &EntryKey) {
        let job_id = key.job_id.as_str();
        error!(target: TARGET, job_id, "for 72 hours the API has given only bodies that cannot be decoded: the job is asked for no more, see its entry");
    }

    pub(crate) fn lost_lease(key: &EntryKey, attempt: u32) {
        let (job_id, event) = (key.job_id.as_str(), key.event.as_str());
        warn!(target: TARGET, job_id, event, attempt, "lease lost: the result of the attempt is dropped");
    }

    pub(crate) fn pruned(pruned: &Pruned, ledger: &LedgerPruned) {
        let Pruned { bodies, entries, .. } = *pruned;
        let LedgerPruned { jobs, .. } = *ledger;
        if bodies + entries + jobs > 0 {
            debug!(target: TARGET, bodies, entries, jobs, "removed what is old");
        }
    }

    /// Without the source of the error, which may quote SQL.
    pub(crate) fn store_failed(call: &'static str, error: &Error) {
        if error.is_damage() {
            DAMAGE.log(
                |unlogged| error!(target: TARGET, call, unlogged, "the store is damaged: {error}"),
            );
        } else {
            FAILURES
                .log(|unlogged| warn!(target: TARGET, call, unlogged, "the store failed: {error}"));
        }
    }

    pub(crate) fn damage_found(part: &'static str, finding: &str) {
        error!(target: TARGET, part, "damage: {finding}");
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn more_damage_found(part: &'static str) {
        DAMAGE.log(
            |unlogged| error!(target: TARGET, part, unlogged, "more damage was found: run a check"),
        );
    }

    pub(crate) fn worker_failed(error: &Error) {
        error!(target: TARGET, "the worker has ended, and articles wait until another runs: {error}");
    }

    #[cfg(feature = "signal")]
    pub(crate) fn stopping() {
        info!(target: TARGET, "the program stops once what is running has ended");
    }

    pub(crate) fn worker_dropped() {
        let advice =
            "the worker was dropped before it was told to stop: articles wait until another runs";
        warn!(target: TARGET, "{advice}");
    }

    pub(crate) fn failures_wait() {
        let advice = "jobs have failed, and no worker is told: add `Worker::on_failure`";
        warn!(target: TARGET, "{advice}");
    }

    pub(crate) fn no_worker(age: Duration) {
        let seconds = age.as_secs();
        let advice = "run `inbox.worker(..)` in one of the processes that share the inbox";
        warn!(target: TARGET, seconds, "no worker has claimed the oldest due entry for {seconds} s: {advice}");
    }

    pub(crate) fn given_up(key: &EntryKey, attempt: u32) {
        let (job_id, event) = (key.job_id.as_str(), key.event.as_str());
        warn!(target: TARGET, job_id, event, attempt, "attempt given up, but its handler goes on in its thread");
    }

    pub(crate) fn stuck(jobs: &[&EntryKey]) {
        STUCK.log(|unlogged| {
            let handlers = jobs.len();
            let named: Vec<_> =
                jobs.iter().take(NAMED).map(|key| key.job_id.as_str().escape_debug().to_string()).collect();
            let jobs = named.join(" ");
            let advice = "nothing is claimed while this many handlers go on that were given up: restart the program";
            error!(target: TARGET, handlers, %jobs, unlogged, "{advice}");
        });
    }

    pub(crate) fn no_thread() {
        let advice = "the system gives no thread for a handler: raise its limit, or lower the worker's concurrency";
        NO_THREAD.log(|unlogged| warn!(target: TARGET, unlogged, "{advice}"));
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn log_grows(bytes: u64) {
        let mebibytes = bytes >> 20;
        let advice = "the write-ahead log cannot be emptied: look for a program that reads the database for long";
        LOG_GROWS.log(|unlogged| warn!(target: TARGET, mebibytes, unlogged, "{advice}"));
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn unblocked() {
        info!(target: TARGET, "the store commits again");
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn clock_is_ahead(by: Duration) {
        let days = by.as_secs() / 86_400;
        let advice = "nothing that is old is removed for a day: if the inbox was not closed for that long, set the system's clock";
        warn!(target: TARGET, days, "the clock is far ahead of the last time that was stored: {advice}");
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn clock_was_set_back(by: Duration) {
        let minutes = by.as_secs() / 60;
        let advice = "waits that began before are shortened";
        warn!(target: TARGET, minutes, "the system's clock was set back: {advice}");
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn committed(calls: usize, took: Duration) {
        tracing::trace!(target: TARGET, calls, ?took, "committed");
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use super::*;

    pub(crate) fn recorded(_: &Delivery, _: Digest, _: Recorded) {}
    pub(crate) fn claimed(_: &Claims) {}
    pub(crate) fn drift(_: &EntryKey, _: &str) {}
    pub(crate) fn attempted(_: &EntryKey, _: u32, _: &'static str, _: Duration) {}
    pub(crate) fn settled(_: &EntryKey, _: u32, _: &Outcome) {}
    pub(crate) fn unreadable(_: &EntryKey) {}
    pub(crate) fn lost_lease(_: &EntryKey, _: u32) {}
    pub(crate) fn pruned(_: &Pruned, _: &LedgerPruned) {}
    pub(crate) fn store_failed(_: &'static str, _: &Error) {}
    pub(crate) fn damage_found(_: &'static str, _: &str) {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn more_damage_found(_: &'static str) {}
    pub(crate) fn worker_failed(_: &Error) {}
    #[cfg(feature = "signal")]
    pub(crate) fn stopping() {}
    pub(crate) fn worker_dropped() {}
    pub(crate) fn failures_wait() {}
    pub(crate) fn no_worker(_: Duration) {}
    pub(crate) fn given_up(_: &EntryKey, _: u32) {}
    pub(crate) fn stuck(_: &[&EntryKey]) {}
    pub(crate) fn no_thread() {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn log_grows(_: u64) {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn unblocked() {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn clock_is_ahead(_: Duration) {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn clock_was_set_back(_: Duration) {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn committed(_: usize, _: Duration) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;
