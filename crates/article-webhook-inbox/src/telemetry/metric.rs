//! The names of all metrics, for dashboards and alarms.
//!
//! They go to the application's recorder of the crate `metrics`, which may be installed before or after the inbox is
//! opened. Every label has few values: no job id, no target, no cause.
//!
//! | name | kind | unit | labels | when |
//! |---|---|---|---|---|
//! | `article_inbox_deliveries_total` | counter | count | `result` | a delivery was answered: `stored`, `duplicate`, `conflict_kept`, `conflict_not_kept`, `crowded`, or `unavailable` (503) |
//! | `article_inbox_record_duration_seconds` | histogram | seconds | | a delivery was answered: how long it waited for its commit |
//! | `article_inbox_arrived_after_seconds` | histogram | seconds | | a delivery brought the article of an order that a collector keeps: since when the job was expected. For articles that the API gave: `article_collector_collected_after_seconds` |
//! | `article_inbox_refused_total` | counter | count | `code` | an authentic delivery was refused, with the code that the sender was given |
//! | `article_inbox_claimed_total` | counter | count | | entries were leased to a worker, each for one attempt |
//! | `article_inbox_buried_total` | counter | count | | entries were given up at a claim, because their last attempt never ended |
//! | `article_inbox_expired_leases_total` | counter | count | | a claim found leases that had ended: a worker was killed, or cut off from the store |
//! | `article_inbox_handler_duration_seconds` | histogram | seconds | `ending` | a handler ended or was ended: `succeeded`, `failed`, `snoozed`, `gave_up`, `panicked` or `timed_out` |
//! | `article_inbox_attempts_total` | counter | count | `outcome` | the outcome of an attempt was stored: `done`, `retry`, `dead`, `unhandled`, `corrupt`, `snoozed` or `released` |
//! | `article_inbox_dead_total` | counter | count | | entries became dead by an attempt or at a claim; not those that an operator buried |
//! | `article_inbox_unreadable_total` | counter | count | | an attempt ended a job as unreadable: for 72 hours the API has given only bodies that cannot be decoded |
//! | `article_inbox_lost_leases_total` | counter | count | | the result of an attempt was dropped, because its lease was lost |
//! | `article_inbox_overdue_seconds` | gauge | seconds | | only when `health` is called: how long the oldest due entry has been due |
//! | `article_inbox_workers` | gauge | count | | a worker of the inbox began or ended: how many run now |
//! | `article_inbox_worker_failures_total` | counter | count | | a worker ended with an error, or was dropped before it was told to stop |
//! | `article_inbox_stuck_handlers` | gauge | count | | a worker checked for work: how many handlers of the inbox go on although their attempts were given up |
//! | `article_inbox_thread_failures_total` | counter | count | | the system could not start a thread for an attempt |
//! | `article_inbox_pruned_total` | counter | count | `what` | retention removed `bodies`, `entries` or `jobs` |
//! | `article_inbox_commit_group_size` | histogram | count | | a SQLite store committed: how many calls shared the sync of the disk |
//! | `article_inbox_commit_duration_seconds` | histogram | seconds | | a SQLite store committed: how long the disk took |
//! | `article_inbox_wal_bytes` | gauge | bytes | | a SQLite store looked at its write-ahead log: its size. Up to 64 MiB are kept for reuse; a larger log is held by a program that reads for long, or by the search of a large file after a start |
//! | `article_inbox_store_failures_total` | counter | count | `call` | the store failed: `record`, `claim`, `extend`, `settle`, `prune` or `expect`, and of a SQLite store also `begin` or `commit`, once for all calls that share it |
//! | `article_inbox_damage_total` | counter | count | `part` | a store found damage, in an `entry` or the `ledger`, and a SQLite store also in a `log`, an `index`, a `page` or a `body` |
//!
//! Call [`health`](crate::Inbox::health) at each scrape, so that the gauge `article_inbox_overdue_seconds` is current.
//! With several inboxes in one process, the gauges show the inbox that changed last.
//!
//! Set alarms for `unavailable` and `conflict_not_kept` deliveries, `dead` and `corrupt` outcomes, damage, lost leases, no running worker, failures of
//! workers, stuck handlers, and entries that are overdue for longer than a handler takes.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// Deliveries that were answered, by their result.
pub const DELIVERIES: &str = "article_inbox_deliveries_total";
/// How long deliveries waited for their commit.
pub const RECORD_DURATION: &str = "article_inbox_record_duration_seconds";
/// Since when the orders were expected whose articles were delivered.
pub const ARRIVED_AFTER: &str = "article_inbox_arrived_after_seconds";
/// Authentic deliveries that were refused, by the code that the sender was given.
pub const REFUSED: &str = "article_inbox_refused_total";
/// Entries leased to workers.
pub const CLAIMED: &str = "article_inbox_claimed_total";
/// Entries whose last attempt never ended.
pub const BURIED: &str = "article_inbox_buried_total";
/// Leases that ended unsettled.
pub const EXPIRED_LEASES: &str = "article_inbox_expired_leases_total";
/// How long handlers took, by how they ended.
pub const HANDLER_DURATION: &str = "article_inbox_handler_duration_seconds";
/// Attempts, by their outcome.
pub const ATTEMPTS: &str = "article_inbox_attempts_total";
/// Entries given up by a worker.
pub const DEAD: &str = "article_inbox_dead_total";
/// Jobs that an attempt ended as unreadable.
pub const UNREADABLE: &str = "article_inbox_unreadable_total";
/// Attempts whose result was dropped.
pub const LOST_LEASES: &str = "article_inbox_lost_leases_total";
/// How long the oldest due entry has been due.
pub const OVERDUE: &str = "article_inbox_overdue_seconds";
/// Workers that run.
pub const WORKERS: &str = "article_inbox_workers";
/// Workers that ended with an error or were dropped.
pub const WORKER_FAILURES: &str = "article_inbox_worker_failures_total";
/// Handlers that go on although their attempts were given up.
pub const STUCK_HANDLERS: &str = "article_inbox_stuck_handlers";
/// Attempts for which there was no thread.
pub const THREAD_FAILURES: &str = "article_inbox_thread_failures_total";
/// What retention removed, by kind.
pub const PRUNED: &str = "article_inbox_pruned_total";
/// How many calls shared a sync of the disk.
pub const COMMIT_GROUP_SIZE: &str = "article_inbox_commit_group_size";
/// How long the disk took to commit.
pub const COMMIT_DURATION: &str = "article_inbox_commit_duration_seconds";
/// The size of the write-ahead log.
pub const WAL_BYTES: &str = "article_inbox_wal_bytes";
/// Failures of the store, by the call.
pub const STORE_FAILURES: &str = "article_inbox_store_failures_total";
/// Damage that a store found in its files, by the part that is damaged.
pub const DAMAGE: &str = "article_inbox_damage_total";

/// Gives the recorder the unit and the meaning of each metric. Call it once the recorder is installed, if the recorder
/// shows them.
///
/// ```
/// article_webhook_inbox::metric::describe();
/// ```
pub fn describe() {
    let count = |name, meaning: &'static str| describe_counter!(name, Unit::Count, meaning);
    let time = |name, meaning: &'static str| describe_histogram!(name, Unit::Seconds, meaning);
    count(DELIVERIES, "deliveries that were answered, by their result");
    time(RECORD_DURATION, "how long deliveries waited for their commit");
    time(ARRIVED_AFTER, "since when the orders were expected whose articles were delivered");
    count(REFUSED, "authentic deliveries that were refused, by the code that the sender was given");
    count(CLAIMED, "entries leased to workers, each for one attempt");
    count(BURIED, "entries given up at a claim, because their last attempt never ended");
    count(
        EXPIRED_LEASES,
        "leases that ended unsettled: a worker was killed or cut off from the store",
    );
    time(HANDLER_DURATION, "how long handlers took, by how they ended");
    count(ATTEMPTS, "attempts, by their outcome");
    count(DEAD, "entries given up by a worker");
    count(UNREADABLE, "jobs of which the API gave only bodies that cannot be decoded for 72 hours");
    count(LOST_LEASES, "attempts whose result was dropped, because their lease was lost");
    let meaning = "how long the oldest due entry had been due when health was last asked";
    describe_gauge!(OVERDUE, Unit::Seconds, meaning);
    describe_gauge!(WORKERS, Unit::Count, "workers that run");
    count(WORKER_FAILURES, "workers that ended with an error or were dropped");
    describe_gauge!(STUCK_HANDLERS, Unit::Count, "handlers that go on although they were given up");
    count(THREAD_FAILURES, "attempts for which the system gave no thread");
    count(PRUNED, "what retention removed, by kind");
    describe_histogram!(COMMIT_GROUP_SIZE, Unit::Count, "how many calls shared a sync of the disk");
    time(COMMIT_DURATION, "how long the disk took to commit");
    describe_gauge!(WAL_BYTES, Unit::Bytes, "the size of a SQLite store's write-ahead log");
    count(STORE_FAILURES, "failures of the store, by the call");
    count(DAMAGE, "damage that a store found in its files, by the part that is damaged");
}
