//! Rows of the tables, and the values that they hold.

use std::time::SystemTime;

use article_webhook::{Event, JobId};
use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Params, Row as SqlRow, params, types::ValueRef};

use super::sql;
use crate::{
    Body, Digest, Entry, EntryKey, Error, Source, State,
    rules::Row,
    store::sqlite::fault::Fault,
    timestamp::{from_millis, to_millis},
};

/// Slots for bodies per entry: more than [`MAX_BODIES`](crate::MAX_BODIES).
pub(super) const SLOTS: i64 = 16;

/// Loads the id and the row of an entry, by a statement that selects them.
pub(super) fn load(
    tx: &Connection,
    statement: &str,
    parameters: impl Params,
) -> Result<Option<(i64, Row)>, Fault> {
    let mut statement = tx.prepare_cached(statement)?;
    let mut found = statement.query(parameters)?;
    let Some(found) = found.next()? else {
        return Ok(None);
    };
    let id = found.get(0)?;
    Ok(Some((id, row(found, id, 1)?)))
}

/// Loads an entry by its key.
pub(super) fn find(tx: &Connection, key: &EntryKey) -> Result<Option<(i64, Row)>, Fault> {
    load(tx, sql::FIND, [key.job_id.as_str(), key.event.as_str()])
}

/// Writes a row back.
pub(super) fn save(tx: &Connection, id: i64, row: &Row) -> Result<(), Fault> {
    tx.prepare_cached(sql::SAVE)?.execute(params![
        id,
        row.state.as_str(),
        row.attempts,
        row.fence,
        to_millis(row.at),
        row.conflicts,
        row.cause.as_deref(),
    ])?;
    Ok(())
}

/// Adds an entry and returns its id. `held` is the number of its bodies that have bytes.
pub(super) fn add(
    tx: &Connection,
    key: &EntryKey,
    received_at: SystemTime,
    held: usize,
    row: &Row,
) -> Result<i64, Fault> {
    tx.prepare_cached(sql::ADD)?.execute(params![
        key.job_id.as_str(),
        key.event.as_str(),
        to_millis(received_at),
        held as i64,
        row.state.as_str(),
        row.attempts,
        row.fence,
        to_millis(row.at),
        row.conflicts,
        row.cause.as_deref(),
    ])?;
    Ok(tx.last_insert_rowid())
}

/// The entry in the columns id, job_id, event, received_at, and those of the row.
pub(super) fn entry(found: &SqlRow<'_>) -> Result<Entry, Fault> {
    let id = found.get(0)?;
    let key = key(id, text(found, 1)?, text(found, 2)?)?;
    Ok(row(found, id, 4)?.into_entry(id, key, from_millis(found.get(3)?)))
}

/// The row in the six columns from `first` on.
pub(super) fn row(found: &SqlRow<'_>, id: i64, first: usize) -> Result<Row, Fault> {
    Ok(Row {
        state: state(id, text(found, first)?)?,
        attempts: count(found.get(first + 1)?),
        fence: found.get(first + 2)?,
        at: from_millis(found.get(first + 3)?),
        conflicts: count(found.get(first + 4)?),
        cause: lossy(found.get_ref(first + 5)?),
    })
}

pub(super) fn key(id: i64, job_id: &str, event: &str) -> Result<EntryKey, Fault> {
    let job_id: JobId = job_id.parse().map_err(|_| damaged(id, "job_id"))?;
    Ok(EntryKey { job_id, event: Event::from(event) })
}

fn state(id: i64, name: &str) -> Result<State, Fault> {
    State::from_name(name).ok_or_else(|| damaged(id, "state"))
}

/// The bodies of an entry, in the order of their arrival.
pub(super) fn bodies(tx: &Connection, id: i64) -> Result<Vec<Body>, Fault> {
    let mut statement = tx.prepare_cached(sql::BODIES)?;
    let bodies = statement.query_and_then([id], |row| body(id, row))?;
    bodies.collect()
}

fn body(id: i64, row: &SqlRow<'_>) -> Result<Body, Fault> {
    Ok(Body {
        received_at: from_millis(row.get(0)?),
        source: Source::from_name(text(row, 1)?).ok_or_else(|| damaged(id, "source"))?,
        target: text(row, 2)?.into(),
        intent: row.get::<_, Option<String>>(3)?.map(Into::into),
        digest: digest(row.get_ref(4)?).ok_or_else(|| damaged(id, "digest"))?,
        bytes: bytes(row.get_ref(5)?).map(Bytes::copy_from_slice),
    })
}

/// Writes a body into a slot, over the one that is there.
pub(super) fn put_body(tx: &Connection, slot: i64, body: &Body) -> Result<(), Fault> {
    tx.prepare_cached(sql::PUT_BODY)?.execute(params![
        slot,
        to_millis(body.received_at),
        body.source.as_str(),
        &*body.target,
        body.intent.as_deref(),
        &body.digest.as_bytes()[..],
        body.bytes.as_deref(),
    ])?;
    Ok(())
}

/// Counts again how many bodies of an entry have bytes.
pub(super) fn count_held(tx: &Connection, id: i64) -> Result<(), Fault> {
    tx.prepare_cached(sql::COUNT_HELD)?.execute([id])?;
    Ok(())
}

/// The key of an entry, as text for a finding.
pub(super) fn key_text(tx: &Connection, id: i64) -> Result<Option<String>, Fault> {
    let key = tx.prepare_cached(sql::KEY)?.query_row([id], |row| {
        Ok(format!("{} ({})", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    Ok(key.optional()?)
}

pub(super) fn digest(value: ValueRef<'_>) -> Option<Digest> {
    let bytes: [u8; 32] = bytes(value)?.try_into().ok()?;
    Some(bytes.into())
}

pub(super) fn bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

/// A text, borrowed from the row.
pub(super) fn text<'a>(row: &'a SqlRow<'_>, column: usize) -> Result<&'a str, Fault> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// A text for people. If it is damaged, its entry is still processed.
fn lossy(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}

fn count(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

fn damaged(id: i64, column: &str) -> Fault {
    Error::damaged(format!(
        "entry {id} is damaged: its {column} is none, restore a backup or remove it"
    ))
    .into()
}
