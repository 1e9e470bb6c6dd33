//! Rows and what they stand for.

use std::time::{Duration, SystemTime};

use article_webhook::{Event, JobId};
use bytes::Bytes;
use rusqlite::{Connection, Row, types::ValueRef};

use super::{fault::Fault, sql};
use crate::{Body, Digest, Entry, Error, Key, Source, State};

/// A time as the database keeps it: milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn later(now: i64, by: Duration) -> i64 {
    now.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
}

pub(super) fn time(millis: i64) -> SystemTime {
    let since = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
    // Some systems end their calendar before the database does.
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

pub(super) fn key(id: i64, job_id: &str, event: &str) -> Result<Key, Fault> {
    let job_id: JobId = job_id.parse().map_err(|_| damaged(id, "job_id"))?;
    Ok(Key { job_id, event: Event::from(event) })
}

pub(super) fn state(id: i64, name: &str) -> Result<State, Fault> {
    State::from_name(name).ok_or_else(|| damaged(id, "state"))
}

/// Nine columns: id, job_id, event, state, attempts, received_at, at, conflicts, cause.
pub(super) fn entry(row: &Row<'_>) -> Result<Entry, Fault> {
    let id = row.get(0)?;
    Ok(Entry {
        id,
        key: key(id, text(row, 1)?, text(row, 2)?)?,
        state: state(id, text(row, 3)?)?,
        attempts: count(row.get(4)?),
        received_at: time(row.get(5)?),
        at: time(row.get(6)?),
        conflicts: count(row.get(7)?),
        cause: row.get(8)?,
    })
}

/// An entry's bodies, in the order they came.
pub(super) fn bodies(connection: &Connection, id: i64) -> Result<Vec<Body>, Fault> {
    let mut statement = connection.prepare_cached(sql::BODIES)?;
    let bodies = statement.query_and_then([id], |row| body(id, row))?;
    bodies.collect()
}

fn body(id: i64, row: &Row<'_>) -> Result<Body, Fault> {
    Ok(Body {
        received_at: time(row.get(0)?),
        source: Source::from_name(text(row, 1)?).ok_or_else(|| damaged(id, "source"))?,
        target: text(row, 2)?.into(),
        intent: row.get::<_, Option<String>>(3)?.map(Into::into),
        digest: digest(row.get_ref(4)?).ok_or_else(|| damaged(id, "digest"))?,
        bytes: bytes(row.get_ref(5)?).map(Bytes::copy_from_slice),
    })
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

/// A text without a copy of it.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, Fault> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

pub(super) fn count(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

fn damaged(id: i64, column: &str) -> Fault {
    Error::damaged(format!(
        "entry {id} is damaged: its {column} is none, restore a backup or remove it"
    ))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_down_and_never_overflow() {
        let start = SystemTime::UNIX_EPOCH;
        assert_eq!(millis(start + Duration::from_micros(1999)), 1);
        assert_eq!(millis(start - Duration::from_secs(1)), 0);
        assert_eq!(later(1, Duration::MAX), i64::MAX);
        assert_eq!(time(1), start + Duration::from_millis(1));
        assert_eq!(time(-1), start);
    }
}
