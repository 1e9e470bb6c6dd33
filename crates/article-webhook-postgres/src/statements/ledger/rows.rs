use article_webhook::JobId;
use article_webhook_inbox::{
    Digest, IntentState, JobState, Missing, Reason,
    store::{IntentRow, JobRow, from_millis, to_millis},
};
use tokio_postgres::{Row, types::Type};

use super::super::rows::{Damage, JOB_ID, count_in, name_of, or_damaged};
use crate::{connection::Transaction, fault::Fault};

/// The columns of a job, in the order in which [`stored_job`] reads them.
macro_rules! job {
    () => {
        "id, job_id, state, reason, intent, expected_at, at, asks, fence, missing, missing_since, pushed_at, collected_at, \
         returned, cause, key, unreadable_since"
    };
}

/// The columns of an intent, in the order in which [`stored_intent`] reads them.
macro_rules! intent {
    () => {
        "id, name, state, created_at, at, fence, job_id, forgotten"
    };
}

pub(super) use {intent, job};

/// The columns of jobs as parameters, in the order in which [`write_jobs`] gives them.
macro_rules! written {
    () => {
        "unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
         $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bytea[], $16::text[])"
    };
}

const ADD_JOBS: &str = concat!(
    "INSERT INTO article_inbox_jobs (job_id, state, reason, intent, expected_at, at, asks, fence, missing, missing_since, \
     pushed_at, collected_at, key, unreadable_since, returned, cause) SELECT * FROM ",
    written!(),
    " ON CONFLICT (job_id) DO NOTHING RETURNING id"
);
const SAVE_JOBS: &str = concat!(
    "UPDATE article_inbox_jobs j SET state = w.state, reason = w.reason, intent = w.intent, expected_at = w.expected_at, \
     at = w.at, asks = w.asks, fence = w.fence, missing = w.missing, missing_since = w.missing_since, \
     pushed_at = w.pushed_at, collected_at = w.collected_at, key = w.key, unreadable_since = w.unreadable_since, \
     returned = w.returned, cause = w.cause FROM ",
    written!(),
    " AS w (job_id, state, reason, intent, expected_at, at, asks, fence, missing, missing_since, pushed_at, collected_at, \
     key, unreadable_since, returned, cause) WHERE j.job_id = w.job_id RETURNING j.id"
);
const ADD_INTENT: &str = "INSERT INTO article_inbox_intents (name, state, created_at, at, fence, job_id, forgotten) \
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO NOTHING RETURNING id";
const SAVE_INTENT: &str = "UPDATE article_inbox_intents SET state = $2, created_at = $3, at = $4, fence = $5, job_id = $6, \
    forgotten = $7 WHERE name = $1 RETURNING id";

/// A job as it is stored. The rules change the row, and the rest stays.
#[derive(Debug, Clone)]
pub(super) struct StoredJob {
    pub(super) id: i64,
    pub(super) job_id: JobId,
    pub(super) row: JobRow,
    /// The column that is damaged.
    pub(super) damage: Option<Damage>,
}

/// An intent as it is stored.
#[derive(Debug, Clone)]
pub(super) struct StoredIntent {
    pub(super) id: i64,
    pub(super) name: Box<str>,
    pub(super) row: IntentRow,
    /// The column that is damaged.
    pub(super) damage: Option<Damage>,
}

/// Every job and every intent, for a check.
pub(in super::super) const SCAN_JOBS: &str = concat!(
    "SELECT ",
    job!(),
    " FROM article_inbox_jobs WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3"
);
pub(in super::super) const SCAN_INTENTS: &str = concat!(
    "SELECT ",
    intent!(),
    " FROM article_inbox_intents WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3"
);

/// What is damaged of a job.
pub(in super::super) fn damage_of_job(found: &Row) -> Result<Option<String>, Fault> {
    let job = stored_job(found)?;
    Ok(job.damage.map(|column| job.finding(column, "restore it from a backup")))
}

/// What is damaged of an intent.
pub(in super::super) fn damage_of_intent(found: &Row) -> Result<Option<String>, Fault> {
    let StoredIntent { id, damage, .. } = stored_intent(found)?;
    let says = |column| {
        format!(
            "intent {id} of the ledger has a damaged row, in the column {column}: restore it from a backup"
        )
    };
    Ok(damage.map(says))
}

impl StoredJob {
    /// A sentence about a damaged column, and what comes of it.
    pub(super) fn finding(&self, column: Damage, what: &str) -> String {
        let (id, job_id) = (self.id, self.job_id.as_str().escape_debug());
        format!(
            "job {id} of the ledger, {job_id}, has a damaged row, in the column {column}: {what}"
        )
    }
}

/// Adds a job.
pub(super) async fn add_job(
    tx: &Transaction<'_>,
    job_id: &JobId,
    row: JobRow,
) -> Result<StoredJob, Fault> {
    let id = id(&write_jobs(tx, ADD_JOBS, &[(job_id, &row)]).await?)?;
    Ok(StoredJob { id, job_id: job_id.clone(), row, damage: None })
}

/// Adds jobs, by as many statements as one.
pub(super) async fn add_jobs(
    tx: &Transaction<'_>,
    jobs: &[(&JobId, &JobRow)],
) -> Result<(), Fault> {
    write_jobs(tx, ADD_JOBS, jobs).await.map(drop)
}

/// Writes the row of a job back.
pub(super) async fn save_job(tx: &Transaction<'_>, stored: &StoredJob) -> Result<(), Fault> {
    write_jobs(tx, SAVE_JOBS, &[(&stored.job_id, &stored.row)]).await.map(drop)
}

/// Fails if another transaction added one, or removed it: then this one begins anew.
async fn write_jobs(
    tx: &Transaction<'_>,
    statement: &str,
    jobs: &[(&JobId, &JobRow)],
) -> Result<Vec<Row>, Fault> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let rows = || jobs.iter().map(|(_, row)| *row);
    let ids: Vec<_> = jobs.iter().map(|(job_id, _)| job_id.as_str()).collect();
    let states: Vec<_> = rows().map(|row| row.state.as_str()).collect();
    let reasons: Vec<_> = rows().map(|row| row.reason.to_string()).collect();
    let intents: Vec<_> = rows().map(|row| row.intent.as_deref()).collect();
    let numbers: [fn(&JobRow) -> Option<i64>; 10] = [
        |row| Some(to_millis(row.expected_at)),
        |row| Some(to_millis(row.at)),
        |row| Some(row.asks.into()),
        |row| Some(row.fence),
        |row| row.missing.map(|missing| missing.times.into()),
        |row| row.missing.map(|missing| to_millis(missing.since)),
        |row| row.pushed_at.map(to_millis),
        |row| row.collected_at.map(to_millis),
        |row| row.key.map(u64::cast_signed),
        |row| row.unreadable_since.map(to_millis),
    ];
    let numbers = numbers.map(|number| rows().map(number).collect::<Vec<_>>());
    let returned: Vec<_> =
        rows().map(|row| row.returned.as_ref().map(|digest| &digest.as_bytes()[..])).collect();
    let causes: Vec<_> = rows().map(|row| row.cause.as_deref().map(without_nul)).collect();

    let mut parameters = vec![
        (&ids as _, Type::TEXT_ARRAY),
        (&states as _, Type::TEXT_ARRAY),
        (&reasons as _, Type::TEXT_ARRAY),
        (&intents as _, Type::TEXT_ARRAY),
    ];
    parameters.extend(numbers.iter().map(|numbers| (numbers as _, Type::INT8_ARRAY)));
    parameters.extend([(&returned as _, Type::BYTEA_ARRAY), (&causes as _, Type::TEXT_ARRAY)]);
    let written = tx.query(statement, &parameters).await?;
    if written.len() < jobs.len() { Err(Fault::Vanished) } else { Ok(written) }
}

fn id(rows: &[Row]) -> Result<i64, Fault> {
    Ok(rows.first().ok_or(Fault::Vanished)?.try_get(0)?)
}

/// The one character that a text in PostgreSQL cannot hold is replaced.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// The job in the columns of [`job!`]. What cannot be read of it is as it is for a new job.
pub(super) fn stored_job(found: &Row) -> Result<StoredJob, Fault> {
    let id: i64 = found.try_get(0)?;
    let mut damage = None;
    let asks = or_damaged(count_in(found, 7), "asks", &mut damage);
    let cause = or_damaged(found.try_get(14).ok(), "cause", &mut damage);
    let intent: Option<&str> = or_damaged(found.try_get(4).ok(), "intent", &mut damage);
    let reason = found.try_get(3).ok().and_then(|reason: &str| reason.parse().ok());
    let reason = reason.unwrap_or_else(|| {
        damage = Some("reason");
        Reason::OrderedElsewhere
    });
    let state = found.try_get(2).ok().and_then(JobState::from_name);
    let state = state.unwrap_or_else(|| {
        damage = Some("state");
        JobState::Expected
    });
    let job_id = found.try_get(1).ok().and_then(|job_id: &str| job_id.parse().ok());
    let job_id = job_id.unwrap_or_else(|| {
        damage = Some(JOB_ID);
        name_of("job", id)
    });
    let time = |column| Ok::<_, Fault>(from_millis(found.try_get(column)?));
    let optional =
        |column| Ok::<_, Fault>(found.try_get::<_, Option<i64>>(column)?.map(from_millis));
    let missing = match (count_in(found, 9), optional(10)?) {
        (Some(times), Some(since)) => Some(Missing { times, since }),
        _ => None,
    };
    let returned: Option<&[u8]> = found.try_get(13)?;
    let row = JobRow {
        state,
        reason,
        intent: intent.map(Into::into),
        expected_at: time(5)?,
        at: time(6)?,
        asks,
        fence: found.try_get(8)?,
        key: found.try_get::<_, Option<i64>>(15)?.map(i64::cast_unsigned),
        missing,
        pushed_at: optional(11)?,
        collected_at: optional(12)?,
        unreadable_since: optional(16)?,
        returned: returned.and_then(digest),
        cause,
    };
    Ok(StoredJob { id, job_id, row, damage })
}

fn digest(bytes: &[u8]) -> Option<Digest> {
    <[u8; 32]>::try_from(bytes).ok().map(Digest::from)
}

/// Adds an intent.
pub(super) async fn add_intent(
    tx: &Transaction<'_>,
    name: &str,
    row: IntentRow,
) -> Result<StoredIntent, Fault> {
    let id = write_intent(tx, ADD_INTENT, name, &row).await?;
    Ok(StoredIntent { id, name: name.into(), row, damage: None })
}

/// Writes the row of an intent back.
pub(super) async fn save_intent(tx: &Transaction<'_>, stored: &StoredIntent) -> Result<(), Fault> {
    write_intent(tx, SAVE_INTENT, &stored.name, &stored.row).await.map(drop)
}

async fn write_intent(
    tx: &Transaction<'_>,
    statement: &str,
    name: &str,
    row: &IntentRow,
) -> Result<i64, Fault> {
    let times = [row.created_at, row.at].map(to_millis);
    let job_id = row.job_id.as_ref().map(JobId::as_str);
    let forgotten: Vec<u8> = row.forgotten.iter().flat_map(|job| *job.as_bytes()).collect();
    let parameters = [
        (&name as _, Type::TEXT),
        (&row.state.as_str() as _, Type::TEXT),
        (&times[0] as _, Type::INT8),
        (&times[1] as _, Type::INT8),
        (&row.fence as _, Type::INT8),
        (&job_id as _, Type::TEXT),
        (&forgotten as _, Type::BYTEA),
    ];
    id(&tx.query(statement, &parameters).await?)
}

/// The intent in the columns of [`intent!`]. If its state cannot be read, one with a job was ordered, and the outcome of another
/// is unknown: it is not ordered again unless the application says so.
pub(super) fn stored_intent(found: &Row) -> Result<StoredIntent, Fault> {
    let id: i64 = found.try_get(0)?;
    let mut damage = None;
    let job_id = found.try_get::<_, Option<&str>>(6).ok().map(|job_id| job_id.map(str::parse));
    let job_id = or_damaged(job_id.and_then(|job_id| job_id.transpose().ok()), JOB_ID, &mut damage);
    let state = found.try_get(2).ok().and_then(IntentState::from_name);
    let state = state.unwrap_or_else(|| {
        damage = Some("state");
        if job_id.is_some() { IntentState::Ordered } else { IntentState::Ordering }
    });
    let name: &str = or_damaged(found.try_get(1).ok(), "name", &mut damage);
    let forgotten: &[u8] = found.try_get(7)?;
    let row = IntentRow {
        state,
        created_at: from_millis(found.try_get(3)?),
        at: from_millis(found.try_get(4)?),
        fence: found.try_get(5)?,
        job_id,
        forgotten: forgotten.chunks(32).filter_map(digest).collect(),
    };
    Ok(StoredIntent { id, name: name.into(), row, damage })
}
