//! Metrics (feature `metrics`) and log events (feature `tracing`). Without the features nothing is compiled.
//!
//! No name, label or field contains a body, a token, a URL, or an intent. What the service answered, and why a call
//! failed, appears in log events alone, unless `article_webhook::hide_causes` was called. A job id appears in log
//! events alone, as a text, which the subscriber escapes.

#![cfg_attr(
    not(all(feature = "metrics", feature = "tracing")),
    allow(dead_code, unused_imports, unused_variables, reason = "what shows them is off")
)]

use std::{fmt::Display, time::Duration};

use article_webhook::{DecodeError, JobId};
use article_webhook_inbox::{
    Error, ExpectedJob, JobState, LedgerCounts, OVERDUE, store::AskOutcome,
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

/// Why something failed, for a log event, unless causes are hidden.
#[cfg(feature = "tracing")]
fn cause<T: Display>(cause: &T) -> Option<tracing::field::DisplayValue<impl Display>> {
    article_webhook::adapter::logged_cause(cause).map(tracing::field::display)
}

/// A pause of all calls that is longer is an alarm.
const LONG_PAUSE: Duration = Duration::from_secs(3600);

/// A pause that is longer has no end for a person who reads of it.
const ENDLESS_PAUSE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The figures that an operator watches.
pub(crate) struct Figures {
    pub(crate) counts: LedgerCounts,
    /// Since when the oldest job is expected.
    pub(crate) oldest: Duration,
    /// How long nothing is asked or ordered from now on.
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
    log!(error: job_id, "the service took an order, and the store could not note it, which is tried again: {error}");
}

/// It is not known whether the service took an order.
pub(crate) fn order_unknown(why: &impl Display) {
    log!(warn: cause = cause(why), "it is not known whether the service took an order, which is not repeated");
}

/// The outcome of these orders was unknown when the collector began.
pub(crate) fn orders_left_unknown(orders: usize) {
    log!(warn: orders, "it is not known whether the service took these orders, because a process ended during the call or the answer was lost: they may be paid for, and an article that is delivered to the URL of its order resolves it; look at the service, and then call `Collector::order_again` or `Collector::abandon` for what `Collector::intents` lists as unknown");
}

/// An ask was answered, or was not, after this time.
pub(crate) fn asked(job: &ExpectedJob, answer: &'static str, took: Duration) {
    measure!(counter(metric::ASKS, "answer" => answer).increment(1));
    measure!(histogram(metric::ASK_DURATION).record(took));
    let (job_id, asks) = (job.job_id.as_str(), job.asks);
    log!(debug: job_id, asks, answer, ?took, "job asked for");
}

/// The outcome of an ask is stored. The job is in this state now, and was expected for this time. `undecodable`: why what
/// the API answered cannot be decoded. Such a body ends no job: its entry will be unhandled, and the job is asked for again.
pub(crate) fn settled(
    job: &ExpectedJob,
    outcome: &AskOutcome,
    undecodable: Option<&DecodeError>,
    state: JobState,
    expected_for: Duration,
) {
    let (job_id, asks) = (job.job_id.as_str(), job.asks);
    let is_undecodable = state == JobState::Collected && undecodable.is_some();
    if !state.is_open() && !is_undecodable {
        measure!(counter(metric::ENDED, "state" => state.as_str()).increment(1));
        if state == JobState::Collected && job.reason.is_order() {
            measure!(histogram(metric::COLLECTED_AFTER).record(expected_for));
        }
    }
    match (outcome, state) {
        (_, JobState::Collected) if let Some(error) = undecodable => {
            log!(warn: job_id, asks, cause = cause(error), "what the API gave is stored, and cannot be decoded as an article: see its entry");
        }
        (_, JobState::Collected) => {
            log!(info: job_id, asks, ?expected_for, "article collected");
        }
        (_, JobState::Unreadable) => {
            log!(warn: job_id, "the API gives a body that cannot be read: see its entry");
        }
        (_, JobState::Failed) => {
            log!(warn: job_id, "the service gave the job up, and refunded its credits");
        }
        (AskOutcome::NotFound { .. }, _) => {
            log!(warn: job_id, asks, "the service does not know the job, and it is asked for no more");
        }
        (
            AskOutcome::Again { after, cause: why } | AskOutcome::Missing { after, cause: why },
            _,
        ) => {
            log!(warn: job_id, asks, ?after, cause = cause(why), "the ask brought no article, and another will follow");
        }
        _ => {}
    }
    if state.is_open() && expected_for >= OVERDUE {
        log!(error: job_id, asks, ?expected_for, "article is overdue: its job has no end after 72 hours");
    }
}

/// The outcome of an ask is dropped.
pub(crate) fn lost_lease(job: &ExpectedJob) {
    measure!(counter(metric::LOST_LEASES).increment(1));
    let job_id = job.job_id.as_str();
    log!(debug: job_id, "the outcome of an ask is dropped: the article came meanwhile, the job was erased, or the lease ended");
}

/// An ask ended without an outcome, because this crate or the store panicked.
pub(crate) fn ask_panicked() {
    measure!(counter(metric::ASKS, "answer" => "panicked").increment(1));
    log!(error: "an ask panicked: its job is asked for again when its lease ends");
}

/// The service refused the API key.
pub(crate) fn key_refused() {
    measure!(counter(metric::KEY_REFUSALS).increment(1));
    log!(error: "the service refuses the API key: nothing is asked or ordered with this key until it is accepted again, except for a try from time to time");
}

/// The service answered 429, with this pause.
pub(crate) fn rate_limited(pause: Duration) {
    if pause.is_zero() {
        log!(warn: "the service gets too many calls, and names no pause: none is kept, and each job is asked for again after its own");
    } else {
        paused(pause, "the service gets too many calls");
    }
}

/// The service cannot serve any call for this time.
pub(crate) fn unavailable(pause: Duration) {
    paused(pause, "the service, or a proxy before it, cannot serve any call now");
}

fn paused(pause: Duration, why: &'static str) {
    if pause > ENDLESS_PAUSE {
        log!(error: why, "the service asks for a pause without end: nothing is asked or ordered until its cause is mended: check the API key and the plan, and then call `Collector::resume`");
    } else if pause > LONG_PAUSE {
        log!(error: ?pause, why, "the service asks for a long pause: nothing is asked or ordered until it ends, or until `Collector::resume`");
    } else {
        log!(warn: ?pause, why, "the service asks for a pause: nothing is asked or ordered until it ends");
    }
}

/// A call of the store failed. Nothing else reports the error. The log event has no source of it, which may quote SQL.
pub(crate) fn store_failed(call: &'static str, error: &Error) {
    measure!(counter(metric::STORE_FAILURES, "call" => call).increment(1));
    log!(warn: call, "the store failed: {error}");
}

/// This many loops ask.
pub(crate) fn running(loops: u32) {
    measure!(gauge(metric::RUNNING).set(loops));
    // Registered with zero: an alarm on growth does not see a series that begins with one.
    measure!(counter(metric::KEY_REFUSALS).increment(0));
}

/// A loop ended with an error.
pub(crate) fn collector_failed(error: &Error) {
    log!(error: "the collector has ended, and nothing is asked for until another runs: {error}");
}

/// A person or a probe asked for the figures. Counts are exact up to 2^53.
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
        log!(error: expected, ?oldest, overdue, recovered, unknown, unreadable, ?paused, tokens, "articles are overdue: their jobs have no end after 72 hours, and `Collector::list` shows why");
    } else {
        log!(info: expected, ?oldest, overdue, recovered, unknown, unreadable, ?paused, tokens, "articles that are expected");
    }
}

/// An ask came too late to be sent: the store took longer than its token is valid.
pub(crate) fn token_lost() {
    measure!(counter(metric::LOST_TOKENS).increment(1));
}

/// The store takes too long to hand out asks.
pub(crate) fn tokens_are_lost() {
    log!(warn: "asks are given back unsent, because the store takes longer than 5 seconds to hand them out: nothing is asked for while that lasts");
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
    //! | `article_collector_asks_total` | counter | count | `answer` | the API was asked: `complete`, `unfinished`, `failed`, `job_not_found`, `unauthorized`, `forbidden`, `rate_limited`, `unavailable`, `undecodable`, `other_job`, `invalid_job_id`, `page`, `not_json`, `too_large`, `redirect`, `refused`, `not_found`, `unknown_status`, `no_job`, `no_answer`, `panicked`, `stopped` or `other` |
    //! | `article_collector_ask_duration_seconds` | histogram | seconds | | the API was asked: how long it took |
    //! | `article_collector_ended_total` | counter | count | `state` | an ask ended a job: `collected`, `failed`, `unreadable` or `not_found`. A body that cannot be decoded ends none; `article_inbox_unreadable_total` counts jobs that a worker ends after 72 hours of such |
    //! | `article_collector_collected_after_seconds` | histogram | seconds | | an ask brought the article of an order: since when its job was expected. For articles that were delivered: `article_inbox_arrived_after_seconds` |
    //! | `article_collector_lost_leases_total` | counter | count | | the outcome of an ask was dropped, because the article came meanwhile, the job was erased, or its lease ended |
    //! | `article_collector_lost_tokens_total` | counter | count | | an ask was given back unsent, because the store took longer than 5 seconds to hand it out |
    //! | `article_collector_key_refusals_total` | counter | count | | the service refused the API key |
    //! | `article_collector_store_failures_total` | counter | count | `call` | the store failed: `claim_asks`, `settle_ask`, `report`, `ordered`, `not_ordered`, `outcome_lost` or `intents` |
    //! | `article_collector_running` | gauge | count | | a collector began or ended: how many of this one's clones ask now |
    //! | `article_collector_expected` | gauge | count | | only when `health` is called: jobs that are expected |
    //! | `article_collector_oldest_expected_seconds` | gauge | seconds | | the same: since when the oldest of them is |
    //! | `article_collector_overdue` | gauge | count | | the same: how many are expected since 72 hours |
    //! | `article_collector_unknown_intents` | gauge | count | | the same: orders with an unknown outcome |
    //! | `article_collector_recovered` | gauge | count | | the same: articles that came by the collection alone, of the jobs that the ledger still has |
    //! | `article_collector_paused_seconds` | gauge | seconds | | the same: how long nothing is asked or ordered from now on |
    //! | `article_collector_tokens` | gauge | count | | the same: how many asks may be sent at once |
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
        ASKS: describe_counter Count, "article_collector_asks_total",
            "Asks of the API, by their answer";
        ASK_DURATION: describe_histogram Seconds, "article_collector_ask_duration_seconds",
            "How long the API took to answer an ask";
        ENDED: describe_counter Count, "article_collector_ended_total",
            "Jobs that an ask ended, by their state";
        COLLECTED_AFTER: describe_histogram Seconds, "article_collector_collected_after_seconds",
            "Since when the orders were expected whose articles were collected";
        LOST_LEASES: describe_counter Count, "article_collector_lost_leases_total",
            "Asks whose outcome was dropped, because their lease was lost";
        LOST_TOKENS: describe_counter Count, "article_collector_lost_tokens_total",
            "Asks that were given back unsent, because they came too late";
        KEY_REFUSALS: describe_counter Count, "article_collector_key_refusals_total",
            "How often the service refused the API key";
        STORE_FAILURES: describe_counter Count, "article_collector_store_failures_total",
            "Failures of the store, by the call";
        RUNNING: describe_gauge Count, "article_collector_running",
            "Collectors that run";
        EXPECTED: describe_gauge Count, "article_collector_expected",
            "Jobs that were expected when health was last asked";
        OLDEST_EXPECTED: describe_gauge Seconds, "article_collector_oldest_expected_seconds",
            "Since when the oldest of them was";
        OVERDUE: describe_gauge Count, "article_collector_overdue",
            "How many of them were expected since 72 hours";
        UNKNOWN_INTENTS: describe_gauge Count, "article_collector_unknown_intents",
            "Orders with an unknown outcome";
        RECOVERED: describe_gauge Count, "article_collector_recovered",
            "Articles that came by the collection alone";
        PAUSED: describe_gauge Seconds, "article_collector_paused_seconds",
            "How long nothing would be asked or ordered";
        TOKENS: describe_gauge Count, "article_collector_tokens",
            "How many asks could be sent at once";
    }
}
