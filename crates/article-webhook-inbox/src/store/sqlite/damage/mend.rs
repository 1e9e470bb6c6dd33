//! What is done about damage that was found.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::{
    Integrity, Tx,
    findings::Part,
    integrity,
    integrity::{first_look, free_page_lists, integrity_of_indexes, rebuild},
};
use crate::{
    Error,
    store::sqlite::{connection::damaged, fault::Fault, statements},
};

/// Files up to this size are searched for damage at start, and larger ones in the background.
const AT_START: u64 = 64 << 20;

/// Files up to this size are searched at start if a first look finds damage, or if the start fails. What replaces the
/// damaged pages is twice in memory meanwhile.
const IN_MEMORY: u64 = 512 << 20;

/// What is told of pages that the next start mends, if no page of a table is damaged.
const START_AGAIN: &str = "pages of the database are damaged: start the receiver again, which mends them, or says what to do";

/// What is told of lists of free pages that no start mends.
const VACUUM: &str = "the lists of free pages are damaged: stop the receiver, copy the database with VACUUM INTO, and put \
    the copy in its place; what can be stored is stored until then";

/// What is told of other pages that no start mends.
pub(in crate::store::sqlite) const RESTORE: &str = "pages of the database are damaged: stop the receiver, and restore a \
    backup; what can be read is worked on until then";

/// Looks for damage, and refuses a database that cannot be written to. It changes nothing. `None` if the file is too large
/// to be searched now.
pub(in crate::store::sqlite) fn judge(
    connection: &Connection,
    path: &Path,
) -> Result<Option<Integrity>, Fault> {
    let size = size(connection)?;
    if size > AT_START {
        if size > IN_MEMORY {
            return refuse_damaged_lists(connection, path).map(|()| None);
        }
        if !first_look(connection)?.needs_rebuilt_copy() {
            return Ok(None);
        }
        return Ok(Some(integrity(connection)?).filter(Integrity::is_mended_by_a_copy));
    }
    if is_only_read(connection)? {
        let path = path.display();
        return Err(Error::unusable(format!(
            "{path} cannot be written to: let this process write to it and to its folder; if it may, the header of the \
             file is damaged: restore a backup"
        ))
        .into());
    }
    Ok(Some(integrity(connection)?))
}

/// What is stored would be written to pages that are in use.
fn refuse_damaged_lists(connection: &Connection, path: &Path) -> Result<(), Fault> {
    if free_page_lists(connection)?.free_page_lists.is_empty() {
        return Ok(());
    }
    let path = path.display();
    Err(Error::damaged(format!(
        "the lists of free pages of {path} are damaged, so that a new delivery could overwrite another: copy the database \
         with VACUUM INTO, put the copy in its place, and start again"
    ))
    .into())
}

/// What is to be mended in a file that was not searched, and cannot be started because of damage. `None` if it is too large.
pub(in crate::store::sqlite) fn search(
    connection: &Connection,
) -> Result<Option<Integrity>, Fault> {
    if size(connection)? > IN_MEMORY { Ok(None) } else { Ok(Some(integrity(connection)?)) }
}

/// What to do about pages that are damaged while the store is open: the next start judges them as [`judge`] does.
pub(in crate::store::sqlite) fn advice(
    connection: &Connection,
    found: &Integrity,
) -> Result<&'static str, Fault> {
    let size = size(connection)?;
    let is_seen = || Ok::<_, Fault>(first_look(connection)?.needs_rebuilt_copy());
    let is_mended = size <= IN_MEMORY && found.is_mended_by_a_copy();
    Ok(if size <= AT_START || is_mended && is_seen()? {
        START_AGAIN
    } else if found.is_mended_by_vacuum() {
        VACUUM
    } else {
        RESTORE
    })
}

fn size(connection: &Connection) -> Result<u64, Fault> {
    let bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    Ok(connection.query_row(bytes, [], |row| row.get::<_, i64>(0))?.unsigned_abs())
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
    found.tell_indexes(tx.findings());
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
    // An index whose pages lead to those of a table takes them along when it is removed. A check that compares indexes
    // with their tables may end, and then SQLite writes nothing more in this transaction.
    if first_look(tx)?.pages.is_empty() {
        rebuild_all(tx)?;
    }
    if !integrity_of_indexes(tx)?.is_sound() {
        return Err(Error::damaged(
            "the database is damaged: start the receiver again, which mends its indexes, or says what to do",
        )
        .into());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_lists_of_a_file_that_is_too_large_to_be_written_anew_refuse_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let sql = "CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(100000)); DELETE FROM large";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert!(refuse_damaged_lists(&Connection::open(&path).unwrap(), &path).is_ok());

        let mut bytes = std::fs::read(&path).unwrap();
        bytes[39] ^= 1; // the number of free pages
        std::fs::write(&path, bytes).unwrap();
        let refused = refuse_damaged_lists(&Connection::open(&path).unwrap(), &path);
        let error = Error::from(refused.unwrap_err());
        assert!(error.is_damage() && error.to_string().contains("VACUUM INTO"), "{error}");
    }
}
