use rusqlite::{Connection, types::ValueRef};

use crate::store::sqlite::{
    change_counter,
    damage::Findings,
    fault::{self, Fault},
};

/// An id that no row of these tables has or had. The transaction keeps other processes from taking the same id.
pub(super) fn new_id(connection: &Connection) -> Result<i64, Fault> {
    Ok(change_counter::last_id(connection)? + 1)
}

/// Removes a row whose id must never come again.
pub(super) fn remove(connection: &Connection, statement: &str, id: i64) -> Result<(), Fault> {
    delete(connection, statement, id)?;
    Ok(change_counter::keep_id(connection, id)?)
}

/// A value that is a text.
pub(super) fn text(value: ValueRef<'_>) -> Option<String> {
    value.as_str().ok().map(str::to_owned)
}

/// Deletes by an id.
pub(super) fn delete(connection: &Connection, statement: &str, id: i64) -> Result<(), Fault> {
    connection.prepare_cached(statement)?.execute([id])?;
    Ok(())
}

/// The failure of a call for a job whose row is that of another, and not its own with a damaged name. Nothing is changed.
pub(super) fn index_differs(findings: &Findings) -> Fault {
    let differs = fault::damaged("an index differs from its table");
    findings.add("index", differs.to_string());
    differs.into()
}
