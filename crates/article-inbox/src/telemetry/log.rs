//! Log events. What can come at any rate while something is broken is written once a second.

use std::time::Duration;

use article_webhook::Delivery;

use crate::{
    Error, Key,
    store::{Claims, Outcome, Pruned, Recorded},
};

#[cfg(feature = "tracing")]
mod enabled {
    use std::{
        fmt::Display,
        sync::atomic::{AtomicU64, Ordering},
        time::{SystemTime, UNIX_EPOCH},
    };

    use article_webhook::JobId;
    use tracing::{debug, error, info, warn};

    use super::*;
    use crate::telemetry::word;

    /// One name to filter by, wherever in the crate an event comes from.
    const TARGET: &str = "article_inbox";

    /// One line a second of each.
    static FAILURES: Rate = Rate::new();
    static DAMAGE: Rate = Rate::new();
    static STUCK: Rate = Rate::new();
    static NO_THREAD: Rate = Rate::new();

    pub(crate) fn recorded(delivery: &Delivery, recorded: Recorded) {
        let (job_id, event) = (escaped(delivery.job_id()), delivery.event().as_str());
        match recorded {
            Recorded::Stored => debug!(target: TARGET, %job_id, event, "delivery stored"),
            Recorded::Duplicate => {
                debug!(target: TARGET, %job_id, event, "delivery was stored before");
            }
            Recorded::Conflict { kept } => {
                info!(target: TARGET, %job_id, event, kept, "another body came for an entry that is stored");
            }
            Recorded::Crowded => {
                warn!(target: TARGET, %job_id, event, "no room for another body until a worker has seen those stored");
            }
        }
    }

    pub(crate) fn claimed(claims: &Claims) {
        for Key { job_id, event } in &claims.buried {
            let (job_id, event) = (escaped(job_id), event.as_str());
            warn!(target: TARGET, %job_id, event, "entry is dead: its last attempt did not end");
        }
        if claims.expired > 0 {
            warn!(target: TARGET, leases = claims.expired, "leases had ended: was a worker killed?");
        }
    }

    pub(crate) fn attempted(key: &Key, attempt: u32, ending: &'static str, took: Duration) {
        let (job_id, event) = (escaped(&key.job_id), key.event.as_str());
        debug!(target: TARGET, %job_id, event, attempt, ending, ?took, "handler ended");
    }

    pub(crate) fn settled(key: &Key, attempt: u32, outcome: &Outcome) {
        let (job_id, event) = (escaped(&key.job_id), key.event.as_str());
        match outcome {
            Outcome::Done => debug!(target: TARGET, %job_id, event, attempt, "entry is done"),
            Outcome::Retry { after, .. } => {
                info!(target: TARGET, %job_id, event, attempt, ?after, "attempt failed, and another will follow");
            }
            Outcome::Released => {
                info!(target: TARGET, %job_id, event, attempt, "entry is given back: the worker stops");
            }
            Outcome::Dead { .. } | Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => {
                let state = word(outcome);
                warn!(target: TARGET, %job_id, event, attempt, "entry is {state}: its cause is stored with it");
            }
        }
    }

    pub(crate) fn lost_lease(key: &Key, attempt: u32) {
        let (job_id, event) = (escaped(&key.job_id), key.event.as_str());
        warn!(target: TARGET, %job_id, event, attempt, "lease lost: the result of the attempt is dropped");
    }

    pub(crate) fn pruned(pruned: &Pruned) {
        let Pruned { bodies, entries, hints, .. } = *pruned;
        if bodies + entries + hints > 0 {
            debug!(target: TARGET, bodies, entries, hints, "removed what is old");
        }
    }

    /// Its text alone: what caused it may quote SQL.
    pub(crate) fn store_failed(call: &'static str, error: &Error) {
        if error.is_damage() {
            DAMAGE.limited(
                |unlogged| error!(target: TARGET, call, unlogged, "the store is damaged: {error}"),
            );
        } else {
            FAILURES.limited(
                |unlogged| warn!(target: TARGET, call, unlogged, "the store failed: {error}"),
            );
        }
    }

    pub(crate) fn worker_failed(error: &Error) {
        error!(target: TARGET, "the worker ends: {error}");
    }

    pub(crate) fn stuck(handlers: usize) {
        let advice = "nothing is claimed while so many handlers that were given up go on: restart the program";
        STUCK.limited(|unlogged| warn!(target: TARGET, handlers, unlogged, "{advice}"));
    }

    pub(crate) fn no_thread() {
        let advice = "the system gives no thread for a handler: raise its limit, or lower the worker's concurrency";
        NO_THREAD.limited(|unlogged| warn!(target: TARGET, unlogged, "{advice}"));
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn committed(calls: usize, took: Duration) {
        tracing::trace!(target: TARGET, calls, ?took, "committed");
    }

    fn escaped(job_id: &JobId) -> impl Display {
        job_id.as_str().escape_debug()
    }

    /// Lets one line a second pass, with how many did not since the last.
    pub(super) struct Rate {
        last: AtomicU64,
        unlogged: AtomicU64,
    }

    impl Rate {
        pub(super) const fn new() -> Self {
            Self { last: AtomicU64::new(0), unlogged: AtomicU64::new(0) }
        }

        fn limited(&self, log: impl FnOnce(Option<u64>)) {
            let second =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
            self.limited_at(second, log);
        }

        pub(super) fn limited_at(&self, second: u64, log: impl FnOnce(Option<u64>)) {
            if self.last.swap(second, Ordering::Relaxed) == second {
                self.unlogged.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let unlogged = self.unlogged.swap(0, Ordering::Relaxed);
            log((unlogged > 0).then_some(unlogged));
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use super::*;

    pub(crate) fn recorded(_: &Delivery, _: Recorded) {}
    pub(crate) fn claimed(_: &Claims) {}
    pub(crate) fn attempted(_: &Key, _: u32, _: &'static str, _: Duration) {}
    pub(crate) fn settled(_: &Key, _: u32, _: &Outcome) {}
    pub(crate) fn lost_lease(_: &Key, _: u32) {}
    pub(crate) fn pruned(_: &Pruned) {}
    pub(crate) fn store_failed(_: &'static str, _: &Error) {}
    pub(crate) fn worker_failed(_: &Error) {}
    pub(crate) fn stuck(_: usize) {}
    pub(crate) fn no_thread() {}
    #[cfg(feature = "sqlite")]
    pub(crate) fn committed(_: usize, _: Duration) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;

#[cfg(test)]
#[cfg(feature = "tracing")]
mod tests {
    use super::enabled::Rate;

    #[test]
    fn what_happens_again_within_a_second_is_counted_and_not_written() {
        let (rate, mut written) = (Rate::new(), Vec::new());
        for second in [1, 1, 1, 2, 3, 3, 1] {
            rate.limited_at(second, |unlogged| written.push((second, unlogged)));
        }
        assert_eq!(written, [(1, None), (2, Some(2)), (3, None), (1, Some(1))]);
    }
}
