//! The counter of a database's transactions, by which a start finds that some are missing: see [`Acknowledged`].

use std::path::Path;

use rusqlite::{Connection, Row};

use super::{
    connection::{another_database, behind, refused},
    fault::Fault,
    files::Acknowledged,
    schema,
};
use crate::Error;

/// Counts the transaction that has begun.
pub(super) fn count(tx: &Connection) -> Result<Acknowledged, Fault> {
    let count = "UPDATE article_inbox_meta SET value = value + 1 WHERE name = 'commits' \
        RETURNING value, (SELECT value FROM article_inbox_meta WHERE name = 'database')";
    Ok(tx.prepare_cached(count)?.query_row([], from_row)?)
}

/// What this view of a database has counted.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Acknowledged> {
    let read = "SELECT value, (SELECT value FROM article_inbox_meta WHERE name = 'database') \
        FROM article_inbox_meta WHERE name = 'commits'";
    connection.prepare_cached(read)?.query_row([], from_row)
}

/// Refuses a database that is not the one of the record, or lacks something that was acknowledged.
pub(super) fn validate(
    connection: &Connection,
    path: &Path,
    recorded: Option<Acknowledged>,
) -> Result<(), Error> {
    let Some(recorded) = recorded else { return Ok(()) };
    let look = || schema::exists(connection)?.then(|| read(connection)).transpose();
    match look().map_err(|error| refused(path, &error))? {
        Some(found) if found.database == recorded.database => {
            let missing = recorded.commits.saturating_sub(found.commits);
            if missing > 0 { Err(behind(path, missing)) } else { Ok(()) }
        }
        _ => Err(another_database(path)),
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Acknowledged> {
    Ok(Acknowledged { commits: row.get(0)?, database: row.get(1)? })
}
