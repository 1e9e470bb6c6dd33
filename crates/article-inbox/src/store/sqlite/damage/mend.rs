//! What is done about damage that was found.

use std::{path::Path, sync::Arc, time::SystemTime};

use rusqlite::Connection;

use super::{
    Findings, Integrity, Tx,
    findings::Part,
    integrity,
    integrity::{integrity_of_indexes, is_ours_alone, make_lists_anew, rebuild},
};
use crate::{
    Error,
    store::sqlite::{
        connection::{damaged, refused},
        fault::Fault,
        statements,
    },
};

/// Files up to this size are searched for damage at start, and larger ones in the background.
const AT_START: u64 = 64 << 20;

/// Where damage is told, and what a start must mend; `None` if the file was not searched.
pub(in crate::store::sqlite) type FoundAtStart = (Arc<Findings>, Option<Integrity>);

/// Refuses a database with damage that [`mend`] cannot mend. It changes nothing. `None` if the file is too large to be
/// searched now.
pub(in crate::store::sqlite) fn judge(
    connection: &Connection,
    path: &Path,
) -> Result<Option<Integrity>, Error> {
    // The file is not opened: closing it would release the locks that this process holds on it.
    if path.metadata().map_or(0, |metadata| metadata.len()) > AT_START {
        return Ok(None);
    }
    if connection.is_readonly("main").is_ok_and(|is_readonly| is_readonly) {
        let path = path.display();
        return Err(Error::unusable(format!(
            "{path} cannot be written to: let this process write to it and to its folder; if it may, the header of the \
             file is damaged: restore a backup"
        )));
    }
    let judge = || -> Result<Integrity, Fault> {
        let found = integrity(connection)?;
        if found.indexes.is_empty() || !found.pages.is_empty() || !found.lists.is_empty() {
            return Ok(found);
        }
        // The pages of an index may be damaged. Whether it can be built anew shows when that is tried, in memory.
        connection.execute_batch("PRAGMA cache_spill = OFF")?;
        let tx = connection.unchecked_transaction()?;
        let after = match rebuild(&tx) {
            Ok(()) => integrity(&tx)?,
            // Two damaged rows have one key.
            Err(fault) if fault.is_constraint() => Integrity::default(),
            Err(fault) => return Err(fault),
        };
        tx.rollback()?;
        connection.execute_batch("PRAGMA cache_spill = ON")?;
        Ok(if after.is_sound() { found } else { Integrity { pages: after.lines(), ..found } })
    };
    let found = judge().map_err(|fault| at_start(path, fault))?;
    if !found.pages.is_empty() {
        return Err(damaged(path));
    }
    if !found.lists.is_empty() && !is_ours_alone(connection)? {
        let path = path.display();
        return Err(Error::damaged(format!(
            "the lists of pages in {path} are damaged, and its tables are not: run `sqlite3 {path} VACUUM`, which \
             writes them anew and may change row ids in tables of your own, or restore a backup"
        )));
    }
    Ok(Some(found))
}

/// Builds indexes and lists of pages again, and isolates damaged rows.
pub(in crate::store::sqlite) fn mend(
    connection: &Connection,
    path: &Path,
    found: &Integrity,
    (findings, now): (&Findings, SystemTime),
) -> Result<(), Error> {
    let mend = || -> Result<bool, Fault> {
        if !found.lists.is_empty() {
            make_lists_anew(connection)?;
            if !integrity(connection)?.pages.is_empty() {
                return Ok(false);
            }
            let finding = "the lists of free pages were damaged, and were written anew";
            findings.add(Part::Page, finding.to_owned());
        }
        let tx = connection.unchecked_transaction()?;
        let is_sound = mend_in(&Tx::new(&tx, findings, now), found)?;
        let ended = if is_sound { tx.commit() } else { tx.rollback() };
        Ok(ended.map(|()| is_sound)?)
    };
    match mend() {
        Ok(true) => Ok(()),
        Ok(false) => Err(damaged(path)),
        Err(fault) => Err(at_start(path, fault)),
    }
}

/// Mends in a transaction. `false` if there is still damage then.
pub(super) fn mend_in(tx: &Tx<'_>, found: &Integrity) -> Result<bool, Fault> {
    if !found.indexes.is_empty() {
        rebuild_all(tx)?;
    }
    let suspects = statements::scan(tx)?;
    if !suspects.is_empty() {
        statements::isolate(tx, &suspects)?;
        // A row was in an index by a value that it no longer has.
        rebuild(tx)?;
    }
    if found.indexes.is_empty() && suspects.is_empty() {
        return Ok(true);
    }
    for index in &found.indexes {
        tx.found(
            Part::Index,
            format!("the index {index} differed from its table, and was built again"),
        );
    }
    Ok(integrity(tx)?.is_sound())
}

fn rebuild_all(tx: &Tx<'_>) -> Result<(), Fault> {
    match rebuild(tx) {
        Err(fault) if fault.is_constraint() => {}
        rebuilt => return rebuilt,
    }
    // Without this, an update fails because the index lacks the old value.
    tx.execute_batch("PRAGMA writable_schema = ON")?;
    let separated = statements::separate_twins(tx);
    tx.execute_batch("PRAGMA writable_schema = OFF")?;
    separated?;
    rebuild(tx)
}

/// Builds all indexes again, in a transaction of the writer, while the store is open.
pub(in crate::store::sqlite) fn build_again(tx: &Tx<'_>) -> Result<(), Fault> {
    // An index whose pages lead to those of a table takes them along when it is removed.
    if integrity_of_indexes(tx)?.pages.is_empty() {
        rebuild_all(tx)?;
    }
    if !integrity_of_indexes(tx)?.is_sound() {
        return Err(Error::damaged("the database is damaged: restore a backup").into());
    }
    tx.found(Part::Index, "SQLite found damage, and all indexes were built again".to_owned());
    Ok(())
}

fn at_start(path: &Path, fault: Fault) -> Error {
    match fault {
        fault if fault.is_constraint() => damaged(path),
        Fault::Sql(error) => refused(path, &error),
        Fault::Ours(error) => error,
    }
}
