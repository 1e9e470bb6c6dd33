use std::time::SystemTime;

use article_webhook::{Event, JobId};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, types::ValueRef};

use super::{
    bit_repair::restored,
    checksum::checksum,
    damaged_entry::DamagedEntry,
    value::{
        self, Damaged, count_in, execute, integer_in, lossy, optional_integer_in, optional_text,
        optional_text_in, text, text_in, verify,
    },
};
use crate::{
    Entry, EntryKey, Failure, State,
    entry::FailureLine,
    rules::Row,
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
        statements::sql,
    },
    timestamp::{from_millis, to_millis},
};

/// An entry as it is stored. The rules change the row, and the rest stays.
#[derive(Debug, Clone)]
pub(in super::super) struct StoredRow {
    pub(in super::super) id: i64,
    pub(in super::super) key: EntryKey,
    pub(in super::super) received_at: SystemTime,
    pub(in super::super) row: Row,
}

/// How many columns are in the checksum.
pub(super) const COLUMNS: usize = 13;

/// The number of the first column after those of `sql::entry!`.
pub(in super::super) const AFTER_ENTRY: usize = COLUMNS + 1;

/// The values of the columns in the checksum, in the order of `sql::entry!`.
pub(super) type Columns<'a> = [ValueRef<'a>; COLUMNS];

/// Reads the row of an entry.
pub(in super::super) fn read(
    tx: &Connection,
    id: i64,
) -> Result<Option<Result<StoredRow, DamagedEntry>>, Fault> {
    let mut statement = tx.prepare_cached(sql::LOAD)?;
    let mut found = statement.query([id])?;
    found.next()?.map(stored).transpose()
}

/// Loads an entry. A damaged row is isolated, and is corrupt from now on.
pub(in super::super) fn load(tx: &Tx<'_>, id: i64) -> Result<Option<StoredRow>, Fault> {
    match read(tx, id)? {
        Some(Err(damaged)) => damaged.isolate(tx).map(Some),
        Some(Ok(stored)) => Ok(Some(stored)),
        None => Ok(None),
    }
}

/// Loads an entry by its key. Fails if the index leads to the row of another key.
pub(in super::super) fn find(tx: &Tx<'_>, key: &EntryKey) -> Result<Option<StoredRow>, Fault> {
    let Some(id) = find_id(tx, key)? else { return Ok(None) };
    let stored = load(tx, id)?.filter(|stored| stored.key == *key);
    stored.map(Some).ok_or_else(index_differs)
}

/// The id of an entry by its key, as the index says.
pub(in super::super) fn find_id(tx: &Connection, key: &EntryKey) -> Result<Option<i64>, Fault> {
    let mut statement = tx.prepare_cached(sql::FIND_ID)?;
    let key = [key.job_id.as_str(), key.event.as_str()];
    Ok(statement.query_row(key, |row| row.get(0)).optional()?)
}

/// Writes the row of an entry back.
pub(in super::super) fn save(tx: &Connection, stored: &StoredRow) -> Result<(), Fault> {
    write(tx, sql::SAVE, stored)
}

/// Writes an entry by a statement with the parameters of `sql::entry!`.
pub(super) fn write(tx: &Connection, statement: &str, stored: &StoredRow) -> Result<(), Fault> {
    write_with(tx, statement, stored, None)
}

/// Adds an entry and returns its id. `held` is the number of its bodies that have bytes.
pub(in super::super) fn add(
    tx: &Connection,
    key: &EntryKey,
    received_at: SystemTime,
    held: usize,
    row: Row,
) -> Result<i64, Fault> {
    let id = tx.prepare_cached(sql::NEXT_ID)?.query_row([], |row| row.get(0))?;
    let stored = StoredRow { id, key: key.clone(), received_at, row };
    let held = ValueRef::Integer(i64::try_from(held).unwrap_or(i64::MAX));
    write_with(tx, sql::ADD, &stored, Some(held))?;
    Ok(id)
}

fn write_with(
    tx: &Connection,
    statement: &str,
    stored: &StoredRow,
    last: Option<ValueRef<'_>>,
) -> Result<(), Fault> {
    let failures = failures_text(&stored.row.failures);
    let columns = columns(stored, failures.as_deref());
    let checksum = ValueRef::Integer(checksum(columns));
    execute(tx, statement, columns.into_iter().chain([checksum]).chain(last))
}

fn columns<'a>(stored: &'a StoredRow, failures: Option<&'a str>) -> Columns<'a> {
    let StoredRow { id, key, received_at, row } = stored;
    let time = |time| ValueRef::Integer(to_millis(time));
    [
        ValueRef::Integer(*id),
        text(key.job_id.as_str()),
        text(key.event.as_str()),
        time(*received_at),
        text(row.state.as_str()),
        ValueRef::Integer(row.attempts.into()),
        ValueRef::Integer(row.fence),
        time(row.at),
        time(row.since),
        ValueRef::Integer(row.interrupted.into()),
        ValueRef::Integer(row.conflicts.into()),
        optional_text(row.cause.as_deref()),
        optional_text(failures),
    ]
}

/// The entry in the columns of `sql::entry!`, or what can be read of it.
pub(in super::super) fn stored(
    found: &SqlRow<'_>,
) -> Result<Result<StoredRow, DamagedEntry>, Fault> {
    let (id, columns, checksum) = columns_in(found)?;
    let sound = sound(id, &columns).and_then(|stored| verify(columns, checksum).map(|()| stored));
    Ok(sound.map_err(|damaged| {
        let read = |columns: &Columns<'_>| self::sound(id, columns).ok();
        let key = restored(&columns, checksum, read).map(|stored| stored.key);
        DamagedEntry::new(id, &columns, damaged, key)
    }))
}

/// Whether [`stored`] is an entry. A row whose checksum matches is as it was written, so its values are not looked at.
pub(in super::super) fn is_sound(found: &SqlRow<'_>) -> Result<bool, Fault> {
    let (id, columns, checksum) = columns_in(found)?;
    Ok(match checksum {
        ValueRef::Null => sound(id, &columns).is_ok(),
        checksum => verify(columns, checksum).is_ok(),
    })
}

fn columns_in<'a>(found: &'a SqlRow<'_>) -> Result<(i64, Columns<'a>, ValueRef<'a>), Fault> {
    Ok((found.get(0)?, value::columns(found)?, found.get_ref(COLUMNS)?))
}

fn sound(id: i64, columns: &Columns<'_>) -> Result<StoredRow, Damaged> {
    let [
        _,
        job_id,
        event,
        received_at,
        state,
        attempts,
        fence,
        at,
        since,
        interrupted,
        conflicts,
        cause,
        failures,
    ] = *columns;
    let job_id: JobId = text_in(job_id, "job_id")?.parse().map_err(|_| "job_id")?;
    let key = EntryKey { job_id, event: Event::from(text_in(event, "event")?) };
    let received_at = from_millis(integer_in(received_at, "received_at")?);
    let state = State::from_name(text_in(state, "state")?).ok_or("state")?;
    let at = from_millis(integer_in(at, "at")?);
    let since = optional_integer_in(since, "since")?.map(from_millis);
    let interrupted = match interrupted {
        ValueRef::Null => 0,
        counted => count_in(counted, "interrupted")?,
    };
    let row = Row {
        state,
        attempts: count_in(attempts, "attempts")?,
        fence: integer_in(fence, "fence")?,
        at,
        since: since.unwrap_or_else(|| Row::assumed_since(state, received_at, at)),
        interrupted,
        conflicts: count_in(conflicts, "conflicts")?,
        cause: optional_text_in(cause, "cause")?.map(str::to_owned),
        failures: failures_in(failures)?,
    };
    Ok(StoredRow { id, key, received_at, row })
}

/// The entry as the inbox shows it, in the columns of `sql::shown!`. A damaged one is shown as corrupt.
pub(in super::super) fn entry(found: &SqlRow<'_>, tx: &Tx<'_>) -> Result<Entry, Fault> {
    let StoredRow { id, key, received_at, row } =
        stored(found)?.unwrap_or_else(|damaged| damaged.shown(tx));
    let target = lossy(found.get_ref(AFTER_ENTRY)?).unwrap_or_default();
    Ok(row.into_entry(id, key, received_at, target.into()))
}

/// The key of an entry, as text for a finding.
pub(in super::super) fn key_text(tx: &Tx<'_>, id: i64) -> Result<String, Fault> {
    let Some(found) = read(tx, id)? else { return Ok("of no job".to_owned()) };
    let stored = found.unwrap_or_else(|damaged| damaged.shown(tx));
    Ok(stored.key.to_string().escape_debug().to_string())
}

/// Counts again how many bodies of an entry have bytes.
pub(in super::super) fn count_held(tx: &Connection, id: i64) -> Result<(), Fault> {
    tx.prepare_cached(sql::COUNT_HELD)?.execute([id])?;
    Ok(())
}

/// Failures as a list in JSON; `None` if there are none.
fn failures_text(failures: &[Failure]) -> Option<String> {
    if failures.is_empty() {
        return None;
    }
    let lines: Vec<_> = failures.iter().cloned().map(FailureLine::from).collect();
    Some(serde_json::to_string(&lines).expect("numbers and texts are written as JSON"))
}

pub(super) fn failures_in(value: ValueRef<'_>) -> Result<Vec<Failure>, Damaged> {
    let Some(text) = optional_text_in(value, "failures")? else { return Ok(Vec::new()) };
    let lines: Vec<FailureLine> = serde_json::from_str(text).map_err(|_| "failures")?;
    Ok(lines.into_iter().map(Failure::from).collect())
}
