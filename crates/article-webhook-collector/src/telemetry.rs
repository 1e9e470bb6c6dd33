//! Metrics (feature `metrics`) and log events (feature `tracing`). Without the features nothing is compiled.
//!
//! No name, label or field contains a body, a token, a URL, or an intent. What the service answered, and why a call
//! failed, appears in log events alone, as their field `cause`. A job id appears in log events alone, as a text, which
//! the subscriber escapes.

#![cfg_attr(
    not(all(feature = "metrics", feature = "tracing")),
    allow(dead_code, unused_imports, unused_variables, reason = "what shows them is off")
)]

use std::{fmt::Display, time::Duration};

use article_webhook::{DecodeError, JobId, adapter::logged_cause};
use article_webhook_inbox::{
    Error, ExpectedJob, JobState, LedgerCounts, OVERDUE_AFTER, store::PollOutcome,
};

/// A log event. All have one target, so that one filter selects them.
macro_rules! log {
    ($level:ident: $($event:tt)+) => {
        #[cfg(feature = "tracing")]
        tracing::$level!(target: "article_webhook_collector", $($event)+)
    };
}

/// Counts or measures. The recorder is looked up each time, because it may be installed after the collector was made.
macro_rules! measure {
    ($kind:ident($($metric:tt)+).$call:ident($value:expr)) => {
        #[cfg(feature = "metrics")]
        metrics::$kind!($($metric)+).$call($value)
    };
}

/// A pause of all calls that is longer is an alarm.
const LONG_PAUSE: Duration = Duration::from_secs(3600);

/// A pause that is longer has no end for a person who reads of it.
const MAX_FINITE_PAUSE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The figures that an operator watches.
pub(crate) struct Figures {
    pub(crate) counts: LedgerCounts,
    /// Since when the oldest job is expected.
    pub(crate) oldest: Duration,
    /// How long nothing is polled or ordered from now on.
    pub(crate) paused: Duration,
    pub(crate) tokens: u32,
}

/// An order ended.
pub(crate) fn order_ended(outcome: &'static str) {
    measure!(counter(metric::ORDERS, "outcome" => outcome).increment(1));
}

/// The service took an order.
pub(crate) fn ordered(job_id: &JobId) {
    log!(debug: job_id = job_id.as_str(), "article ordered");
}

/// The service took an order, and the store could not note it now.
pub(crate) fn order_not_noted(job_id: &JobId, error: &Error) {
    let job_id = job_id.as_str();
    log!(error: job_id, "the service took an order, and its job could not be stored, which is tried again: {error}");
}

/// It is not known whether the service took an order.
pub(crate) fn order_unknown(why: &impl Display) {
    log!(warn: cause = %logged_cause(why), "it is not known whether the service took an order: the order is not repeated");
}

/// Another job was delivered to the URL of an order before its answer came, and a handler may have had the article.
pub(crate) fn other_job_handled(job_id: &JobId, other: &JobId) {
    let (job_id, other) = (job_id.as_str(), other.as_str());
    log!(error: job_id, other, "the article of another job was delivered to the URL of this job's order, and handed to the handler before the service named the job: look at what was published, and whether the URL has leaked");
}

/// An article was delivered to the URL of an order and handed out, and its job is not that of the order.
pub(crate) fn article_of_no_order_handled(job_id: &JobId) {
    let job_id = job_id.as_str();
    log!(error: job_id, "the article of this job was delivered to the URL of an order and handed to the handler, but the service answers that the order is for another job: look at what was published, and whether the URL has leaked");
}

/// The outcome of these orders was unknown when the collector began.
pub(crate) fn orders_left_unknown(orders: usize) {
    log!(warn: orders, "it is not known whether the service took these orders, because a process ended during the call or the answer was lost: they may be paid for. An article that is delivered to the URL of its order answers that. For the others, look at the service, and then call `Collector::order_again` or `Collector::abandon` for each intent that `Collector::intents` lists as unknown");
}

/// A poll was answered, or was not, after this time.
pub(crate) fn polled(job: &ExpectedJob, answer: &'static str, took: Duration) {
    measure!(counter(metric::POLLS, "answer" => answer).increment(1));
    measure!(histogram(metric::POLL_DURATION).record(took));
    let (job_id, polls) = (job.job_id.as_str(), job.polls);
    log!(debug: job_id, polls, answer, ?took, "job polled");
}

/// The outcome of a poll is stored. The job is in this state now, and was expected for this time. `undecodable`: why what
/// the API answered cannot be decoded. Such a body ends no job: its entry will be unhandled, and the job is polled again.
pub(crate) fn settled(
    job: &ExpectedJob,
    outcome: &PollOutcome,
    undecodable: Option<&DecodeError>,
    state: JobState,
    expected_for: Duration,
) {
    let (job_id, polls) = (job.job_id.as_str(), job.polls);
    let is_undecodable = state == JobState::Collected && undecodable.is_some();
    if !state.is_open() && !is_undecodable {
        measure!(counter(metric::ENDED, "state" => state.as_str()).increment(1));
        if state == JobState::Collected && job.reason.is_order() {
            measure!(histogram(metric::COLLECTED_AFTER).record(expected_for));
        }
    }
    match (outcome, state) {
        (_, JobState::Collected) if let Some(error) = undecodable => {
            log!(warn: job_id, polls, cause = %logged_cause(error), "the API gave a body that cannot be decoded as an article. It is stored: see the entry of the job");
        }
        (_, JobState::Collected) => {
            log!(info: job_id, polls, ?expected_for, "article collected");
        }
        (_, JobState::Unreadable) => {
            log!(warn: job_id, "the API gives a body that cannot be read: see the entry of the job");
        }
        (PollOutcome::Failed { cause: why, .. }, JobState::Failed) => {
            log!(warn: job_id, cause = %logged_cause(why), "the service reports that the job has failed");
        }
        (PollOutcome::NotFound { .. }, _) => {
            log!(warn: job_id, polls, "the service does not know the job: it is no longer polled");
        }
        (PollOutcome::Unconfirmed { after, cause: why, .. }, _) => {
            log!(warn: job_id, polls, ?after, cause = %logged_cause(why), "the poll brought a result that another poll must confirm");
        }
        (
            PollOutcome::Again { after, cause: why }
            | PollOutcome::Missing { after, cause: why }
            | PollOutcome::Rejected { after, cause: why },
            _,
        ) => {
            log!(warn: job_id, polls, ?after, cause = %logged_cause(why), "the poll brought no article, and another poll will follow");
        }
        _ => {}
    }
    if state.is_open() && expected_for >= OVERDUE_AFTER {
        log!(error: job_id, polls, ?expected_for, "article is overdue: its job has not ended after 72 hours");
    }
}

/// The outcome of a poll is dropped.
pub(crate) fn lost_lease(job: &ExpectedJob) {
    measure!(counter(metric::LOST_LEASES).increment(1));
    let job_id = job.job_id.as_str();
    log!(debug: job_id, "the outcome of a poll is dropped: the article came meanwhile, the job was erased, or the lease ended");
}

/// A poll ended without an outcome, because this crate or the store panicked.
pub(crate) fn poll_panicked() {
    measure!(counter(metric::POLLS, "answer" => "panicked").increment(1));
    log!(error: "a poll panicked: its job is polled again when its lease ends");
}

/// The service refused the API key.
pub(crate) fn key_refused() {
    measure!(counter(metric::KEY_REFUSALS).increment(1));
    log!(error: "the service refuses the API key: give the collector a valid key. Except for a try from time to time, nothing is polled or ordered with this key until the service accepts it");
}

/// The service answered 429, with this pause.
pub(crate) fn rate_limited(pause: Duration) {
    if pause.is_zero() {
        log!(warn: "the service gets too many calls, and requests no pause: each job is polled again after the pause of its own schedule");
    } else {
        paused(pause, "the service gets too many calls");
    }
}

/// The service cannot serve any call for this time.
pub(crate) fn unavailable(pause: Duration) {
    paused(pause, "the service, or a proxy before it, cannot serve any call now");
}

fn paused(pause: Duration, why: &'static str) {
    if pause > MAX_FINITE_PAUSE {
        log!(error: why, "the service asks for a pause without end: nothing is polled or ordered. Check the API key and the plan, and then call `Collector::resume`");
    } else if pause > LONG_PAUSE {
        log!(error: ?pause, why, "the service asks for a long pause: nothing is polled or ordered until it ends, or until `Collector::resume`");
    } else {
        log!(warn: ?pause, why, "the service asks for a pause: nothing is polled or ordered until it ends");
    }
}

/// A call of the store failed. Nothing else reports the error. The log event has no source of it, which may quote SQL.
pub(crate) fn store_failed(call: &'static str, error: &Error) {
    measure!(counter(metric::STORE_FAILURES, "call" => call).increment(1));
    log!(warn: call, "the store failed: {error}");
}

/// This many loops poll.
pub(crate) fn running(loops: u32) {
    measure!(gauge(metric::RUNNING).set(loops));
    // Registered with zero: an alarm on growth does not see a series that begins with one.
    measure!(counter(metric::KEY_REFUSALS).increment(0));
}

/// A loop ended with an error.
pub(crate) fn collector_failed(error: &Error) {
    log!(error: "the collector has ended, and nothing is polled until another runs: {error}");
}

/// A person or a probe requested the figures. Counts are exact up to 2^53.
pub(crate) fn health(figures: &Figures) {
    let Figures { counts, oldest, paused, tokens } = figures;
    measure!(gauge(metric::EXPECTED).set(counts.open() as f64));
    measure!(gauge(metric::OLDEST_EXPECTED).set(*oldest));
    measure!(gauge(metric::OVERDUE).set(counts.overdue as f64));
    measure!(gauge(metric::UNKNOWN_INTENTS).set(counts.unknown_intents as f64));
    measure!(gauge(metric::RECOVERED).set(counts.recovered as f64));
    measure!(gauge(metric::PAUSED).set(*paused));
    measure!(gauge(metric::TOKENS).set(*tokens));
}

/// The figures, once in a while.
pub(crate) fn summary(figures: &Figures) {
    let Figures { counts, oldest, paused, tokens } = figures;
    let (expected, overdue, recovered) = (counts.open(), counts.overdue, counts.recovered);
    let (unknown, unreadable) = (counts.unknown_intents, counts.of(JobState::Unreadable));
    if overdue > 0 {
        log!(error: expected, ?oldest, overdue, recovered, unknown, unreadable, ?paused, tokens, "articles are overdue: their jobs have not ended after 72 hours, and `Inbox::jobs` shows why");
    } else {
        log!(info: expected, ?oldest, overdue, recovered, unknown, unreadable, ?paused, tokens, "articles that are expected");
    }
}

/// A poll came too late to be sent: the store took longer than its token is valid.
pub(crate) fn token_lost() {
    measure!(counter(metric::LOST_TOKENS).increment(1));
}

/// The store takes too long to hand out polls.
pub(crate) fn tokens_are_lost() {
    log!(warn: "polls are given back unsent, because the store takes longer than 5 seconds to hand them out: nothing is polled while that lasts");
}

#[cfg(feature = "metrics")]
pub mod metric {
    //! The names of all metrics, for dashboards and alarms.
    //!
    //! They go to the application's recorder of the crate `metrics`, which may be installed before or after the collector
    //! is made. Every label has few values: no job id, no intent, no cause.
    //!
    //! | name | kind | unit | labels | when |
    //! |---|---|---|---|---|
    //! | `article_collector_orders_total` | counter | count | `outcome` | an order ended: `ordered`, `ordered_before`, `in_progress`, `unknown`, `abandoned`, `refused`, `paused`, or `unavailable` if the store failed |
    //! | `article_collector_polls_total` | counter | count | `answer` | the API was polled: `complete`, `unfinished`, `failed`, `job_not_found`, `unauthorized`, `forbidden`, `rate_limited`, `unavailable`, `undecodable`, `other_job`, `invalid_job_id`, `page`, `not_json`, `too_large`, `redirect`, `refused`, `not_found`, `unknown_status`, `no_job`, `no_answer`, `panicked`, `stopped` or `other` |
    //! | `article_collector_poll_duration_seconds` | histogram | seconds | | the API was polled: how long it took |
    //! | `article_collector_ended_total` | counter | count | `state` | a poll ended a job: `collected`, `failed`, `unreadable` or `not_found`. A body that cannot be decoded ends none; `article_inbox_unreadable_total` counts jobs that a worker ends after 72 hours of such |
    //! | `article_collector_collected_after_seconds` | histogram | seconds | | a poll brought the article of an order: since when its job was expected. For articles that were delivered: `article_inbox_arrived_after_seconds` |
    //! | `article_collector_lost_leases_total` | counter | count | | the outcome of a poll was dropped, because the article came meanwhile, the job was erased, or its lease ended |
    //! | `article_collector_lost_tokens_total` | counter | count | | a poll was given back unsent, because the store took longer than 5 seconds to hand it out |
    //! | `article_collector_key_refusals_total` | counter | count | | the service refused the API key |
    //! | `article_collector_store_failures_total` | counter | count | `call` | the store failed: `claim_polls`, `settle_poll`, `report`, `ordered`, `not_ordered`, `outcome_lost` or `intents` |
    //! | `article_collector_running` | gauge | count | | a collector began or ended: how many of this one's clones poll now |
    //! | `article_collector_expected` | gauge | count | | only when `health` is called: jobs that are expected |
    //! | `article_collector_oldest_expected_seconds` | gauge | seconds | | the same: since when the oldest of them is |
    //! | `article_collector_overdue` | gauge | count | | the same: how many are expected since 72 hours |
    //! | `article_collector_unknown_intents` | gauge | count | | the same: orders with an unknown outcome |
    //! | `article_collector_recovered` | gauge | count | | the same: articles that came by the collection alone, of the jobs that the ledger still has |
    //! | `article_collector_paused_seconds` | gauge | seconds | | the same: how long nothing is polled or ordered from now on |
    //! | `article_collector_tokens` | gauge | count | | the same: how many polls may be sent at once |
    //!
    //! Call [`health`](crate::Collector::health) at each scrape, so that the last seven are current. A collector that runs calls it
    //! every hour.
    //!
    //! Set alarms for overdue jobs, unknown intents, refusals of the key, a long pause, and no running collector.

    use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

    /// Each metric once: its name, what it counts, and what it means.
    macro_rules! metrics {
        ($($constant:ident: $describe:ident $unit:ident, $name:literal, $meaning:literal;)+) => {
            $(
                #[doc = concat!($meaning, ".")]
                pub const $constant: &str = $name;
            )+

            /// Gives the recorder the unit and the meaning of each metric. Call it once the recorder is installed, if the
            /// recorder shows them.
            ///
            /// ```
            /// article_webhook_collector::metric::describe();
            /// ```
            pub fn describe() {
                $($describe!($constant, Unit::$unit, $meaning);)+
            }
        };
    }

    metrics! {
        ORDERS: describe_counter Count, "article_collector_orders_total",
            "Orders, by their outcome";
        POLLS: describe_counter Count, "article_collector_polls_total",
            "Polls of the API, by their answer";
        POLL_DURATION: describe_histogram Seconds, "article_collector_poll_duration_seconds",
            "How long the API took to answer a poll";
        ENDED: describe_counter Count, "article_collector_ended_total",
            "Jobs that a poll ended, by their state";
        COLLECTED_AFTER: describe_histogram Seconds, "article_collector_collected_after_seconds",
            "How long orders had been expected when their articles were collected";
        LOST_LEASES: describe_counter Count, "article_collector_lost_leases_total",
            "Polls whose outcome was dropped, because their lease was lost";
        LOST_TOKENS: describe_counter Count, "article_collector_lost_tokens_total",
            "Polls that were given back unsent, because they came too late";
        KEY_REFUSALS: describe_counter Count, "article_collector_key_refusals_total",
            "How often the service refused the API key";
        STORE_FAILURES: describe_counter Count, "article_collector_store_failures_total",
            "Failures of the store, by the call";
        RUNNING: describe_gauge Count, "article_collector_running",
            "Collectors that run";
        EXPECTED: describe_gauge Count, "article_collector_expected",
            "Jobs that were expected when health was last requested";
        OLDEST_EXPECTED: describe_gauge Seconds, "article_collector_oldest_expected_seconds",
            "How long the oldest of them had been expected";
        OVERDUE: describe_gauge Count, "article_collector_overdue",
            "How many of them had been expected for 72 hours";
        UNKNOWN_INTENTS: describe_gauge Count, "article_collector_unknown_intents",
            "Orders with an unknown outcome";
        RECOVERED: describe_gauge Count, "article_collector_recovered",
            "Articles that came by the collection alone";
        PAUSED: describe_gauge Seconds, "article_collector_paused_seconds",
            "How long nothing would be polled or ordered";
        TOKENS: describe_gauge Count, "article_collector_tokens",
            "How many polls could be sent at once";
    }
}
