//! What a start changes before the first call. It is tried before any file is changed, and then done in one transaction,
//! so that a start that is refused has changed nothing.

use std::{path::Path, time::SystemTime};

use rusqlite::Connection;

use super::wal_recovery;
use crate::store::sqlite::{
    damage::{self, Findings, Integrity, Tx},
    fault::Fault,
    schema, statements,
};

/// Brings the schema up to date, mends what was found, and frees the leases of the last process.
pub(super) fn run(tx: &Tx<'_>, path: &Path, found: Option<&Integrity>) -> Result<(), Fault> {
    let earlier =
        if schema::has_no_ledger(tx)? { statements::earlier_jobs(tx)? } else { Vec::new() };
    schema::migrate(tx, path)?;
    if let Some(found) = found {
        damage::mend(tx, path, found)?;
    }
    statements::expect(tx, &earlier)?;
    statements::free_leases(tx)
}

/// Fails if the start would fail, and changes nothing.
pub(in crate::store::sqlite) fn try_start(
    connection: &Connection,
    path: &Path,
    found: Option<&Integrity>,
    now: SystemTime,
) -> Result<(), Fault> {
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    if pages == 0 {
        return Ok(());
    }
    let trial = (&Findings::of_a_trial(), now);
    match found {
        // What is written anew is no part of a transaction.
        Some(found) if found.needs_rebuilt_copy() => {
            let rebuilt = damage::rebuilt_copy(connection, path, trial)?;
            try_on(&rebuilt, path, Some(&Integrity::default()), trial)
        }
        found => try_on(connection, path, found, trial),
    }
}

fn try_on(
    connection: &Connection,
    path: &Path,
    found: Option<&Integrity>,
    (findings, now): (&Findings, SystemTime),
) -> Result<(), Fault> {
    // All changes stay in memory.
    connection.execute_batch("PRAGMA cache_spill = OFF")?;
    let tx = wal_recovery::begin(connection)?;
    let outcome = run(&Tx::new(&tx, findings, now), path, found);
    tx.rollback()?;
    connection.execute_batch("PRAGMA cache_spill = ON")?;
    outcome
}
