use bytes::Bytes;
use rusqlite::{
    Connection, Row as SqlRow, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use super::checksum::checksum;
use crate::{Digest, Error, store::sqlite::fault::Fault};

/// Runs a statement with these parameters.
pub(super) fn execute<'a>(
    tx: &Connection,
    statement: &str,
    parameters: impl IntoIterator<Item = ValueRef<'a>>,
) -> Result<(), Fault> {
    let parameters = parameters.into_iter().map(ToSqlOutput::Borrowed);
    tx.prepare_cached(statement)?.execute(params_from_iter(parameters))?;
    Ok(())
}

/// Checks the first columns of a row against the checksum in the column after them. Without a checksum, which an earlier
/// version or a completion leaves, nothing is checked.
pub(super) fn verify(found: &SqlRow<'_>, id: i64, columns: usize) -> Result<(), Fault> {
    let ValueRef::Integer(expected) = found.get_ref(columns)? else {
        return Ok(());
    };
    let columns: Result<Vec<_>, _> = (0..columns).map(|column| found.get_ref(column)).collect();
    if checksum(columns?) == expected { Ok(()) } else { Err(damaged(id, "checksum")) }
}

pub(super) fn text(value: &str) -> ValueRef<'_> {
    ValueRef::Text(value.as_bytes())
}

pub(super) fn optional_text(value: Option<&str>) -> ValueRef<'_> {
    value.map_or(ValueRef::Null, text)
}

pub(in super::super) fn digest(value: ValueRef<'_>) -> Option<Digest> {
    let bytes: [u8; 32] = bytes(value)?.try_into().ok()?;
    Some(bytes.into())
}

pub(in super::super) fn bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    }
}

pub(super) fn copied(value: ValueRef<'_>) -> Option<Bytes> {
    bytes(value).map(Bytes::copy_from_slice)
}

/// A text, borrowed from the row.
pub(in super::super) fn text_in<'a>(row: &'a SqlRow<'_>, column: usize) -> Result<&'a str, Fault> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

/// A text for people. If it is damaged, its entry is still processed.
pub(in super::super) fn lossy(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => None,
    }
}

pub(super) fn count(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}

pub(super) fn damaged(id: i64, column: &str) -> Fault {
    Error::damaged(format!(
        "entry {id} is damaged: its {column} is none, restore a backup or remove it"
    ))
    .into()
}
