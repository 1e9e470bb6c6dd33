use std::time::SystemTime;

use article_webhook::JobId;
use rusqlite::{Connection, Row as SqlRow, types::ValueRef};

use super::{
    bit_repair::restored,
    checksum::checksum,
    value::{
        Damaged, cause, columns, count_in, digest, execute, integer_in, optional_integer_in,
        optional_text, optional_text_in, text, text_in, verify,
    },
};
use crate::{
    Digest, Source, State,
    call::{JobState, Missing, Reason},
    rules::{AskLane, JobRow},
    store::sqlite::{damage::Tx, fault::Fault, statements::sql::ledger as sql},
    timestamp::{from_millis, to_millis},
};

/// A job as it is stored. The rules change the row, and the rest stays.
#[derive(Debug, Clone)]
pub(in super::super) struct StoredJob {
    pub(in super::super) id: i64,
    pub(in super::super) job_id: JobId,
    pub(in super::super) row: JobRow,
}

/// A job whose row is damaged.
pub(in super::super) struct DamagedJob {
    pub(in super::super) id: i64,
    /// As much as can be read, if the job id can: it is what the row is from now on.
    pub(in super::super) readable: Option<StoredJob>,
    pub(in super::super) cause: String,
}

/// How many columns are in the checksum.
const COLUMNS: usize = 18;

type Columns<'a> = [ValueRef<'a>; COLUMNS];

/// Reads the row of a job.
pub(in super::super) fn read_job(
    tx: &Tx<'_>,
    id: i64,
) -> Result<Option<Result<StoredJob, DamagedJob>>, Fault> {
    let mut statement = tx.prepare_cached(sql::LOAD_JOB)?;
    let mut found = statement.query([id])?;
    found.next()?.map(|row| stored(row, tx.now())).transpose()
}

/// The ids of a job, as the index says. There is one, unless the index let in another.
pub(in super::super) fn job_ids(tx: &Connection, job_id: &JobId) -> Result<Vec<i64>, Fault> {
    let mut statement = tx.prepare_cached(sql::FIND_JOB)?;
    let ids = statement.query_map([job_id.as_str()], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Adds a job.
pub(in super::super) fn add_job(
    tx: &Connection,
    job_id: &JobId,
    row: JobRow,
) -> Result<StoredJob, Fault> {
    let id = tx.prepare_cached(sql::NEXT_ID)?.query_row([], |row| row.get(0))?;
    let stored = StoredJob { id, job_id: job_id.clone(), row };
    write(tx, sql::ADD_JOB, &stored)?;
    Ok(stored)
}

/// Writes the row of a job back.
pub(in super::super) fn save_job(tx: &Connection, stored: &StoredJob) -> Result<(), Fault> {
    write(tx, sql::SAVE_JOB, stored)
}

/// Writes a damaged row anew.
pub(in super::super) fn write_job_anew(tx: &Connection, stored: &StoredJob) -> Result<(), Fault> {
    write(tx, sql::MEND_JOB, stored)
}

/// The article's entry became corrupt, because its row is damaged: its job is expected again. A damaged row of the job is
/// left: what mends it looks at the entry.
pub(super) fn lose_article(tx: &Tx<'_>, job_id: &JobId) -> Result<(), Fault> {
    for id in job_ids(tx, job_id)? {
        let Some(Ok(mut stored)) = read_job(tx, id)? else { continue };
        let before = stored.row.clone();
        stored.row.sync_with_entry(State::Corrupt, Source::Webhook, tx.now());
        if stored.job_id == *job_id && stored.row != before {
            save_job(tx, &stored)?;
        }
    }
    Ok(())
}

/// The number of a lane in its column.
pub(in super::super) fn lane_number(lane: AskLane) -> i64 {
    match lane {
        AskLane::First => 0,
        AskLane::Again => 1,
        AskLane::Backfill => 2,
    }
}

fn lane_of(row: &JobRow) -> Option<i64> {
    row.state.is_open().then(|| lane_number(row.lane()))
}

fn write(tx: &Connection, statement: &str, stored: &StoredJob) -> Result<(), Fault> {
    let StoredJob { id, job_id, row } = stored;
    let reason = row.reason.to_string();
    let time = |time| ValueRef::Integer(to_millis(time));
    let optional = |at: Option<SystemTime>| at.map_or(ValueRef::Null, time);
    let columns: Columns<'_> = [
        ValueRef::Integer(*id),
        text(job_id.as_str()),
        text(row.state.as_str()),
        text(&reason),
        optional_text(row.intent.as_deref()),
        time(row.expected_at),
        time(row.at),
        ValueRef::Integer(row.asks.into()),
        ValueRef::Integer(row.fence),
        row.key.map_or(ValueRef::Null, |key| ValueRef::Integer(key.cast_signed())),
        row.missing.map_or(ValueRef::Null, |missing| ValueRef::Integer(missing.times.into())),
        optional(row.missing.map(|missing| missing.since)),
        optional(row.pushed_at),
        optional(row.collected_at),
        optional(row.unreadable_since),
        row.returned.as_ref().map_or(ValueRef::Null, |digest| ValueRef::Blob(digest.as_bytes())),
        optional_text(row.cause.as_deref()),
        lane_of(row).map_or(ValueRef::Null, ValueRef::Integer),
    ];
    let checksum = ValueRef::Integer(checksum(columns));
    execute(tx, statement, columns.into_iter().chain([checksum]))
}

/// The job in the columns of `sql::job!`, or what can be read of it.
fn stored(found: &SqlRow<'_>, now: SystemTime) -> Result<Result<StoredJob, DamagedJob>, Fault> {
    let (id, columns) = (found.get(0)?, columns(found)?);
    let checksum = found.get_ref(COLUMNS)?;
    let sound = sound(id, &columns).and_then(|stored| verify(columns, checksum).map(|()| stored));
    Ok(sound.map_err(|damaged| DamagedJob {
        id,
        readable: restored(&columns, checksum, |columns| self::sound(id, columns).ok())
            .or_else(|| readable(id, &columns, now)),
        cause: cause(damaged),
    }))
}

/// Whether [`read_job`] would find the row sound. A row whose checksum matches is as it was written.
pub(in super::super) fn is_job_sound(found: &SqlRow<'_>) -> Result<bool, Fault> {
    let columns: Columns<'_> = columns(found)?;
    Ok(match found.get_ref(COLUMNS)? {
        ValueRef::Null => sound(found.get(0)?, &columns).is_ok(),
        checksum => verify(columns, checksum).is_ok(),
    })
}

fn sound(id: i64, columns: &Columns<'_>) -> Result<StoredJob, Damaged> {
    let [
        _,
        job_id,
        state,
        reason,
        intent,
        expected_at,
        at,
        asks,
        fence,
        key,
        missing,
        missing_since,
        pushed_at,
        collected_at,
        unreadable_since,
        returned,
        cause,
        lane,
    ] = *columns;
    let time = |value, column| optional_integer_in(value, column).map(|at| at.map(from_millis));
    let row = JobRow {
        state: JobState::from_name(text_in(state, "state")?).ok_or("state")?,
        reason: text_in(reason, "reason")?.parse().map_err(|_| "reason")?,
        intent: optional_text_in(intent, "intent")?.map(Into::into),
        expected_at: from_millis(integer_in(expected_at, "expected_at")?),
        at: from_millis(integer_in(at, "at")?),
        asks: count_in(asks, "asks")?,
        fence: integer_in(fence, "fence")?,
        key: optional_integer_in(key, "key")?.map(i64::cast_unsigned),
        missing: missing_in(missing, missing_since)?,
        pushed_at: time(pushed_at, "pushed_at")?,
        collected_at: time(collected_at, "collected_at")?,
        unreadable_since: time(unreadable_since, "unreadable_since")?,
        returned: returned_in(returned)?,
        cause: optional_text_in(cause, "cause")?.map(str::to_owned),
    };
    if optional_integer_in(lane, "lane")? != lane_of(&row) {
        return Err("lane");
    }
    let job_id = text_in(job_id, "job_id")?.parse().map_err(|_| "job_id")?;
    Ok(StoredJob { id, job_id, row })
}

/// As much of a damaged row as can be read. What it waits for begins now: no lease holds, and nothing lies ahead.
fn readable(id: i64, columns: &Columns<'_>, now: SystemTime) -> Option<StoredJob> {
    let [
        _,
        job_id,
        state,
        reason,
        intent,
        expected_at,
        at,
        asks,
        fence,
        key,
        missing,
        missing_since,
        pushed_at,
        collected_at,
        unreadable_since,
        returned,
        cause,
        _,
    ] = *columns;
    let job_id: JobId = text_in(job_id, "job_id").ok()?.parse().ok()?;
    let time = |value| integer_in(value, "").ok().map(from_millis);
    let state = text_in(state, "state").ok().and_then(JobState::from_name);
    let mut row = JobRow {
        state: state.unwrap_or(JobState::Expected),
        reason: text_in(reason, "")
            .ok()
            .and_then(|reason| reason.parse().ok())
            .unwrap_or(Reason::OrderedElsewhere),
        intent: optional_text_in(intent, "").ok().flatten().map(Into::into),
        expected_at: time(expected_at).unwrap_or(now).min(now),
        at: time(at).unwrap_or(now).min(now),
        asks: count_in(asks, "").unwrap_or_default(),
        // Greater than any number that asks have counted to, so that the fence of no earlier lease comes again.
        fence: integer_in(fence, "").unwrap_or_default().max(to_millis(now)),
        key: integer_in(key, "").ok().map(i64::cast_unsigned),
        missing: missing_in(missing, missing_since).unwrap_or_default(),
        pushed_at: time(pushed_at),
        collected_at: time(collected_at),
        unreadable_since: time(unreadable_since),
        returned: returned_in(returned).unwrap_or_default(),
        cause: optional_text_in(cause, "").ok().flatten().map(str::to_owned),
    };
    row.restart(now);
    Some(StoredJob { id, job_id, row })
}

fn missing_in(times: ValueRef<'_>, since: ValueRef<'_>) -> Result<Option<Missing>, Damaged> {
    let since = optional_integer_in(since, "missing_since")?.map(from_millis);
    match (times, since) {
        (ValueRef::Null, None) => Ok(None),
        (times, Some(since)) => Ok(Some(Missing { times: count_in(times, "missing")?, since })),
        _ => Err("missing"),
    }
}

fn returned_in(value: ValueRef<'_>) -> Result<Option<Digest>, Damaged> {
    match value {
        ValueRef::Null => Ok(None),
        value => digest(value).map(Some).ok_or("returned"),
    }
}
