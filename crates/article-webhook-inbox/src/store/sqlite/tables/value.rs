use rusqlite::{Connection, types::ValueRef};

use crate::{
    Error,
    store::sqlite::{
        damage::{Findings, Part},
        fault::Fault,
    },
};

/// An id that no row of these tables has or had: it is larger than that of each row that is there, and of each that was
/// removed. The transaction keeps other processes from taking the same id. A new row changes no counter, so that a delivery
/// writes one page less.
pub(super) fn new_id(connection: &Connection) -> Result<i64, Fault> {
    let next = "SELECT 1 + max( \
        (SELECT ifnull(max(id), 0) FROM article_inbox_entries), (SELECT ifnull(max(id), 0) FROM article_inbox_jobs), \
        (SELECT ifnull(max(id), 0) FROM article_inbox_intents), \
        ifnull((SELECT CAST(value AS INTEGER) FROM article_inbox_meta WHERE name = 'last_removed_id'), 0))";
    Ok(connection.prepare_cached(next)?.query_row([], |row| row.get(0))?)
}

/// Removes a row whose id must never come again.
pub(super) fn remove(connection: &Connection, statement: &str, id: i64) -> Result<(), Fault> {
    delete(connection, statement, id)?;
    let note = "INSERT INTO article_inbox_meta (name, value) VALUES ('last_removed_id', ?1) \
        ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER), excluded.value)";
    connection.prepare_cached(note)?.execute([id])?;
    Ok(())
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
    let says = "an index differs from its table: stop the receiver and start it again, which builds indexes again, or says \
        what to do";
    findings.add(Part::Index, says.to_owned());
    Error::damaged(says).into()
}
