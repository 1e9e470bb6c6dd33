//! The settings on which durability, secrecy and speed depend.

use rusqlite::{Connection, OptionalExtension, types::Value};

/// The one setting that changes the file.
pub(super) const JOURNAL_MODE: &str = "journal_mode";

/// The settings of every connection that writes: the name, the value that is set, and the value that must be read back.
pub(super) const REQUIRED: [(&str, &str, &str); 10] = [
    ("busy_timeout", "2000", "2000"),
    ("mmap_size", "0", "0"),
    (JOURNAL_MODE, "WAL", "wal"),
    ("synchronous", "FULL", "2"),
    ("secure_delete", "ON", "1"),
    ("wal_autocheckpoint", "0", "0"),
    ("fullfsync", "ON", "1"),
    ("checkpoint_fullfsync", "ON", "1"),
    ("foreign_keys", "OFF", "0"),
    // SQLite builds a table for the list of states whenever it writes an entry. The states of this crate are a type.
    ("ignore_check_constraints", "ON", "1"),
];

/// The settings that differ from what is required. Each finding is a sentence.
pub(crate) fn wrong_settings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let wrong = values(connection)?.into_iter().filter(|(_, found, required)| found != required);
    let finding =
        |(name, found, required)| format!("the setting {name} is {found} and must be {required}");
    Ok(wrong.map(finding).collect())
}

/// The settings with their values.
pub(crate) fn settings(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, String)>> {
    Ok(values(connection)?.into_iter().map(|(name, found, _)| (name, found)).collect())
}

/// The settings with the values that they have and must have.
fn values(connection: &Connection) -> rusqlite::Result<Vec<(&'static str, String, &'static str)>> {
    let mut values = Vec::new();
    for (name, _, required) in REQUIRED {
        // The writer shortens it for calls that have already waited.
        if name == "busy_timeout" {
            continue;
        }
        let found = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        let found = match found.optional()? {
            Some(Value::Integer(number)) => number.to_string(),
            Some(Value::Text(text)) => text,
            // A SQLite that was built without memory maps returns no row for their size.
            None if name == "mmap_size" => continue,
            _ => "unknown".to_owned(),
        };
        values.push((name, found, required));
    }
    Ok(values)
}

/// Sets a value. What the statement returns is ignored, because all settings are read back afterwards.
pub(super) fn set(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA {name} = {value}"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
