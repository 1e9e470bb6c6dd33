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
//! | `article_collector_lost_leases_total` | counter | count | | the outcome of an ask was dropped, because the article came meanwhile, the job was forgotten, or its lease ended |
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

/// Orders, by their outcome.
pub const ORDERS: &str = "article_collector_orders_total";
/// Asks, by their answer.
pub const ASKS: &str = "article_collector_asks_total";
/// How long the API took.
pub const ASK_DURATION: &str = "article_collector_ask_duration_seconds";
/// Jobs that an ask ended, by their state.
pub const ENDED: &str = "article_collector_ended_total";
/// Since when the orders were expected whose articles were collected.
pub const COLLECTED_AFTER: &str = "article_collector_collected_after_seconds";
/// Asks whose outcome was dropped.
pub const LOST_LEASES: &str = "article_collector_lost_leases_total";
/// Asks that were given back unsent, because they came too late.
pub const LOST_TOKENS: &str = "article_collector_lost_tokens_total";
/// How often the service refused the API key.
pub const KEY_REFUSALS: &str = "article_collector_key_refusals_total";
/// Failures of the store, by the call.
pub const STORE_FAILURES: &str = "article_collector_store_failures_total";
/// Collectors that run.
pub const RUNNING: &str = "article_collector_running";
/// Jobs that are expected.
pub const EXPECTED: &str = "article_collector_expected";
/// Since when the oldest of them is.
pub const OLDEST_EXPECTED: &str = "article_collector_oldest_expected_seconds";
/// How many of them are expected since 72 hours.
pub const OVERDUE: &str = "article_collector_overdue";
/// Orders with an unknown outcome.
pub const UNKNOWN_INTENTS: &str = "article_collector_unknown_intents";
/// Articles that came by the collection alone.
pub const RECOVERED: &str = "article_collector_recovered";
/// How long nothing is asked or ordered.
pub const PAUSED: &str = "article_collector_paused_seconds";

/// How many asks may be sent at once.
pub const TOKENS: &str = "article_collector_tokens";

/// Gives the recorder the unit and the meaning of each metric. Call it once the recorder is installed, if the recorder
/// shows them.
///
/// ```
/// article_webhook_collector::metric::describe();
/// ```
pub fn describe() {
    let count = |name, meaning: &'static str| describe_counter!(name, Unit::Count, meaning);
    let time = |name, meaning: &'static str| describe_histogram!(name, Unit::Seconds, meaning);
    let level = |name, unit, meaning: &'static str| describe_gauge!(name, unit, meaning);
    count(ORDERS, "orders, by their outcome");
    count(ASKS, "asks of the API, by their answer");
    time(ASK_DURATION, "how long the API took to answer an ask");
    count(ENDED, "jobs that an ask ended, by their state");
    time(COLLECTED_AFTER, "since when the orders were expected whose articles were collected");
    count(LOST_LEASES, "asks whose outcome was dropped, because their lease was lost");
    count(LOST_TOKENS, "asks that were given back unsent, because they came too late");
    count(KEY_REFUSALS, "how often the service refused the API key");
    count(STORE_FAILURES, "failures of the store, by the call");
    level(RUNNING, Unit::Count, "collectors that run");
    level(EXPECTED, Unit::Count, "jobs that were expected when health was last asked");
    level(OLDEST_EXPECTED, Unit::Seconds, "since when the oldest of them was");
    level(OVERDUE, Unit::Count, "how many of them were expected since 72 hours");
    level(UNKNOWN_INTENTS, Unit::Count, "orders with an unknown outcome");
    level(RECOVERED, Unit::Count, "articles that came by the collection alone");
    level(PAUSED, Unit::Seconds, "how long nothing would be asked or ordered");
    level(TOKENS, Unit::Count, "how many asks could be sent at once");
}
