//! What the ledger knows of jobs, and how all rows of jobs are loaded together.

use article_webhook::JobId;
use article_webhook_inbox::{
    JobState,
    store::{
        JobRow, from_millis,
        tables::{Change, JobRows, Tracked, codec, script::Jobs},
        to_millis,
    },
};
use tokio_postgres::Row;

use super::{
    entries,
    value::{number, text, value},
};
use crate::{
    connection::{Statement, Transaction},
    fault::Fault,
    objects::{UNLOGGED, check_logged},
};

/// Where the names of jobs come from.
const NAMED: &str = "unnest($1::text[])";
const OF_ENTRIES: &str = "(SELECT DISTINCT job_id FROM article_inbox_entries WHERE id = ANY($1))";
const OF_EXPECTED: &str = "(SELECT DISTINCT job_id FROM article_inbox_jobs WHERE id = ANY($1))";

/// The ids that the statement before it has left on the server.
const DUE: &str = "current_setting('article_inbox.due')::bigint[]";

/// The lock of a job, whether anything is stored about it or not. The class is that of these tables, whatever their schema.
macro_rules! job_lock {
    ($lock:literal, $key:literal) => {
        concat!($lock, "('article_inbox_meta'::regclass::oid::int, ", $key, ")")
    };
}

pub(super) use job_lock;

/// Locks jobs in an order that is the same everywhere, so that no two transactions wait for each other.
fn lock(names: &str) -> String {
    format!(
        concat!(
            "SELECT ",
            job_lock!("pg_advisory_xact_lock", "key"),
            " FROM (SELECT DISTINCT hashtext(job_id) AS key FROM {} AS named (job_id) ORDER BY key) AS keys"
        ),
        names
    )
}

/// Without the bytes of bodies.
const NO_BYTES: &str = "NULL::bytea";

/// All rows of jobs: a row for each body, or for an entry or a job without any. Each is looked for by
/// itself (`OFFSET 0`): before the first statistics the server takes many rows for those of a job, and would read whole tables.
fn select(names: &str, bytes: &str) -> String {
    format!(
        "SELECT named.job_id, j.id, j.state, j.intent, j.expected_at, j.at, j.polls, j.fence, j.pushed_at, j.collected_at, \
         j.document, j.checksum, e.id, e.event, e.received_at, e.state, e.attempts, e.fence, e.at, e.lease_end, e.since, \
         e.document, e.checksum, b.slot, b.received_at, b.digest, b.document, b.checksum, octet_length(b.body)::bigint, \
         {bytes} FROM {names} AS named (job_id) \
         LEFT JOIN LATERAL (SELECT * FROM article_inbox_jobs AS j WHERE j.job_id = named.job_id OFFSET 0) AS j ON true \
         LEFT JOIN LATERAL (SELECT * FROM article_inbox_entries AS e WHERE e.job_id = named.job_id OFFSET 0) AS e ON true \
         LEFT JOIN LATERAL (SELECT * FROM article_inbox_bodies AS b WHERE b.entry = e.id OFFSET 0) AS b ON true"
    )
}

/// Selects the jobs of the entries that the statement before it has left on the server, with the bytes of the bodies of these.
pub(super) fn select_due() -> Statement {
    let bytes = format!("CASE WHEN e.id = ANY({DUE}) THEN b.body END");
    Statement::new(select(&OF_ENTRIES.replace("$1", DUE), &bytes))
}

/// The rows of these jobs.
pub(super) async fn load(tx: &mut Transaction<'_>, which: Jobs) -> Result<Vec<JobRows>, Fault> {
    let (names, wanted) = match which {
        Jobs::OfEntries(ids) => (OF_ENTRIES, Wanted::Ids(ids)),
        Jobs::OfExpected(ids) => (OF_EXPECTED, Wanted::Ids(ids)),
        Jobs::Named(mut names) => {
            names.sort_unstable();
            names.dedup();
            (NAMED, Wanted::Names(names.iter().map(ToString::to_string).collect()))
        }
    };
    let with = |statement: String| match wanted.clone() {
        Wanted::Ids(ids) => Statement::new(statement).with(ids),
        Wanted::Names(names) => Statement::new(statement).with(names),
    };
    let load = with(select(names, NO_BYTES));
    let rows = match (tx.is_read_only(), &wanted) {
        (true, _) => tx.query(load).await?,
        // What is known of an attempt is kept as well as the tables allow.
        (false, Wanted::Ids(_)) => {
            let [_, rows] = tx.query_all([with(lock(names)), load]).await?;
            rows
        }
        (false, Wanted::Names(_)) => {
            let unlogged = Statement::new(&**UNLOGGED);
            let [_, rows, unlogged] = tx.query_all([with(lock(names)), load, unlogged]).await?;
            check_logged(&unlogged)?;
            rows
        }
    };
    Ok(rows_of(tx, &rows))
}

/// Puts the rows of jobs together.
pub(super) fn rows_of(tx: &mut Transaction<'_>, rows: &[Row]) -> Vec<JobRows> {
    let (mut jobs, now): (Vec<JobRows>, _) = (Vec::new(), tx.now());
    for row in rows {
        // Nothing can be done for a job without a name.
        let Ok(job_id) = text(row, 0).parse::<JobId>() else { continue };
        let index = jobs.iter().rposition(|job| job.job_id == job_id);
        let index = index.unwrap_or_else(|| {
            let expected = expected(&job_id, row, tx);
            jobs.push(JobRows { expected, ..JobRows::none(job_id) });
            jobs.len() - 1
        });
        entries::add(&mut jobs[index], row, now);
    }
    for job in &mut jobs {
        job.entries.sort_by_key(|entry| entry.row.id);
        for entry in &mut job.entries {
            entry.bodies.sort_by_key(|body| body.id);
            if let Some(damage) = &entry.damage {
                let (id, job_id) = (entry.row.id, job.job_id.as_str().escape_debug());
                let finding =
                    format!("entry {id} of {job_id}: {damage}; deliver or collect the job again");
                tx.add_damage("entry", finding);
            }
        }
        job.sync_with_damage(now);
    }
    jobs
}

#[derive(Clone)]
enum Wanted {
    Ids(Vec<i64>),
    Names(Vec<String>),
}

/// What the ledger knows of a job.
fn expected(job_id: &JobId, row: &Row, tx: &mut Transaction<'_>) -> Tracked<JobRow> {
    let Some(id) = value(row, 1) else { return Tracked::none() };
    let time = |column| from_millis(number(row, column));
    let state = JobState::from_name(text(row, 2));
    let document = text(row, 10);
    let is_sound = number(row, 11) == checksum(job_id, document);
    let known = codec::row::<JobRow>(document).filter(|_| is_sound);
    if known.is_none() {
        tx.add_damage(
            "ledger",
            format!(
                "the job {} of the ledger: its checksum does not match; it is treated as {}",
                job_id.as_str().escape_debug(),
                state.unwrap_or_default(),
            ),
        );
    }
    let stored = JobRow {
        // That of a newer version is taken for one that is polled.
        state: state.unwrap_or_default(),
        intent: value::<&str>(row, 3).map(Into::into),
        expected_at: time(4),
        at: time(5),
        polls: u32::try_from(number(row, 6)).unwrap_or(u32::MAX),
        fence: number(row, 7),
        pushed_at: value(row, 8).map(from_millis),
        collected_at: value(row, 9).map(from_millis),
        ..known.unwrap_or_else(JobRow::unread)
    };
    let tracked = if state.is_some() { Tracked::stored } else { Tracked::of_newer };
    tracked(id, stored)
}

fn checksum(job_id: &JobId, document: &str) -> i64 {
    codec::checksum(&[job_id.as_str().as_bytes()], document)
}

const INSERT: &str = "WITH written AS (INSERT INTO article_inbox_jobs \
    (job_id, state, intent, expected_at, at, polls, fence, pushed_at, collected_at, document, checksum) \
    SELECT job_id, state, intent, expected_at, at, polls, fence, pushed_at, collected_at, document, checksum \
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
    $9::bigint[], $10::text[], $11::bigint[]) AS new \
    (job_id, state, intent, expected_at, at, polls, fence, pushed_at, collected_at, document, checksum) RETURNING 1)";

const UPDATE: &str = "WITH written AS (UPDATE article_inbox_jobs AS j SET state = new.state, intent = new.intent, expected_at = new.expected_at, \
    at = new.at, polls = new.polls, fence = new.fence, pushed_at = new.pushed_at, collected_at = new.collected_at, \
    document = new.document, checksum = new.checksum \
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
    $9::bigint[], $10::text[], $11::bigint[]) AS new \
    (job_id, state, intent, expected_at, at, polls, fence, pushed_at, collected_at, document, checksum) \
    WHERE j.job_id = new.job_id RETURNING 1)";

/// Saves what has changed in what the ledger knows of jobs.
pub(super) fn save(tx: &mut Transaction<'_>, jobs: &[JobRows]) {
    let (mut new, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    for job in jobs {
        match job.expected.change() {
            Change::Nothing => {}
            Change::Insert(row) => new.push((&job.job_id, row)),
            Change::Update(row) => changed.push((&job.job_id, row)),
            Change::Delete => removed.push(job.expected.id),
        }
    }
    for (statement, rows) in [(INSERT, new), (UPDATE, changed)] {
        if rows.is_empty() {
            continue;
        }
        let documents: Vec<_> = rows.iter().map(|(_, row)| codec::document(*row)).collect();
        let checksums = rows.iter().zip(&documents);
        let checksums =
            checksums.map(|((job_id, _), document)| checksum(job_id, document)).collect();
        let statement = Statement::new(statement)
            .with(rows.iter().map(|(job_id, _)| job_id.to_string()).collect::<Vec<_>>())
            .with(rows.iter().map(|(_, row)| row.state.as_str()).collect::<Vec<_>>())
            .with(
                rows.iter()
                    .map(|(_, row)| row.intent.as_deref().map(str::to_owned))
                    .collect::<Vec<_>>(),
            )
            .with(rows.iter().map(|(_, row)| to_millis(row.expected_at)).collect::<Vec<_>>())
            .with(rows.iter().map(|(_, row)| to_millis(row.at)).collect::<Vec<_>>())
            .with(rows.iter().map(|(_, row)| i64::from(row.polls)).collect::<Vec<_>>())
            .with(rows.iter().map(|(_, row)| row.fence).collect::<Vec<_>>())
            .with(rows.iter().map(|(_, row)| row.pushed_at.map(to_millis)).collect::<Vec<_>>())
            .with(rows.iter().map(|(_, row)| row.collected_at.map(to_millis)).collect::<Vec<_>>())
            .with(documents)
            .with::<Vec<i64>>(checksums);
        tx.write(statement, rows.len());
    }
    if !removed.is_empty() {
        let rows = removed.len();
        let remove =
            "WITH written AS (DELETE FROM article_inbox_jobs WHERE id = ANY($1) RETURNING 1)";
        tx.write(Statement::new(remove).with(removed), rows);
    }
}
