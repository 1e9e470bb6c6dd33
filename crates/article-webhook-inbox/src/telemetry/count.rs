//! Counters, gauges and histograms. The recorder is looked up each time, because it may be installed after the inbox was
//! opened.

use std::time::Duration;

use article_webhook::Refused;

use crate::{
    Error,
    call::{Claims, LedgerPruned, Outcome, Pruned, Recorded},
};

#[cfg(feature = "metrics")]
mod enabled {
    use metrics::{counter, gauge, histogram};

    use super::*;
    use crate::telemetry::{metric, outcome_name::outcome_name};

    pub(crate) fn recorded(recorded: &Result<Recorded, Error>, took: Duration) {
        let result = match recorded {
            Ok(Recorded::Stored | Recorded::Arrived { .. }) => "stored",
            Ok(Recorded::Duplicate) => "duplicate",
            Ok(Recorded::Conflict { kept: true }) => "conflict_kept",
            Ok(Recorded::Conflict { kept: false }) => "conflict_not_kept",
            Ok(Recorded::Crowded) => "crowded",
            Err(_) => "unavailable",
        };
        counter!(metric::DELIVERIES, "result" => result).increment(1);
        histogram!(metric::RECORD_DURATION).record(took);
        if let Ok(Recorded::Arrived { after }) = recorded {
            histogram!(metric::ARRIVED_AFTER).record(*after);
        }
    }

    pub(crate) fn refused(refused: &Refused) {
        counter!(metric::REFUSED, "code" => refused.rejection().code()).increment(1);
    }

    pub(crate) fn claimed(claims: &Claims) {
        let buried = claims.buried.len() as u64;
        counter!(metric::CLAIMED).increment(claims.claimed.len() as u64);
        counter!(metric::BURIED).increment(buried);
        counter!(metric::DEAD).increment(buried);
        counter!(metric::EXPIRED_LEASES).increment(claims.expired.into());
        // Registered with zero: an alarm on growth does not see a series that begins with one.
        counter!(metric::LOST_LEASES).increment(0);
        counter!(metric::THREAD_FAILURES).increment(0);
    }

    pub(crate) fn attempted(ending: &'static str, took: Duration) {
        histogram!(metric::HANDLER_DURATION, "ending" => ending).record(took);
    }

    pub(crate) fn settled(outcome: &Outcome) {
        counter!(metric::ATTEMPTS, "outcome" => outcome_name(outcome)).increment(1);
        if matches!(outcome, Outcome::Dead { .. }) {
            counter!(metric::DEAD).increment(1);
        }
    }

    pub(crate) fn unreadable() {
        counter!(metric::UNREADABLE).increment(1);
    }

    pub(crate) fn lost_lease() {
        counter!(metric::LOST_LEASES).increment(1);
    }

    pub(crate) fn pruned(pruned: &Pruned, ledger: &LedgerPruned) {
        counter!(metric::PRUNED, "what" => "bodies").increment(pruned.bodies.into());
        counter!(metric::PRUNED, "what" => "entries").increment(pruned.entries.into());
        counter!(metric::PRUNED, "what" => "jobs").increment(ledger.jobs.into());
    }

    pub(crate) fn overdue(age: Duration) {
        gauge!(metric::OVERDUE).set(age);
    }

    pub(crate) fn damage_found(part: &'static str) {
        counter!(metric::DAMAGE, "part" => part).increment(1);
    }

    pub(crate) fn store_failed(call: &'static str) {
        counter!(metric::STORE_FAILURES, "call" => call).increment(1);
    }

    pub(crate) fn workers(running: u32) {
        gauge!(metric::WORKERS).set(running);
        // Registered with zero, as above.
        counter!(metric::WORKER_FAILURES).increment(0);
    }

    pub(crate) fn worker_failed() {
        counter!(metric::WORKER_FAILURES).increment(1);
    }

    pub(crate) fn stuck_handlers(handlers: usize) {
        let handlers = u32::try_from(handlers).unwrap_or(u32::MAX);
        gauge!(metric::STUCK_HANDLERS).set(handlers);
    }

    pub(crate) fn no_thread() {
        counter!(metric::THREAD_FAILURES).increment(1);
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn wal_bytes(bytes: u64) {
        // Exact up to 2^53.
        gauge!(metric::WAL_BYTES).set(bytes as f64);
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn committed(calls: usize, took: Duration) {
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        histogram!(metric::COMMIT_GROUP_SIZE).record(calls);
        histogram!(metric::COMMIT_DURATION).record(took);
    }
}

#[cfg(not(feature = "metrics"))]
mod disabled {
    use super::*;

    pub(crate) fn recorded(_: &Result<Recorded, Error>, _: Duration) {}
    pub(crate) fn refused(_: &Refused) {}
    pub(crate) fn claimed(_: &Claims) {}
    pub(crate) fn attempted(_: &'static str, _: Duration) {}
    pub(crate) fn settled(_: &Outcome) {}
    pub(crate) fn unreadable() {}
    pub(crate) fn lost_lease() {}
    pub(crate) fn pruned(_: &Pruned, _: &LedgerPruned) {}
    pub(crate) fn overdue(_: Duration) {}
    pub(crate) fn damage_found(_: &'static str) {}
    pub(crate) fn store_failed(_: &'static str) {}
    pub(crate) fn workers(_: u32) {}
    pub(crate) fn worker_failed() {}
    pub(crate) fn stuck_handlers(_: usize) {}
    pub(crate) fn no_thread() {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn wal_bytes(_: u64) {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn committed(_: usize, _: Duration) {}
}

#[cfg(not(feature = "metrics"))]
pub(crate) use disabled::*;
#[cfg(feature = "metrics")]
pub(crate) use enabled::*;
