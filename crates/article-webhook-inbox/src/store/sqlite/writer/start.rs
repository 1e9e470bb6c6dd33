//! What a start does before the first call: it makes the log one that commits can rest on, and changes the tables in one
//! transaction, so that a start that is refused has changed nothing.

use std::{path::Path, time::SystemTime};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{
    Error,
    script::{ListIntents, Restart},
    store::sqlite::{
        connection::{self, damaged},
        damage::{self, Findings},
        fault::Fault,
        schema, tables, wal_identity,
    },
};

/// What the next commit must say about the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Log {
    /// The log goes on, because the last run ended in order.
    Continued,
    /// The log is restarted.
    Renewed,
}

/// Whether the log goes on at a start: it holds nothing that was committed after an orderly stop, so that all of it is on
/// disk. Otherwise it is copied into the database, and the next commit restarts it.
pub(super) fn continue_log(connection: &Connection, path: &Path) -> Result<Log, Fault> {
    match connection::frames(connection)? {
        Some(0) => Ok(Log::Renewed),
        Some(frames)
            if schema::exists(connection)? && wal_identity::is_trusted(connection, frames)? =>
        {
            Ok(Log::Continued)
        }
        _ => renew_log(connection, path),
    }
}

/// Copies the log into the database, so that the next commit restarts it.
pub(super) fn renew_log(connection: &Connection, path: &Path) -> Result<Log, Fault> {
    if connection::empty_log(connection)? {
        return Ok(Log::Renewed);
    }
    let path = path.display();
    Err(Fault::Ours(Error::unavailable(format!(
        "another program reads the log {path}-wal from before the crash or the failed sync: end it, and the store goes on by \
         itself"
    ))))
}

/// Marks that everything in the log is on disk. Each commit before this one was synced, or the connection would have
/// been closed. A commit after it changes the number of frames.
pub(super) fn mark_stop(connection: &Connection) -> Result<(), Fault> {
    if let Some(frames) = connection::frames(connection)? {
        let tx = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        // The mark changes one page.
        wal_identity::mark_stop(&tx, frames + 1)?;
        tx.commit()?;
    }
    Ok(())
}

/// Builds indexes again if SQLite's check found something, makes what the schema lacks, and frees the leases of the last
/// process. Runs in a transaction.
pub(super) fn change_tables(
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
        findings.add("index", format!("the index {index} was missing, and was made"));
    }
    wal_identity::erase_damage_record(connection)?;
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
    let outcome = change_tables(connection, path, found, now, &Findings::silent());
    connection.execute_batch("ROLLBACK; PRAGMA cache_spill = ON")?;
    outcome
}
