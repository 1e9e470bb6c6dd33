//! The time that the store had last, so that a start sees whether its clock may be wrong.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension};

use super::fault::Fault;
use crate::timestamp::{from_millis, to_millis};

/// The time that a start or retention stored last; `None` before the first.
pub(super) fn stored(tx: &Connection) -> Result<Option<SystemTime>, Fault> {
    let stored = "SELECT value FROM article_inbox_meta WHERE name = 'clock'";
    let stored = tx.prepare_cached(stored)?.query_row([], |row| Ok(row.get_ref(0)?.as_i64().ok()));
    Ok(stored.optional()?.flatten().map(from_millis))
}

/// Stores the time.
pub(super) fn store(tx: &Connection, now: SystemTime) -> Result<(), Fault> {
    let store = "INSERT OR REPLACE INTO article_inbox_meta (name, value) VALUES ('clock', ?1)";
    tx.prepare_cached(store)?.execute([to_millis(now)])?;
    Ok(())
}
