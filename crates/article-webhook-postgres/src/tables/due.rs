//! What a claim takes, and when the next row is due.

use std::{collections::HashMap, time::SystemTime};

use article_webhook_inbox::store::{
    Claim, Events, from_millis,
    tables::{
        JobRows,
        script::{LoadedBody, Next},
    },
    to_millis,
};
use tokio_postgres::Row;

use super::{
    entries,
    jobs::{self, job_lock},
    value::{number, value},
};
use crate::{
    connection::{Statement, Transaction, first},
    fault::Fault,
};

/// The time of the transaction, or that of a test's clock in the first parameter.
macro_rules! now {
    () => {
        "coalesce($1::bigint, floor(extract(epoch FROM now()) * 1000)::bigint)"
    };
}

/// The ranges of the index of entries that wait: new ones, and those that had an attempt. The second of each are failures.
const NEW: [&str; 2] = [
    "state = 'waiting' AND NOT is_failure AND NOT is_retry",
    "state = 'waiting' AND is_failure AND NOT is_retry",
];
const RETRIED: [&str; 2] = [
    "state = 'waiting' AND NOT is_failure AND is_retry",
    "state = 'waiting' AND is_failure AND is_retry",
];

/// How many of the ranges a claim takes from, and which leased entries.
fn of(events: Events) -> (usize, &'static str) {
    match events {
        Events::All => (2, "state = 'leased'"),
        Events::ExceptFailures => (1, "state = 'leased' AND NOT is_failure"),
    }
}

/// Takes entries that are due in the order of [`Claim::order`], and leaves their ids on the server for the statements that are
/// sent with it. What another transaction has locked is left, and so are entries of jobs that another transaction has locked: a
/// claim waits for nobody. The entries of the second turn are locked only if those of the first are too few, and none is while
/// claims are paused.
fn due(claim: &Claim) -> String {
    let (kinds, leased) = of(claim.events);
    let ranges =
        |ranges: &[&'static str]| ranges.iter().map(|range| (*range, "at")).collect::<Vec<_>>();
    let (new, mut retried) = (ranges(&NEW[..kinds]), ranges(&RETRIED[..kinds]));
    retried.push((leased, "lease_end"));
    let turns = if claim.retries_first { [retried, new] } else { [new, retried] };
    let mut sql = String::from(
        "WITH pause AS MATERIALIZED (SELECT value AS since FROM article_inbox_meta WHERE name = 'paused')",
    );
    for (turn, ranges) in turns.iter().enumerate() {
        let taken = if turn == 0 { "0" } else { "(SELECT count(*) FROM turn_0)" };
        let mut all = Vec::new();
        for (number, (range, at)) in ranges.iter().enumerate() {
            sql.push_str(&format!(
                concat!(
                    ", range_{turn}_{number} AS MATERIALIZED (SELECT id, job_id, {at} AS at FROM article_inbox_entries \
                     WHERE {range} AND {at} <= ",
                    now!(),
                    " ORDER BY {at}, id LIMIT (SELECT CASE since WHEN 0 THEN greatest($2 - {taken}, 0) ELSE 0 END FROM pause) \
                     FOR UPDATE SKIP LOCKED)"
                ),
                turn = turn, number = number, at = at, range = range, taken = taken
            ));
            all.push(format!("SELECT id, job_id, at, {turn} AS turn FROM range_{turn}_{number}"));
        }
        sql.push_str(&format!(", turn_{turn} AS MATERIALIZED ({})", all.join(" UNION ALL ")));
    }
    let failure = match claim.events {
        Events::All => "NULL::bigint".to_owned(),
        Events::ExceptFailures => next_failure(),
    };
    sql.push_str(&format!(
        concat!(
            ", due AS MATERIALIZED (SELECT * FROM turn_0 UNION ALL SELECT * FROM turn_1 ORDER BY turn, at, id LIMIT $2), \
             found AS MATERIALIZED (SELECT coalesce(array_agg(id ORDER BY turn, at, id), '{{}}') AS ids FROM due WHERE ",
            job_lock!("pg_try_advisory_xact_lock", "hashtext(job_id)"),
            ") SELECT ids, {}, {}, since, set_config('article_inbox.due', ids::text, true) FROM found, pause"
        ),
        next_entry(claim.events, "ids"),
        failure
    ));
    sql
}

/// When the next entry of these events is due, other than those of these ids.
fn next_entry(events: Events, left_out: &str) -> String {
    let (kinds, leased) = of(events);
    let waiting = NEW[..kinds].iter().chain(&RETRIED[..kinds]).map(|range| {
        format!(
            "(SELECT at FROM article_inbox_entries WHERE {range} AND id <> ALL({left_out}) ORDER BY at LIMIT 1)"
        )
    });
    let waiting = waiting.collect::<Vec<_>>().join(", ");
    format!(
        "least({waiting}, (SELECT min(lease_end) FROM article_inbox_entries WHERE {leased} AND id <> ALL({left_out})))"
    )
}

/// When the next failure is due.
fn next_failure() -> String {
    let [new, retried] = [NEW[1], RETRIED[1]].map(|range| {
        format!("(SELECT at FROM article_inbox_entries WHERE {range} ORDER BY at LIMIT 1)")
    });
    format!(
        "least({new}, {retried}, (SELECT min(lease_end) FROM article_inbox_entries WHERE state = 'leased' AND is_failure))"
    )
}

/// When entries are looked for again that are due, and that another transaction holds.
const HELD_MILLIS: i64 = 50;

/// What a claim has found: the entries that are due, their jobs and their bodies.
pub(super) struct Due {
    pub(super) ids: Vec<i64>,
    pub(super) jobs: Vec<JobRows>,
    pub(super) bodies: HashMap<i64, Vec<LoadedBody>>,
    /// Since when claims are paused, or 0.
    pub(super) paused: i64,
    /// When the next entry is due that was not found, and when the next failure is.
    next: Option<i64>,
    failure: Option<i64>,
}

impl Due {
    /// Takes what is due, in one round trip.
    pub(super) async fn find(tx: &mut Transaction<'_>, claim: &Claim) -> Result<Self, Fault> {
        let due = Statement::new(due(claim)).with(tx.given_time()).with(i64::from(claim.limit));
        let together = [due, jobs::select_due(), entries::select_bodies_of_due()];
        let [due, jobs, bodies] = tx.query_all(together).await?;
        let (jobs, bodies) = (jobs::rows_of(tx, &jobs), entries::loaded_bodies(&bodies));
        let due = first(&due)?;
        let ids: Vec<i64> = due.try_get(0)?;
        let is_limited = ids.len() == claim.limit as usize;
        let has_name = |id: &i64| jobs.iter().any(|job| job.entry_of(*id).is_some());
        let (ids, nameless): (Vec<_>, Vec<_>) = ids.into_iter().partition(has_name);
        entries::set_aside(tx, nameless);
        // What is due and was not found is held by another transaction.
        let now = to_millis(tx.now());
        let soon = |at| if at <= now && !is_limited { now + HELD_MILLIS } else { at };
        let next = value(due, 1).map(soon);
        Ok(Self { ids, jobs, bodies, paused: number(due, 3), next, failure: value(due, 2) })
    }

    /// When the next of these rows is due, if it is known: that is, if the claim took all that it found.
    pub(super) fn next(&self, which: &[Next]) -> Option<Vec<Option<SystemTime>>> {
        let next = |next: &Next| match next {
            Next::Entry(_, left_out) => (left_out.len() == self.ids.len()).then_some(self.next),
            Next::Failure => Some(self.failure),
            Next::Poll(_) => None,
        };
        which.iter().map(|which| next(which).map(|at| at.map(from_millis))).collect()
    }
}

/// When the next of these rows is due.
pub(super) async fn next(
    tx: &mut Transaction<'_>,
    which: &[Next],
) -> Result<Vec<Option<SystemTime>>, Fault> {
    let (mut columns, mut left_out) = (Vec::new(), Vec::new());
    for next in which {
        columns.push(match next {
            Next::Entry(events, ids) => {
                left_out.extend_from_slice(ids);
                next_entry(*events, "$1")
            }
            Next::Failure => next_failure(),
            Next::Poll(ids) => {
                left_out.extend_from_slice(ids);
                "(SELECT at FROM article_inbox_jobs WHERE state IN ('expected', 'asking') AND id <> ALL($1) \
                 ORDER BY at LIMIT 1)"
                    .to_owned()
            }
        });
    }
    let select = format!("SELECT $1::bigint[], {}", columns.join(", "));
    let rows = tx.query(Statement::new(select).with(left_out)).await?;
    let row = first(&rows)?;
    Ok((1..=which.len()).map(|column| value(row, column).map(from_millis)).collect())
}

/// Jobs that are due to be polled.
const JOBS: &str = concat!(
    "WITH due AS MATERIALIZED (SELECT id, job_id, at FROM article_inbox_jobs WHERE state IN ('expected', 'asking') AND at <= ",
    now!(),
    " ORDER BY at, id LIMIT $2 FOR UPDATE SKIP LOCKED) SELECT id FROM due WHERE ",
    job_lock!("pg_try_advisory_xact_lock", "hashtext(job_id)"),
    " ORDER BY at, id"
);

/// Takes jobs that are due to be polled.
pub(super) async fn jobs(tx: &mut Transaction<'_>, limit: u32) -> Result<Vec<i64>, Fault> {
    let due = Statement::new(JOBS).with(tx.given_time()).with(i64::from(limit));
    let rows: Vec<Row> = tx.query(due).await?;
    Ok(rows.iter().map(|row| number(row, 0)).collect())
}
