use bytes::Bytes;
use rusqlite::{
    Connection, Row as SqlRow, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use super::checksum::checksum;
use crate::{Digest, store::sqlite::fault::Fault};

/// The name of a column whose value is none that this crate writes.
pub(super) type Damaged = &'static str;

/// The first columns of a row.
pub(super) fn columns<'a, const N: usize>(
    found: &'a SqlRow<'_>,
) -> Result<[ValueRef<'a>; N], Fault> {
    let mut columns = [ValueRef::Null; N];
    for (number, column) in columns.iter_mut().enumerate() {
        *column = found.get_ref(number)?;
    }
    Ok(columns)
}

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

/// Checks columns against their checksum. Without one, which an earlier version or a completion leaves, nothing is
/// checked.
pub(super) fn verify<'a>(
    columns: impl IntoIterator<Item = ValueRef<'a>>,
    expected: ValueRef<'_>,
) -> Result<(), Damaged> {
    match expected {
        ValueRef::Null => Ok(()),
        ValueRef::Integer(expected) if checksum(columns) == expected => Ok(()),
        _ => Err("checksum"),
    }
}

/// What is wrong with a row, for its cause.
pub(super) fn cause(damaged: Damaged) -> String {
    match damaged {
        "checksum" => "its checksum does not match".to_owned(),
        column => format!("its {column} is damaged"),
    }
}

pub(super) fn text(value: &str) -> ValueRef<'_> {
    ValueRef::Text(value.as_bytes())
}

pub(super) fn optional_text(value: Option<&str>) -> ValueRef<'_> {
    value.map_or(ValueRef::Null, text)
}

pub(in super::super) fn digest(value: ValueRef<'_>) -> Option<Digest> {
    let bytes: [u8; 32] = value.as_blob().ok()?.try_into().ok()?;
    Some(bytes.into())
}

pub(super) fn bytes_in(value: ValueRef<'_>, column: Damaged) -> Result<Option<Bytes>, Damaged> {
    let bytes = value.as_blob_or_null().map_err(|_| column)?;
    Ok(bytes.map(Bytes::copy_from_slice))
}

pub(super) fn text_in<'a>(value: ValueRef<'a>, column: Damaged) -> Result<&'a str, Damaged> {
    value.as_str().map_err(|_| column)
}

pub(super) fn optional_text_in<'a>(
    value: ValueRef<'a>,
    column: Damaged,
) -> Result<Option<&'a str>, Damaged> {
    value.as_str_or_null().map_err(|_| column)
}

pub(super) fn integer_in(value: ValueRef<'_>, column: Damaged) -> Result<i64, Damaged> {
    value.as_i64().map_err(|_| column)
}

pub(super) fn optional_integer_in(
    value: ValueRef<'_>,
    column: Damaged,
) -> Result<Option<i64>, Damaged> {
    value.as_i64_or_null().map_err(|_| column)
}

pub(super) fn count_in(value: ValueRef<'_>, column: Damaged) -> Result<u32, Damaged> {
    u32::try_from(integer_in(value, column)?).map_err(|_| column)
}

/// As much of a text as can be read.
pub(in super::super) fn lossy(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
        _ => None,
    }
}
