//! Log events. An event of an ask occurs as often as the bucket lets the API be asked.

use std::{fmt::Display, time::Duration};

use article_webhook::{DecodeError, JobId};
use article_webhook_inbox::{Error, ExpectedJob, JobState, store::AskOutcome};

use super::figures::Figures;

#[cfg(feature = "tracing")]
mod enabled {
    use article_webhook::adapter::logged_cause;
    use article_webhook_inbox::OVERDUE;
    use tracing::{debug, error, field::display, info, warn};

    use super::*;

    /// The target of all events, so that one filter selects them.
    const TARGET: &str = "article_webhook_collector";

    /// A pause of all calls that is longer is an alarm.
    const LONG_PAUSE: Duration = Duration::from_secs(3600);

    /// A pause that is longer has no end for a person who reads of it.
    const ENDLESS_PAUSE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

    pub(crate) fn ordered(job_id: &JobId) {
        debug!(target: TARGET, job_id = job_id.as_str(), "article ordered");
    }

    pub(crate) fn order_not_noted(job_id: &JobId, error: &Error) {
        let job_id = job_id.as_str();
        error!(target: TARGET, job_id, "the service took an order, and the store could not note it, which is tried again: {error}");
    }

    pub(crate) fn order_unknown(cause: &dyn Display) {
        let cause = logged_cause(cause).map(display);
        warn!(target: TARGET, cause, "it is not known whether the service took an order, which is not repeated");
    }

    pub(crate) fn orders_left_unknown(orders: usize) {
        warn!(target: TARGET, orders, "it is not known whether the service took these orders, because a process ended during the call or the answer was lost: they may be paid for, and an article that is delivered to the URL of its order resolves it; look at the service, and then call `Collector::order_again` or `Collector::abandon` for what `Collector::intents` lists as unknown");
    }

    pub(crate) fn asked(job: &ExpectedJob, answer: &'static str, took: Duration) {
        let (job_id, asks) = (job.job_id.as_str(), job.asks);
        debug!(target: TARGET, job_id, asks, answer, ?took, "job asked for");
    }

    pub(crate) fn settled(
        job: &ExpectedJob,
        outcome: &AskOutcome,
        undecodable: Option<&DecodeError>,
        state: JobState,
        expected_for: Duration,
    ) {
        let (job_id, asks) = (job.job_id.as_str(), job.asks);
        match (outcome, state) {
            (_, JobState::Collected) if let Some(error) = undecodable => {
                let cause = logged_cause(error).map(display);
                warn!(target: TARGET, job_id, asks, cause, "what the API gave is stored, and cannot be decoded as an article: see its entry");
            }
            (_, JobState::Collected) => {
                info!(target: TARGET, job_id, asks, ?expected_for, "article collected");
            }
            (_, JobState::Unreadable) => {
                warn!(target: TARGET, job_id, "the API gives a body that cannot be read: see its entry");
            }
            (_, JobState::Failed) => {
                warn!(target: TARGET, job_id, "the service gave the job up, and refunded its credits");
            }
            (AskOutcome::NotFound { .. }, _) => {
                warn!(target: TARGET, job_id, asks, "the service does not know the job, and it is asked for no more");
            }
            (AskOutcome::Again { after, cause } | AskOutcome::Missing { after, cause }, _) => {
                let cause = logged_cause(cause).map(display);
                warn!(target: TARGET, job_id, asks, ?after, cause, "the ask brought no article, and another will follow");
            }
            _ => {}
        }
        if state.is_open() && expected_for >= OVERDUE {
            error!(target: TARGET, job_id, asks, ?expected_for, "article is overdue: its job has no end after 72 hours");
        }
    }

    pub(crate) fn lost_lease(job: &ExpectedJob) {
        let job_id = job.job_id.as_str();
        debug!(target: TARGET, job_id, "the outcome of an ask is dropped: the article came meanwhile, the job was forgotten, or the lease ended");
    }

    pub(crate) fn ask_panicked() {
        error!(target: TARGET, "an ask panicked: its job is asked for again when its lease ends");
    }

    pub(crate) fn key_refused() {
        error!(target: TARGET, "the service refuses the API key: nothing is asked or ordered with this key until it is accepted again, except for a try from time to time");
    }

    pub(crate) fn rate_limited(pause: Duration) {
        if pause.is_zero() {
            warn!(target: TARGET, "the service gets too many calls, and names no pause: none is kept, and each job is asked for again after its own");
        } else {
            paused(pause, "the service gets too many calls");
        }
    }

    pub(crate) fn unavailable(pause: Duration) {
        paused(pause, "the service, or a proxy before it, cannot serve any call now");
    }

    fn paused(pause: Duration, why: &'static str) {
        if pause > ENDLESS_PAUSE {
            error!(target: TARGET, why, "the service asks for a pause without end: nothing is asked or ordered until its cause is mended: check the API key and the plan, and then call `Collector::resume`");
        } else if pause > LONG_PAUSE {
            error!(target: TARGET, ?pause, why, "the service asks for a long pause: nothing is asked or ordered until it ends, or until `Collector::resume`");
        } else {
            warn!(target: TARGET, ?pause, why, "the service asks for a pause: nothing is asked or ordered until it ends");
        }
    }

    /// Without the source of the error, which may quote SQL.
    pub(crate) fn store_failed(call: &'static str, error: &Error) {
        warn!(target: TARGET, call, "the store failed: {error}");
    }

    pub(crate) fn summary(figures: &Figures) {
        let Figures { counts, oldest, paused, tokens } = figures;
        let (expected, overdue, recovered) = (counts.open(), counts.overdue, counts.recovered);
        let (unknown, unreadable) = (counts.unknown_intents, counts.of(JobState::Unreadable));
        if overdue > 0 {
            error!(target: TARGET, expected, ?oldest, overdue, recovered, unknown, unreadable, ?paused, tokens, "articles are overdue: their jobs have no end after 72 hours, and `Collector::list` shows why");
        } else {
            info!(target: TARGET, expected, ?oldest, overdue, recovered, unknown, unreadable, ?paused, tokens, "articles that are expected");
        }
    }

    pub(crate) fn tokens_are_lost() {
        warn!(target: TARGET, "asks are given back unsent, because the store takes longer than 5 seconds to hand them out: nothing is asked for while that lasts");
    }

    pub(crate) fn collector_failed(error: &Error) {
        error!(target: TARGET, "the collector has ended, and nothing is asked for until another runs: {error}");
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use super::*;

    pub(crate) fn ordered(_: &JobId) {}
    pub(crate) fn order_not_noted(_: &JobId, _: &Error) {}
    pub(crate) fn order_unknown(_: &dyn Display) {}
    pub(crate) fn orders_left_unknown(_: usize) {}
    pub(crate) fn asked(_: &ExpectedJob, _: &'static str, _: Duration) {}
    pub(crate) fn settled(
        _: &ExpectedJob,
        _: &AskOutcome,
        _: Option<&DecodeError>,
        _: JobState,
        _: Duration,
    ) {
    }
    pub(crate) fn lost_lease(_: &ExpectedJob) {}
    pub(crate) fn ask_panicked() {}
    pub(crate) fn key_refused() {}
    pub(crate) fn rate_limited(_: Duration) {}
    pub(crate) fn unavailable(_: Duration) {}
    pub(crate) fn store_failed(_: &'static str, _: &Error) {}
    pub(crate) fn summary(_: &Figures) {}
    pub(crate) fn tokens_are_lost() {}
    pub(crate) fn collector_failed(_: &Error) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;
