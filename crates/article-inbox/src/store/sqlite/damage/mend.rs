//! What is done about damage that was found.

use std::path::Path;

use rusqlite::{
    Connection, ErrorCode,
    backup::{Backup, StepResult},
};

use super::{
    Findings, Integrity, Tx,
    findings::Part,
    integrity,
    integrity::{integrity_of_indexes, is_ours_alone, make_lists_anew, rebuild},
};
use crate::{
    Error,
    store::sqlite::{connection::damaged, fault::Fault, statements},
};

/// Files up to this size are searched for damage at start, and larger ones in the background.
const AT_START: u64 = 64 << 20;

/// Refuses a database with damage for which there is no mend. It changes nothing. `None` if the file is too large to be
/// searched now.
pub(in crate::store::sqlite) fn judge(
    connection: &Connection,
    path: &Path,
) -> Result<Option<Integrity>, Fault> {
    // The file is not opened: closing it would release the locks that this process holds on it.
    if path.metadata().map_or(0, |metadata| metadata.len()) > AT_START {
        return Ok(None);
    }
    if is_only_read(connection)? {
        let path = path.display();
        return Err(Error::unusable(format!(
            "{path} cannot be written to: let this process write to it and to its folder; if it may, the header of the \
             file is damaged: restore a backup"
        ))
        .into());
    }
    let found = integrity(connection)?;
    if !found.pages.is_empty() {
        return Err(damaged(path).into());
    }
    if !found.lists.is_empty() && !is_ours_alone(connection)? {
        let path = path.display();
        return Err(Error::damaged(format!(
            "the lists of pages in {path} are damaged, and its tables are not: run `sqlite3 {path} VACUUM`, which \
             writes them anew and may change row ids in tables of your own, or restore a backup"
        ))
        .into());
    }
    Ok(Some(found))
}

/// Writes damaged lists of free pages anew. It cannot be undone, so that it is tried on a [copy](copy) before.
pub(in crate::store::sqlite) fn mend_lists(
    connection: &Connection,
    path: &Path,
    found: &mut Integrity,
    findings: &Findings,
) -> Result<(), Fault> {
    if found.lists.is_empty() {
        return Ok(());
    }
    make_lists_anew(connection).map_err(|fault| unmended(path, fault))?;
    if !integrity(connection)?.pages.is_empty() {
        return Err(damaged(path).into());
    }
    found.lists.clear();
    findings
        .add(Part::Page, "the lists of free pages were damaged, and were written anew".to_owned());
    Ok(())
}

/// A copy in memory, page by page, with all damage.
pub(in crate::store::sqlite) fn copy(connection: &Connection) -> Result<Connection, Fault> {
    let mut copy = Connection::open_in_memory()?;
    while let StepResult::More = Backup::new(connection, &mut copy)?.step(-1)? {}
    Ok(copy)
}

/// Builds indexes again, and isolates damaged rows. Runs in a transaction.
pub(in crate::store::sqlite) fn mend(
    tx: &Tx<'_>,
    path: &Path,
    found: &Integrity,
) -> Result<(), Fault> {
    match mend_in(tx, found) {
        Ok(true) => Ok(()),
        Ok(false) => Err(damaged(path).into()),
        Err(fault) => Err(unmended(path, fault)),
    }
}

/// Mends in a transaction. `false` if there is still damage then.
fn mend_in(tx: &Tx<'_>, found: &Integrity) -> Result<bool, Fault> {
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

/// Two rows that differ only by damage have one key.
fn unmended(path: &Path, fault: Fault) -> Fault {
    if fault.is_constraint() { damaged(path).into() } else { fault }
}

/// Whether SQLite only reads the file. One bit in the header is enough for that.
fn is_only_read(connection: &Connection) -> rusqlite::Result<bool> {
    // The first transaction in an empty file would fix the size of its pages.
    if connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(false);
    }
    let tx = connection.unchecked_transaction()?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let written = tx.execute_batch(&format!("PRAGMA user_version = {version}"));
    tx.rollback()?;
    Ok(written.is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::ReadOnly)))
}
