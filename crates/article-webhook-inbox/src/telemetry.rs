//! Metrics (feature `metrics`) and log events (feature `tracing`). Without the features nothing is compiled.
//!
//! No name, label or field contains a body, a token, the label of a target, or an intent. The error of a handler appears
//! in log events alone, as their field `cause`. A job id appears in log events alone, as a text: the subscriber escapes it,
//! as it does in the log of the receiver.

#![cfg_attr(
    not(all(feature = "metrics", feature = "tracing", feature = "sqlite", feature = "signal")),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "what shows them, or what calls them, is off"
    )
)]

mod rate_limit;

use std::time::{Duration, SystemTime};

use article_webhook::{
    DecodeError, Delivery, Drift, JobId, Refused,
    adapter::{SeenDrift, logged_cause},
};

use self::rate_limit::RateLimit;
use crate::{
    Digest, EntryKey, Error,
    call::{Claims, LedgerPruned, Outcome, Pruned, Quarantined, Recorded, Since},
};

/// A log event. All have one target, so that one filter selects them. After `limited LIMIT`, an event that can occur at any
/// rate is logged once in a while, with the number of those that were not.
macro_rules! log {
    (limited $limit:ident $level:ident: $($event:tt)+) => {
        #[cfg(feature = "tracing")]
        $limit.log(|not_logged| tracing::$level!(target: "article_webhook_inbox", not_logged, $($event)+))
    };
    ($level:ident: $($event:tt)+) => {
        #[cfg(feature = "tracing")]
        tracing::$level!(target: "article_webhook_inbox", $($event)+)
    };
}

/// Counts or measures. The recorder is looked up each time, because it may be installed after the inbox was opened.
macro_rules! measure {
    ($kind:ident($($metric:tt)+).$call:ident($value:expr)) => {
        #[cfg(feature = "metrics")]
        metrics::$kind!($($metric)+).$call($value)
    };
}

static FAILURES: RateLimit = RateLimit::per_second();
static DAMAGE: RateLimit = RateLimit::per_second();
static NO_THREAD: RateLimit = RateLimit::per_second();
static NOT_KEPT: RateLimit = RateLimit::per_second();
static OTHER_JOB: RateLimit = RateLimit::per_second();
static TOO_MANY_JOBS: RateLimit = RateLimit::per_minute();
static QUARANTINE_FULL: RateLimit = RateLimit::per_minute();
static STUCK: RateLimit = RateLimit::per_minute();
static WAL_GROWS: RateLimit = RateLimit::per_minute();

/// How many of many jobs a line names.
const MAX_NAMED_JOBS: usize = 5;

fn names(key: &EntryKey) -> (&str, &str) {
    (key.job_id.as_str(), key.event.as_str())
}

/// The name of an outcome: the state of the entry, or why it waits again.
fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Retry { .. } => "retry",
        Outcome::Dead { .. } => "dead",
        Outcome::Unhandled { .. } => "unhandled",
        Outcome::Corrupt { .. } => "corrupt",
        Outcome::Released => "released",
        Outcome::Snoozed { .. } => "snoozed",
    }
}

/// A delivery was answered after this time.
pub(crate) fn recorded(
    delivery: &Delivery,
    digest: Digest,
    recorded: &Result<Recorded, Error>,
    took: Duration,
) {
    let (job_id, event) = (delivery.job_id().as_str(), delivery.event().as_str());
    measure!(histogram(metric::RECORD_DURATION).record(took));
    let result = match recorded {
        Ok(Recorded::Stored) => {
            log!(debug: job_id, event, "delivery stored");
            "stored"
        }
        Ok(Recorded::Arrived { after }) => {
            measure!(histogram(metric::ARRIVED_AFTER).record(*after));
            log!(debug: job_id, event, "delivery stored");
            "stored"
        }
        Ok(Recorded::Duplicate) => {
            log!(debug: job_id, event, "delivery was stored before");
            "duplicate"
        }
        Ok(Recorded::Conflict { kept: true }) => {
            log!(info: job_id, event, %digest, "another body came for an entry that is stored: it is kept with the others");
            "conflict_kept"
        }
        Ok(Recorded::Conflict { kept: false }) => {
            log!(limited NOT_KEPT warn: job_id, event, %digest, "another body was acknowledged but not kept: the entry has four others, and a worker found one that decodes");
            "conflict_not_kept"
        }
        Ok(Recorded::OtherJob) => {
            log!(limited OTHER_JOB warn: job_id, event, "a delivery to the URL of an order was refused, because the order is for another job: has the URL leaked?");
            "other_job"
        }
        Ok(Recorded::BodyLimitReached) => {
            log!(warn: job_id, event, "a delivery was answered 503: its entry has no room for another body until a worker has read the stored ones");
            "body_limit_reached"
        }
        Err(error) => {
            store_failed("record", error);
            "unavailable"
        }
    };
    measure!(counter(metric::DELIVERIES, "result" => result).increment(1));
}

/// An authentic delivery was refused. The adapter has logged that.
pub(crate) fn refused(refused: &Refused) {
    measure!(counter(metric::REFUSED, "code" => refused.rejection().code()).increment(1));
}

/// A delivery reports that its job has failed.
pub(crate) fn reports_failure(job_id: &JobId, failure: &DecodeError) {
    let job_id = job_id.as_str();
    log!(warn: job_id, "a delivery reports that its job has failed, which the API must confirm: {failure}");
}

/// A body was to be kept in quarantine.
pub(crate) fn quarantined(job_id: &JobId, quarantined: &Result<Quarantined, Error>) {
    let job_id = job_id.as_str();
    match quarantined {
        Ok(quarantined) => {
            measure!(counter(metric::QUARANTINED, "result" => quarantined.name()).increment(1));
            match quarantined {
                Quarantined::Kept => {
                    log!(info: job_id, "a body is in quarantine, and its job is expected");
                }
                Quarantined::OtherJob { kept: true } => {
                    log!(info: job_id, "a body that came to the URL of an order is in quarantine, because the order is for another job");
                }
                Quarantined::OtherJob { kept: false } => {
                    log!(limited OTHER_JOB warn: job_id, "a body that came to the URL of an order is not kept, because the order is for another job, and two such bodies are kept or the budget for quarantine is used up");
                }
                Quarantined::TooManyJobs => {
                    log!(limited TOO_MANY_JOBS error: job_id, "a body that came to the URL of an order is not kept, and its job is not polled, because too many other jobs came to that URL. The URL has leaked. Look at the service, and call Collector::expect for the job that was ordered");
                }
                Quarantined::Duplicate | Quarantined::NotNeeded => {
                    log!(debug: job_id, "a refused body is not kept: the same body is in quarantine, or its job needs no article");
                }
                Quarantined::BudgetReached => {
                    log!(limited QUARANTINE_FULL error: job_id, "a refused body is not kept, because the budget for quarantine is used up. Its job is expected. Look at what is in quarantine, or raise Inbox::quarantine_budget");
                }
            }
        }
        Err(error) => store_failed("quarantine", error),
    }
}

/// The number of entries that are in quarantine.
pub(crate) fn in_quarantine(entries: usize) {
    let entries = u32::try_from(entries).unwrap_or(u32::MAX);
    measure!(gauge(metric::IN_QUARANTINE).set(entries));
}

/// This version reads what an earlier one refused.
pub(crate) fn decoded_again(key: &EntryKey) {
    let (job_id, event) = names(key);
    log!(info: job_id, event, "this version can read a body that was in quarantine: the body is an entry now");
}

/// A worker claimed entries.
pub(crate) fn claimed(claims: &Claims) {
    let discarded = claims.discarded.len() as u64;
    measure!(counter(metric::CLAIMED).increment(claims.claimed.len() as u64));
    measure!(counter(metric::DISCARDED).increment(discarded));
    measure!(counter(metric::DEAD).increment(discarded));
    measure!(counter(metric::EXPIRED_LEASES).increment(claims.expired.into()));
    // Registered with zero: an alarm on growth does not see a series that begins with one.
    measure!(counter(metric::LOST_LEASES).increment(0));
    measure!(counter(metric::THREAD_FAILURES).increment(0));

    for key in &claims.discarded {
        let (job_id, event) = names(key);
        log!(warn: job_id, event, "entry is dead: its last attempt did not end");
    }
    for claimed in claims.claimed.iter().filter(|claimed| claimed.runs_alone) {
        let (job_id, event) = names(&claimed.key);
        log!(info: job_id, event, attempt = claimed.attempt, "entry runs alone: its last attempts ended without a result, and may have crashed the process");
    }
    if claims.expired > 0 {
        log!(warn: leases = claims.expired, "leases ended without a result: was a worker killed?");
    }
}

/// Claims are paused, or are not any more.
pub(crate) fn paused(since: Option<&Since>, now: SystemTime) {
    if let Some(Since { at, by }) = since {
        let paused_for = now.duration_since(*at).unwrap_or_default();
        log!(warn: ?paused_for, by = by.as_deref(), "an operator or a salvage has paused claims: no worker gets an entry until `article-webhook inbox resume`");
    } else {
        log!(info: "the pause of claims has ended");
    }
}

/// An article differs from the service's document. The name of the field comes from an authentic sender, and is escaped.
pub(crate) fn drift(drift: &[Drift], seen: &SeenDrift, key: &EntryKey) {
    for difference in seen.see(drift) {
        let job_id = key.job_id.as_str();
        log!(warn: job_id, "a delivery differs from the service's document, logged once: {difference}");
    }
}

/// A handler ended after this time. Its outcome is not stored yet.
pub(crate) fn attempted(key: &EntryKey, attempt: u32, ending: &'static str, took: Duration) {
    let (job_id, event) = names(key);
    measure!(histogram(metric::HANDLER_DURATION, "ending" => ending).record(took));
    log!(debug: job_id, event, attempt, ending, ?took, "handler ended");
}

/// The outcome of an attempt is stored.
pub(crate) fn settled(key: &EntryKey, attempt: u32, outcome: &Outcome) {
    let ((job_id, event), name) = (names(key), outcome_name(outcome));
    measure!(counter(metric::ATTEMPTS, "outcome" => name).increment(1));
    match outcome {
        Outcome::Done => {
            log!(debug: job_id, event, attempt, "entry is done");
        }
        Outcome::Retry { after, cause: why } => {
            log!(warn: job_id, event, attempt, ?after, cause = %logged_cause(why), "attempt failed, and another will follow");
        }
        Outcome::Released => {
            log!(info: job_id, event, attempt, "entry is given back: the worker stops");
        }
        Outcome::Snoozed { after } => {
            log!(info: job_id, event, attempt, ?after, "entry is postponed, as the handler requested");
        }
        Outcome::Dead { cause: why }
        | Outcome::Unhandled { cause: why, .. }
        | Outcome::Corrupt { cause: why, .. } => {
            log!(warn: job_id, event, attempt, cause = %logged_cause(why), "entry is {name}: its cause is stored with it");
        }
    }
    if matches!(outcome, Outcome::Dead { .. }) {
        measure!(counter(metric::DEAD).increment(1));
    }
}

/// The job ended as unreadable.
pub(crate) fn unreadable(key: &EntryKey) {
    measure!(counter(metric::UNREADABLE).increment(1));
    let job_id = key.job_id.as_str();
    log!(error: job_id, "for 72 hours the API has given only bodies that cannot be decoded: the job is no longer polled, see its entry");
}

/// The result of an attempt is dropped.
pub(crate) fn lost_lease(key: &EntryKey, attempt: u32) {
    let (job_id, event) = names(key);
    measure!(counter(metric::LOST_LEASES).increment(1));
    log!(warn: job_id, event, attempt, "lease lost: the result of the attempt is dropped");
}

/// Retention removed a batch.
pub(crate) fn pruned(pruned: &Pruned, ledger: &LedgerPruned) {
    let (Pruned { bodies, entries, .. }, LedgerPruned { jobs, .. }) = (*pruned, *ledger);
    measure!(counter(metric::PRUNED, "what" => "bodies").increment(bodies.into()));
    measure!(counter(metric::PRUNED, "what" => "entries").increment(entries.into()));
    measure!(counter(metric::PRUNED, "what" => "jobs").increment(jobs.into()));
    if bodies + entries + jobs > 0 {
        log!(debug: bodies, entries, jobs, "retention removed old rows");
    }
}

/// How long the oldest due entry has been due.
pub(crate) fn overdue(age: Duration) {
    measure!(gauge(metric::OVERDUE).set(age));
    register_watched();
}

/// Registers with zero what alarms watch.
fn register_watched() {
    measure!(counter(metric::UNREADABLE).increment(0));
    #[cfg(feature = "metrics")]
    for (name, label, values) in metric::WATCHED {
        for value in values {
            measure!(counter(name, label => *value).increment(0));
        }
    }
}

/// A call of the store failed. Nothing else reports the error. The log event has no source of it, which may quote SQL.
pub(crate) fn store_failed(call: &'static str, error: &Error) {
    measure!(counter(metric::STORE_FAILURES, "call" => call).increment(1));
    log_store_failure(call, error);
}

/// A probe of the store ended in another way than the one before.
pub(crate) fn probed(probed: &Result<(), Error>) {
    match probed {
        Ok(()) => {
            log!(info: "a probe shows that deliveries can be stored again");
        }
        Err(error) => {
            log!(warn: "a probe shows that deliveries cannot be stored: {error}");
        }
    }
}

fn log_store_failure(call: &'static str, error: &Error) {
    if error.is_damaged() {
        log!(limited DAMAGE error: call, "the store is damaged: {error}");
    } else {
        log!(limited FAILURES warn: call, "the store failed: {error}");
    }
}

/// The store cannot commit now, for a reason that is new. The calls that fail by it are counted as they fail.
pub(crate) fn blocked(error: &Error) {
    log_store_failure("begin", error);
}

/// A group of calls failed, because the store cannot commit now.
pub(crate) fn failed_while_blocked() {
    measure!(counter(metric::STORE_FAILURES, "call" => "begin").increment(1));
}

/// The store can commit again.
pub(crate) fn unblocked() {
    log!(info: "the store commits again");
}

/// Damage was found in this part of the store. The finding names no body and no target.
pub(crate) fn damage_found(part: &'static str, finding: &str) {
    measure!(counter(metric::DAMAGE, "part" => part).increment(1));
    log!(error: part, "damage was found: {finding}");
}

/// Nothing records how far the inbox in this file was acknowledged, and it was not closed in order.
#[cfg(feature = "sqlite")]
pub(crate) fn nothing_recorded(path: &std::path::Path) {
    let path = path.display();
    log!(
        warn: "{path} was not closed cleanly, and {path}-lock does not record its last commit. If {path} is a copy that was \
        made without {path}-wal, the latest articles and orders may be missing: collect the jobs of that time, and restore the copy with \
        `article-webhook inbox restore`, so that no order is placed twice. If only the lock file was removed, \
        nothing is missing"
    );
}

/// The file is open, with tables of this version.
#[cfg(feature = "sqlite")]
pub(crate) fn opened(path: &std::path::Path, schema_version: i64) {
    log!(info: schema_version, "the inbox in {} is open", path.display());
}

/// The store opens this file once no other process uses it.
#[cfg(feature = "sqlite")]
pub(crate) fn waits_for_lock(path: &std::path::Path) {
    log!(warn: "another process uses {}: deliveries are answered 503 until it has ended", path.display());
}

/// The wait for the other process is over.
#[cfg(feature = "sqlite")]
pub(crate) fn has_waited(path: &std::path::Path, opened: Result<(), &Error>) {
    match opened {
        Ok(()) => {
            log!(info: "the other process that used {} has ended", path.display());
        }
        Err(error) => {
            log!(error: "after the wait for another process, {} cannot be opened: {error}", path.display());
        }
    }
}

/// The inbox is closed, and these jobs are expected that the store has not accepted. Some are kept until the next start.
pub(crate) fn expected_at_the_end<'a>(
    kept: usize,
    lost: impl Iterator<Item = &'a JobId>,
    dropped: u64,
) {
    if kept > 0 {
        log!(warn: "the store has not accepted {kept} jobs with a refused delivery: they are kept until the next start, which expects them");
    }
    let lost: Vec<_> = lost.map(|job| job.as_str().escape_debug().to_string()).collect();
    if lost.len() as u64 + dropped > 0 {
        let (jobs, count) = (lost.join(" "), lost.len());
        let others = if dropped == 0 {
            String::new()
        } else {
            format!(
                ". {dropped} others were dropped, because too many waited: their ids are not known"
            )
        };
        log!(
            error: %jobs, "the store has not accepted {count} jobs with a refused delivery, and they are not kept: collect them by \
            these ids{others}"
        );
    }
}

/// The file is where files are easily lost.
#[cfg(feature = "sqlite")]
pub(crate) fn easily_lost(path: &std::path::Path, why: &str) {
    log!(warn: "{} {why}", path.display());
}

/// What the next start would refuse, while the store is open.
#[cfg(feature = "sqlite")]
pub(crate) fn next_start_is_refused(why: &Error) {
    log!(warn: "the next start would be refused: {why}");
}

/// Damage was found after so much that it is no longer logged one by one.
pub(crate) fn more_damage_found(part: &'static str) {
    measure!(counter(metric::DAMAGE, "part" => part).increment(1));
    log!(limited DAMAGE error: part, "more damage was found: run `article-webhook inbox status --full`");
}

/// This many workers of an inbox run.
pub(crate) fn workers(running: u32) {
    measure!(gauge(metric::WORKERS).set(running));
    // Registered with zero, as above.
    measure!(counter(metric::WORKER_FAILURES).increment(0));
    register_watched();
}

/// A worker ends with an error.
pub(crate) fn worker_failed(error: &Error) {
    measure!(counter(metric::WORKER_FAILURES).increment(1));
    log!(error: "the worker has ended, and articles wait until another runs: {error}");
}

/// A worker was dropped before a stop was requested.
pub(crate) fn worker_dropped() {
    measure!(counter(metric::WORKER_FAILURES).increment(1));
    log!(warn: "the worker was dropped before a stop was requested: articles wait until another runs");
}

/// The program got a stop signal.
pub(crate) fn stopping() {
    log!(info: "the program stops once what is running has ended");
}

/// The failure of a job is due, and no worker has a handler for it.
pub(crate) fn failures_wait() {
    log!(warn: "jobs have failed, and no worker handles failures: add `Worker::on_failure`");
}

/// An entry has been due for this long, and no process claims it.
pub(crate) fn no_worker(age: Duration) {
    let seconds = age.as_secs();
    log!(warn: seconds, "no worker has claimed the oldest due entry for {seconds} s: run `inbox.worker(..)` in one of the processes that share the inbox");
}

/// An attempt is given up, and its handler goes on.
pub(crate) fn given_up(key: &EntryKey, attempt: u32) {
    let (job_id, event) = names(key);
    log!(warn: job_id, event, attempt, "attempt given up, but its handler goes on in its thread");
}

/// This many handlers go on, although their attempts were given up.
pub(crate) fn stuck_handlers(handlers: usize) {
    measure!(gauge(metric::STUCK_HANDLERS).set(u32::try_from(handlers).unwrap_or(u32::MAX)));
}

/// Too many of them go on, so nothing is claimed.
pub(crate) fn stuck(jobs: &[&EntryKey]) {
    let named =
        jobs.iter().take(MAX_NAMED_JOBS).map(|key| key.job_id.as_str().escape_debug().to_string());
    let (handlers, jobs) = (jobs.len(), named.collect::<Vec<_>>().join(" "));
    log!(limited STUCK error: handlers, %jobs, "no entry is claimed, because too many handlers still run whose attempts were given up: restart the program");
}

/// The system could not start a thread for an attempt.
pub(crate) fn no_thread() {
    measure!(counter(metric::THREAD_FAILURES).increment(1));
    log!(limited NO_THREAD warn: "the system refuses a thread for a handler: raise the limit of threads, or lower the worker's concurrency");
}

/// The write-ahead log has this size. Exact up to 2^53.
pub(crate) fn wal_bytes(bytes: u64) {
    measure!(gauge(metric::WAL_BYTES).set(bytes as f64));
}

/// The write-ahead log is too large, and could not be emptied.
pub(crate) fn log_grows(bytes: u64) {
    let mebibytes = bytes >> 20;
    log!(limited WAL_GROWS warn: mebibytes, "the write-ahead log cannot be emptied: look for a program that has been reading the database for a long time");
}

/// The clock is this far ahead of what the last process stored.
pub(crate) fn clock_is_ahead(by: Duration) {
    let days = by.as_secs() / 86_400;
    log!(warn: days, "the system's clock is far ahead of the last time that was stored: retention removes nothing for a day. If the inbox was not closed for that long, set the clock");
}

/// The clock was set back by this much while the store was open.
pub(crate) fn clock_was_set_back(by: Duration) {
    let minutes = by.as_secs() / 60;
    log!(warn: minutes, "the system's clock was set back: waits that began before are shortened");
}

/// This many calls became durable with one sync of the disk, in this time.
pub(crate) fn committed(calls: usize, took: Duration) {
    measure!(histogram(metric::COMMIT_GROUP_SIZE).record(u32::try_from(calls).unwrap_or(u32::MAX)));
    measure!(histogram(metric::COMMIT_DURATION).record(took));
    log!(trace: calls, ?took, "committed");
}

#[cfg(feature = "metrics")]
pub mod metric {
    //! The names of all metrics, for dashboards and alarms.
    //!
    //! They go to the application's recorder of the crate `metrics`, which may be installed before or after the inbox is
    //! opened. Every label has few values: no job id, no target, no cause.
    //!
    //! | name | kind | unit | labels | when |
    //! |---|---|---|---|---|
    //! | `article_inbox_deliveries_total` | counter | count | `result` | a delivery was answered: `stored`, `duplicate`, `conflict_kept`, `conflict_not_kept`, `other_job` (401: of another job than that of the order of its URL), `body_limit_reached`, or `unavailable` (503) |
    //! | `article_inbox_record_duration_seconds` | histogram | seconds | | a delivery was answered: how long it waited for its commit |
    //! | `article_inbox_arrived_after_seconds` | histogram | seconds | | a delivery brought the article of an order that a collector keeps: since when the job was expected. For articles that the API gave: `article_collector_collected_after_seconds` |
    //! | `article_inbox_refused_total` | counter | count | `code` | an authentic delivery was refused, with the code that the sender was given |
    //! | `article_inbox_quarantined_total` | counter | count | `result` | a body that was refused or reports a failure was `kept`, was there already (`duplicate`), is that of an article that is here (`not_needed`), or found no room (`budget_reached`); or it came to the URL of an order that is another job, and was kept (`other_job_kept`), or not (`other_job`), nor expected beside so many others (`too_many_jobs`) |
    //! | `article_inbox_in_quarantine` | gauge | count | | only when `health` is called: how many entries are in quarantine, at most 100 |
    //! | `article_inbox_claimed_total` | counter | count | | entries were leased to a worker, each for one attempt |
    //! | `article_inbox_discarded_total` | counter | count | | entries were given up at a claim, because their last attempt never ended |
    //! | `article_inbox_expired_leases_total` | counter | count | | a claim found leases that had ended: a worker was killed, or cut off from the store |
    //! | `article_inbox_handler_duration_seconds` | histogram | seconds | `ending` | a handler ended or was ended: `succeeded`, `failed`, `snoozed`, `gave_up`, `panicked` or `timed_out` |
    //! | `article_inbox_attempts_total` | counter | count | `outcome` | the outcome of an attempt was stored: `done`, `retry`, `dead`, `unhandled`, `corrupt`, `snoozed` or `released` |
    //! | `article_inbox_dead_total` | counter | count | | entries became dead by an attempt or at a claim; not those that an operator discarded |
    //! | `article_inbox_unreadable_total` | counter | count | | an attempt ended a job as unreadable: for 72 hours the API has given only bodies that cannot be decoded |
    //! | `article_inbox_lost_leases_total` | counter | count | | the result of an attempt was dropped, because its lease was lost |
    //! | `article_inbox_overdue_seconds` | gauge | seconds | | only when `health` is called: how long the oldest due entry has been due, also while claims are paused |
    //! | `article_inbox_workers` | gauge | count | | a worker of the inbox began or ended: how many run now |
    //! | `article_inbox_worker_failures_total` | counter | count | | a worker ended with an error, or was dropped before a stop was requested |
    //! | `article_inbox_stuck_handlers` | gauge | count | | a worker checked for work: how many handlers of the inbox go on although their attempts were given up |
    //! | `article_inbox_thread_failures_total` | counter | count | | the system could not start a thread for an attempt |
    //! | `article_inbox_pruned_total` | counter | count | `what` | retention removed `bodies`, `entries` or `jobs` |
    //! | `article_inbox_commit_group_size` | histogram | count | | a SQLite store committed: how many calls shared the sync of the disk |
    //! | `article_inbox_commit_duration_seconds` | histogram | seconds | | a SQLite store committed: how long the disk took |
    //! | `article_inbox_wal_bytes` | gauge | bytes | | a SQLite store looked at its write-ahead log: its size. Up to 64 MiB are kept for reuse; a larger log is held by a program that reads for long, or by the search of a large file after a start |
    //! | `article_inbox_store_failures_total` | counter | count | `call` | the store failed: `record`, `claim`, `extend`, `settle`, `prune`, `quarantine` or `expect`, and of a SQLite store also `begin` or `commit`, once for all calls that share it |
    //! | `article_inbox_damage_total` | counter | count | `part` | a store found damage, in an `entry` or the `ledger`, and a SQLite store also in a `log`, an `index`, a `page` or a `body`, or cannot write its `lock` |
    //!
    //! Call [`health`](crate::Inbox::health) at each scrape, so that the gauges `article_inbox_overdue_seconds` and
    //! `article_inbox_in_quarantine` are current.
    //! With several inboxes in one process, the gauges show the inbox that changed last.
    //!
    //! Counters that an alarm watches are 0 from the first call of [`health`](crate::Inbox::health), or from the start of a
    //! worker. Other labels, such as the codes of `article_inbox_refused_total`, are absent until they first occur.
    //!
    //! Set alarms for entries in quarantine, `unavailable` and `conflict_not_kept` deliveries, `dead` and `corrupt` outcomes, damage, lost leases, no running worker, failures of
    //! workers, stuck handlers, and entries that are overdue for longer than a handler takes.

    use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

    /// The series that alarms watch, by counter, label and values. They are registered with zero.
    pub(super) const WATCHED: [(&str, &str, &[&str]); 5] = [
        (DELIVERIES, "result", &["unavailable", "conflict_not_kept", "other_job"]),
        (
            QUARANTINED,
            "result",
            &["kept", "budget_reached", "other_job_kept", "other_job", "too_many_jobs"],
        ),
        (ATTEMPTS, "outcome", &["unhandled", "corrupt"]),
        (
            STORE_FAILURES,
            "call",
            &["record", "claim", "extend", "settle", "prune", "quarantine", "expect"],
        ),
        (DAMAGE, "part", &["entry", "ledger"]),
    ];

    /// Each metric once: its name, its kind and unit, and what it means.
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
            /// article_webhook_inbox::metric::describe();
            /// ```
            pub fn describe() {
                $($describe!($constant, Unit::$unit, $meaning);)+
            }
        };
    }

    metrics! {
        DELIVERIES: describe_counter Count, "article_inbox_deliveries_total",
            "Deliveries that were answered, by their result";
        RECORD_DURATION: describe_histogram Seconds, "article_inbox_record_duration_seconds",
            "How long deliveries waited for their commit";
        ARRIVED_AFTER: describe_histogram Seconds, "article_inbox_arrived_after_seconds",
            "How long orders had been expected when their articles were delivered";
        REFUSED: describe_counter Count, "article_inbox_refused_total",
            "Authentic deliveries that were refused, by the code that the sender was given";
        QUARANTINED: describe_counter Count, "article_inbox_quarantined_total",
            "Bodies that were refused or report a failure, by what became of them";
        IN_QUARANTINE: describe_gauge Count, "article_inbox_in_quarantine",
            "Entries in quarantine when health was last requested, at most 100";
        CLAIMED: describe_counter Count, "article_inbox_claimed_total",
            "Entries leased to workers, each for one attempt";
        DISCARDED: describe_counter Count, "article_inbox_discarded_total",
            "Entries given up at a claim, because their last attempt never ended";
        EXPIRED_LEASES: describe_counter Count, "article_inbox_expired_leases_total",
            "Leases that ended unsettled: a worker was killed or cut off from the store";
        HANDLER_DURATION: describe_histogram Seconds, "article_inbox_handler_duration_seconds",
            "How long handlers took, by how they ended";
        ATTEMPTS: describe_counter Count, "article_inbox_attempts_total",
            "Attempts, by their outcome";
        DEAD: describe_counter Count, "article_inbox_dead_total",
            "Entries given up by a worker";
        UNREADABLE: describe_counter Count, "article_inbox_unreadable_total",
            "Jobs of which the API gave only bodies that cannot be decoded for 72 hours";
        LOST_LEASES: describe_counter Count, "article_inbox_lost_leases_total",
            "Attempts whose result was dropped, because their lease was lost";
        OVERDUE: describe_gauge Seconds, "article_inbox_overdue_seconds",
            "How long the oldest due entry had been due when health was last requested";
        WORKERS: describe_gauge Count, "article_inbox_workers",
            "Workers that run";
        WORKER_FAILURES: describe_counter Count, "article_inbox_worker_failures_total",
            "Workers that ended with an error or were dropped";
        STUCK_HANDLERS: describe_gauge Count, "article_inbox_stuck_handlers",
            "Handlers that go on although they were given up";
        THREAD_FAILURES: describe_counter Count, "article_inbox_thread_failures_total",
            "Attempts for which the system gave no thread";
        PRUNED: describe_counter Count, "article_inbox_pruned_total",
            "What retention removed, by kind";
        COMMIT_GROUP_SIZE: describe_histogram Count, "article_inbox_commit_group_size",
            "How many calls shared a sync of the disk";
        COMMIT_DURATION: describe_histogram Seconds, "article_inbox_commit_duration_seconds",
            "How long the disk took to commit";
        WAL_BYTES: describe_gauge Bytes, "article_inbox_wal_bytes",
            "The size of a SQLite store's write-ahead log";
        STORE_FAILURES: describe_counter Count, "article_inbox_store_failures_total",
            "Failures of the store, by the call";
        DAMAGE: describe_counter Count, "article_inbox_damage_total",
            "Damage that a store found in its files, by the part that is damaged";
    }
}
