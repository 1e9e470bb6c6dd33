//! What a claim takes, and when the next row is due.

use std::{collections::HashMap, time::SystemTime};

use article_webhook_inbox::{
    Since,
    store::{
        Claim, Events, from_millis,
        tables::{
            JobRows,
            script::{LoadedBody, Next},
        },
        to_millis,
    },
};
use tokio_postgres::Row;

use super::{
    entries,
    jobs::{self, job_lock},
    select::since_of,
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

/// The ranges of the index of entries that wait: of failures and of all others, new ones and those that had an attempt.
macro_rules! ranges {
    () => {
        "(VALUES (false, false), (false, true), (true, false), (true, true)) AS r (is_failure, is_retry)"
    };
}

/// When the next entry of each range is due, other than those of these ids, and when the next lease ends.
macro_rules! next {
    ($left_out:literal, $from:literal) => {
        concat!(
            "SELECT r.is_failure, e.at FROM ",
            $from,
            ranges!(),
            " CROSS JOIN LATERAL (SELECT at FROM article_inbox_entries AS e WHERE state = 'waiting' \
             AND e.is_failure = r.is_failure AND e.is_retry = r.is_retry AND id <> ALL(",
            $left_out,
            ") ORDER BY at LIMIT 1) AS e UNION ALL SELECT r.is_failure, e.lease_end FROM ",
            $from,
            "(VALUES (false), (true)) AS r (is_failure) CROSS JOIN LATERAL (SELECT lease_end FROM article_inbox_entries AS e \
             WHERE state = 'leased' AND e.is_failure = r.is_failure AND id <> ALL(",
            $left_out,
            ") ORDER BY lease_end LIMIT 1) AS e"
        )
    };
}

/// Takes entries that are due in the order of [`Claim::order`], and leaves their ids on the server for the statement that is sent
/// with it. What another transaction has locked is left, and so are entries of jobs that another transaction has locked: a claim
/// waits for nobody. Each range is read as far as the limit, so that few are locked that are not taken, and none while claims are
/// paused.
const DUE: &str = concat!(
    "WITH claim AS MATERIALIZED (SELECT ",
    now!(),
    " AS now, value AS paused, set_by, CASE value WHEN 0 THEN $2 ELSE 0 END AS wanted FROM article_inbox_meta WHERE name = 'paused'), \
     waiting AS MATERIALIZED (SELECT e.id, e.job_id, e.at, r.is_retry <> $4 AS turn FROM ",
    ranges!(),
    " CROSS JOIN LATERAL (SELECT id, job_id, at FROM article_inbox_entries AS e WHERE state = 'waiting' \
     AND e.is_failure = r.is_failure AND e.is_retry = r.is_retry AND at <= (SELECT now FROM claim) \
     ORDER BY at, id LIMIT (SELECT wanted FROM claim) FOR UPDATE SKIP LOCKED) AS e WHERE $3 OR NOT r.is_failure), \
     expired AS MATERIALIZED (SELECT e.id, e.job_id, e.at, NOT $4 AS turn FROM (VALUES (false), (true)) AS r (is_failure) \
     CROSS JOIN LATERAL (SELECT id, job_id, lease_end AS at FROM article_inbox_entries AS e WHERE state = 'leased' \
     AND e.is_failure = r.is_failure AND lease_end <= (SELECT now FROM claim) \
     ORDER BY lease_end, id LIMIT (SELECT wanted FROM claim) FOR UPDATE SKIP LOCKED) AS e WHERE $3 OR NOT r.is_failure), \
     due AS MATERIALIZED (SELECT * FROM waiting UNION ALL SELECT * FROM expired ORDER BY turn, at, id LIMIT $2), \
     found AS MATERIALIZED (SELECT coalesce(array_agg(id ORDER BY turn, at, id), '{}') AS ids FROM due WHERE ",
    job_lock!("pg_try_advisory_xact_lock", "hashtext(job_id)"),
    "), next AS MATERIALIZED (",
    next!("found.ids", "found, "),
    ") SELECT ids, (SELECT min(at) FROM next WHERE $3 OR NOT is_failure), (SELECT min(at) FROM next WHERE is_failure), paused, \
     set_by, set_config('article_inbox.due', ids::text, true) FROM found, claim"
);

/// The same for entries of these events, or for failures alone.
const NEXT_ENTRY: &str =
    concat!("SELECT min(at) FROM (", next!("$1", ""), ") AS next WHERE $2 OR NOT is_failure");
const NEXT_FAILURE: &str =
    concat!("SELECT min(at) FROM (", next!("'{}'", ""), ") AS next WHERE is_failure");

/// When the next job is polled, other than those of these ids.
const NEXT_POLL: &str = "SELECT min(at) FROM (SELECT at FROM article_inbox_jobs WHERE state IN ('expected', 'polling') \
    AND id <> ALL($1) ORDER BY at LIMIT 1) AS next";

/// When entries are looked for again that are due, and that another transaction holds.
const LOCKED_RETRY_MILLIS: i64 = 50;

/// What a claim has found: the entries that are due, their jobs and their bodies.
pub(super) struct Due {
    pub(super) ids: Vec<i64>,
    pub(super) jobs: Vec<JobRows>,
    pub(super) bodies: HashMap<i64, Vec<LoadedBody>>,
    /// Since when claims are paused.
    pub(super) paused: Option<Since>,
    /// When the next entry is due that was not found, and when the next failure is.
    next: Option<i64>,
    failure: Option<i64>,
}

impl Due {
    /// Takes what is due, in one round trip.
    pub(super) async fn find(tx: &mut Transaction<'_>, claim: &Claim) -> Result<Self, Fault> {
        let due = Statement::new(DUE)
            .with(tx.given_time())
            .with(i64::from(claim.limit))
            .with(claim.events == Events::All)
            .with(claim.retries_first);
        let [due, rows] = tx.query_all([due, jobs::select_due()]).await?;
        let (jobs, bodies) = (jobs::rows_of(tx, &rows), entries::bodies_of_jobs(&rows));
        let due = first(&due)?;
        let ids: Vec<i64> = due.try_get(0)?;
        let is_limited = ids.len() == claim.limit as usize;
        let has_name = |id: &i64| jobs.iter().any(|job| job.entry_of(*id).is_some());
        let (ids, nameless): (Vec<_>, Vec<_>) = ids.into_iter().partition(has_name);
        entries::set_aside(tx, nameless);
        // What is due and was not found is held by another transaction.
        let now = to_millis(tx.now());
        let soon = |at| if at <= now && !is_limited { now + LOCKED_RETRY_MILLIS } else { at };
        let next = value(due, 1).map(soon);
        Ok(Self { ids, jobs, bodies, paused: since_of(due, [3, 4]), next, failure: value(due, 2) })
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
    which: Vec<Next>,
) -> Result<Vec<Option<SystemTime>>, Fault> {
    let mut times = Vec::with_capacity(which.len());
    for next in which {
        let select = match next {
            Next::Entry(events, left_out) => {
                Statement::new(NEXT_ENTRY).with(left_out).with(events == Events::All)
            }
            Next::Failure => Statement::new(NEXT_FAILURE),
            Next::Poll(left_out) => Statement::new(NEXT_POLL).with(left_out),
        };
        times.push(value(first(&tx.query(select).await?)?, 0).map(from_millis));
    }
    Ok(times)
}

/// Jobs that are due to be polled.
const JOBS: &str = concat!(
    "WITH due AS MATERIALIZED (SELECT id, job_id, at FROM article_inbox_jobs WHERE state IN ('expected', 'polling') AND at <= ",
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
