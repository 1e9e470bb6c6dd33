//! The number of a database's changes, by which a start finds that some are missing: see [`Acknowledged`].
//!
//! A change is a new row of an entry, a job or an intent, or else a transaction that adds none of these. So a delivery, which
//! adds an entry, is counted by the id of its row, and writes no page for the counter.

use std::path::Path;

use rusqlite::Connection;

use super::{
    connection::{another_database, behind, refused},
    files::Acknowledged,
    schema,
};
use crate::Error;

/// The largest id that a row of these tables has or had. A row that is removed leaves [its id](keep_id).
pub(super) fn last_id(connection: &Connection) -> rusqlite::Result<i64> {
    let last = "SELECT max( \
        (SELECT ifnull(max(id), 0) FROM article_inbox_entries), (SELECT ifnull(max(id), 0) FROM article_inbox_jobs), \
        (SELECT ifnull(max(id), 0) FROM article_inbox_intents), \
        ifnull((SELECT CAST(value AS INTEGER) FROM article_inbox_meta WHERE name = 'last_removed_id'), 0))";
    connection.prepare_cached(last)?.query_row([], |row| row.get(0))
}

/// Keeps the id of a row that is removed, so that it never comes again.
pub(super) fn keep_id(tx: &Connection, id: i64) -> rusqlite::Result<()> {
    let keep = "INSERT INTO article_inbox_meta (name, value) VALUES ('last_removed_id', ?1) \
        ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER), excluded.value)";
    tx.prepare_cached(keep)?.execute([id]).map(drop)
}

/// How far this view of a database has come.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Acknowledged> {
    let rows = last_id(connection)?;
    let read = "SELECT ?1 + ifnull((SELECT CAST(value AS INTEGER) FROM article_inbox_meta WHERE name = 'other_changes'), 0), \
        (SELECT value FROM article_inbox_meta WHERE name = 'database')";
    connection
        .prepare_cached(read)?
        .query_row([rows], |row| Ok(Acknowledged { changes: row.get(0)?, database: row.get(1)? }))
}

/// Counts a transaction that is about to end and began here.
pub(super) fn count(tx: &Connection, began_at: Acknowledged) -> rusqlite::Result<Acknowledged> {
    let counted = read(tx)?;
    if counted.changes > began_at.changes {
        return Ok(counted);
    }
    let count = "INSERT INTO article_inbox_meta (name, value) VALUES ('other_changes', 1) \
        ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1";
    tx.prepare_cached(count)?.execute([])?;
    Ok(Acknowledged { changes: counted.changes + 1, ..counted })
}

/// Refuses a database that is not the one of the record, or lacks something that was acknowledged.
pub(super) fn validate(
    connection: &Connection,
    path: &Path,
    recorded: Option<Acknowledged>,
) -> Result<(), Error> {
    let Some(recorded) = recorded else { return Ok(()) };
    let look = || schema::exists(connection)?.then(|| read(connection)).transpose();
    // Tables that are not there are named.
    let unreadable =
        |error| schema::validate(connection, path).err().unwrap_or_else(|| refused(path, &error));
    match look().map_err(unreadable)? {
        Some(found) if found.database == recorded.database => {
            let missing = recorded.changes.saturating_sub(found.changes);
            if missing > 0 { Err(behind(path, missing)) } else { Ok(()) }
        }
        _ => Err(another_database(path)),
    }
}
