//! What a start changes before the first call. It is tried before any file is changed, and then done in one transaction,
//! so that a start that is refused has changed nothing.

use std::{path::Path, time::SystemTime};

use rusqlite::Connection;

use crate::{
    script::{ListIntents, Restart},
    store::sqlite::{
        connection::damaged,
        damage::{self, Findings, Part},
        fault::Fault,
        schema, tables,
    },
};

/// Builds indexes again if SQLite's check found something, makes what the schema lacks, and frees the leases of the last
/// process. Runs in a transaction.
pub(super) fn run(
    connection: &mut Connection,
    path: &Path,
    found: &[String],
    now: SystemTime,
    findings: &Findings,
) -> Result<(), Fault> {
    if !found.is_empty() && schema::exists(connection)? && has_damaged_intent(connection, now)? {
        // With the index built again, nothing would lead to it, and it would be ordered twice.
        return Err(damaged(path, "the name of an intent cannot be read").into());
    }
    damage::rebuild_indexes(connection, path, found, findings)?;
    for index in schema::create(connection)? {
        findings.add(Part::Index, format!("the index {index} was missing, and was made"));
    }
    tables::run(&Restart, connection, now, findings)
}

fn has_damaged_intent(connection: &mut Connection, now: SystemTime) -> Result<bool, Fault> {
    let findings = Findings::silent();
    let all = ListIntents { state: None, after: 0, limit: u32::MAX };
    tables::run(&all, connection, now, &findings)?;
    Ok(!findings.all().is_empty())
}

/// Fails if the start would fail, and changes nothing.
pub(in crate::store::sqlite) fn try_start(
    connection: &mut Connection,
    path: &Path,
    found: &[String],
    now: SystemTime,
) -> Result<(), Fault> {
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    if pages == 0 {
        return Ok(());
    }
    // All changes stay in memory.
    connection.execute_batch("PRAGMA cache_spill = OFF; BEGIN IMMEDIATE")?;
    let outcome = run(connection, path, found, now, &Findings::silent());
    connection.execute_batch("ROLLBACK; PRAGMA cache_spill = ON")?;
    outcome
}
