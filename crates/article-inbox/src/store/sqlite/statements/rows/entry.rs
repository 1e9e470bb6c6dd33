use std::time::SystemTime;

use article_webhook::{Event, JobId};
use rusqlite::{Connection, OptionalExtension, Params, Row as SqlRow, types::ValueRef};

use super::{
    checksum::checksum,
    value::{count, damaged, execute, lossy, optional_text, text, text_in, verify},
};
use crate::{
    Entry, EntryKey, Failure, State,
    entry::FailureLine,
    rules::Row,
    store::sqlite::{fault::Fault, statements::sql},
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
const COLUMNS: usize = 13;

/// Loads an entry by a statement that selects it.
pub(in super::super) fn load(
    tx: &Connection,
    statement: &str,
    parameters: impl Params,
) -> Result<Option<StoredRow>, Fault> {
    let mut statement = tx.prepare_cached(statement)?;
    let mut found = statement.query(parameters)?;
    found.next()?.map(stored).transpose()
}

/// Loads an entry by its key.
pub(in super::super) fn find(tx: &Connection, key: &EntryKey) -> Result<Option<StoredRow>, Fault> {
    load(tx, sql::FIND, [key.job_id.as_str(), key.event.as_str()])
}

/// Writes the row of an entry back.
pub(in super::super) fn save(tx: &Connection, stored: &StoredRow) -> Result<(), Fault> {
    let failures = failures_text(&stored.row.failures);
    let columns = columns(stored, failures.as_deref());
    let checksum = ValueRef::Integer(checksum(columns));
    execute(tx, sql::SAVE, columns.into_iter().chain([checksum]))
}

/// Adds an entry and returns its id. `held` is the number of its bodies that have bytes.
pub(in super::super) fn add(
    tx: &Connection,
    key: &EntryKey,
    received_at: SystemTime,
    held: usize,
    row: Row,
) -> Result<i64, Fault> {
    let mut stored = StoredRow { id: 0, key: key.clone(), received_at, row };
    let failures = failures_text(&stored.row.failures);
    let [_, columns @ ..] = self::columns(&stored, failures.as_deref());
    let held = ValueRef::Integer(i64::try_from(held).unwrap_or(i64::MAX));
    execute(tx, sql::ADD, columns.into_iter().chain([held]))?;

    // The checksum contains the id.
    stored.id = tx.last_insert_rowid();
    let checksum = checksum(self::columns(&stored, failures.as_deref()));
    tx.prepare_cached(sql::ADD_CHECKSUM)?.execute([stored.id, checksum])?;
    Ok(stored.id)
}

/// The values of the columns in the checksum, in the order of `sql::entry!`.
fn columns<'a>(stored: &'a StoredRow, failures: Option<&'a str>) -> [ValueRef<'a>; COLUMNS] {
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

/// The entry in the columns of `sql::entry!`.
pub(in super::super) fn stored(found: &SqlRow<'_>) -> Result<StoredRow, Fault> {
    let id = found.get(0)?;
    verify(found, id, COLUMNS)?;
    let job_id: JobId = text_in(found, 1)?.parse().map_err(|_| damaged(id, "job_id"))?;
    let key = EntryKey { job_id, event: Event::from(text_in(found, 2)?) };
    let received_at = from_millis(found.get(3)?);
    let state = State::from_name(text_in(found, 4)?).ok_or_else(|| damaged(id, "state"))?;
    let at = from_millis(found.get(7)?);
    let since = found.get::<_, Option<i64>>(8)?.map(from_millis);
    let row = Row {
        state,
        attempts: count(found.get(5)?),
        fence: found.get(6)?,
        at,
        since: since.unwrap_or_else(|| Row::assumed_since(state, received_at, at)),
        interrupted: count(found.get::<_, Option<i64>>(9)?.unwrap_or_default()),
        conflicts: count(found.get(10)?),
        cause: lossy(found.get_ref(11)?),
        failures: failures_in(found.get_ref(12)?),
    };
    Ok(StoredRow { id, key, received_at, row })
}

/// The entry as the inbox shows it, in the columns of `sql::shown!`.
pub(in super::super) fn entry(found: &SqlRow<'_>) -> Result<Entry, Fault> {
    let StoredRow { id, key, received_at, row } = stored(found)?;
    let target = lossy(found.get_ref(COLUMNS + 1)?).unwrap_or_default();
    Ok(row.into_entry(id, key, received_at, target.into()))
}

/// The key of an entry, as text for a finding.
pub(in super::super) fn key_text(tx: &Connection, id: i64) -> Result<Option<String>, Fault> {
    let key = tx.prepare_cached(sql::KEY)?.query_row([id], |row| {
        Ok(format!("{} ({})", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    Ok(key.optional()?)
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

/// Failures are for people. If they are damaged, their entry is still processed.
fn failures_in(value: ValueRef<'_>) -> Vec<Failure> {
    let text = value.as_str_or_null().ok().flatten();
    let lines: Option<Vec<FailureLine>> = text.and_then(|text| serde_json::from_str(text).ok());
    lines.unwrap_or_default().into_iter().map(Failure::from).collect()
}
