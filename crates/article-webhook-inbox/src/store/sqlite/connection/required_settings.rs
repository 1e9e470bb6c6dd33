//! The settings on which durability, secrecy and speed depend.

use rusqlite::{Connection, OptionalExtension, types::Value};

/// The one setting that changes the file.
pub(super) const JOURNAL_MODE: &str = "journal_mode";

/// The settings of every connection that writes: the name, the value that is set, and the value that must be read back.
pub(super) const REQUIRED: [(&str, &str, Setting); 10] = [
    ("busy_timeout", "2000", Setting::Number(2000)),
    ("mmap_size", "0", Setting::Number(0)),
    (JOURNAL_MODE, "WAL", Setting::Word("wal")),
    ("synchronous", "FULL", Setting::Number(2)),
    ("secure_delete", "ON", Setting::Number(1)),
    ("wal_autocheckpoint", "0", Setting::Number(0)),
    ("fullfsync", "ON", Setting::Number(1)),
    ("checkpoint_fullfsync", "ON", Setting::Number(1)),
    ("foreign_keys", "OFF", Setting::Number(0)),
    // SQLite builds a table for the list of states whenever it writes an entry. The states of this crate are a type.
    ("ignore_check_constraints", "ON", Setting::Number(1)),
];

/// The value of a setting.
#[derive(Debug, Clone, Copy)]
pub(super) enum Setting {
    Number(i64),
    Word(&'static str),
}

/// The settings that differ from what is required. Each finding is a sentence.
pub(crate) fn wrong_settings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let found = values(connection)?;
    Ok(found
        .iter()
        .filter_map(|(name, found, expected)| mismatch(name, found.as_ref(), *expected))
        .collect())
}

/// The settings with their values, as text.
pub(crate) fn settings(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, String)>> {
    let shown = |(name, found, _)| match found {
        Some(Value::Integer(number)) => Some((name, number.to_string())),
        Some(Value::Text(text)) => Some((name, text)),
        _ => None,
    };
    Ok(values(connection)?.into_iter().filter_map(shown).collect())
}

/// The settings with the values that they have and must have.
fn values(
    connection: &Connection,
) -> rusqlite::Result<Vec<(&'static str, Option<Value>, Setting)>> {
    let mut values = Vec::new();
    for (name, _, expected) in REQUIRED {
        // The writer shortens it for calls that have already waited.
        if name == "busy_timeout" {
            continue;
        }
        let found = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        let found: Option<Value> = found.optional()?;
        // A SQLite that was built without memory maps returns no row for their size.
        if found.is_some() || name != "mmap_size" {
            values.push((name, found, expected));
        }
    }
    Ok(values)
}

fn mismatch(name: &str, found: Option<&Value>, expected: Setting) -> Option<String> {
    let (found, expected) = match (found, expected) {
        (Some(Value::Integer(found)), Setting::Number(expected)) => {
            (found.to_string(), expected.to_string())
        }
        (Some(Value::Text(found)), Setting::Word(expected)) => (found.clone(), expected.to_owned()),
        (None, Setting::Number(expected)) => ("unknown".into(), expected.to_string()),
        (None, Setting::Word(expected)) => ("unknown".into(), expected.into()),
        (_, Setting::Number(expected)) => ("of another type".into(), expected.to_string()),
        (_, Setting::Word(expected)) => ("of another type".into(), expected.into()),
    };
    (found != expected).then(|| format!("the setting {name} is {found} and must be {expected}"))
}

/// Sets a value. What the statement returns is ignored, because all settings are read back afterwards.
pub(super) fn set(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA {name} = {value}"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
