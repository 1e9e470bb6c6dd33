use rusqlite::{Connection, types::ValueRef};

use crate::{
    Error,
    store::sqlite::{
        damage::{Findings, Part},
        fault::Fault,
    },
};

/// An id that no row of these tables has had. Ids are given out by a counter, not by what is there, so that the id of a
/// removed row never comes again. A counter that is damaged gives out no id that a row has.
pub(super) fn new_id(connection: &Connection) -> Result<i64, Fault> {
    let next = "INSERT INTO article_inbox_meta (name, value) SELECT 'ids', 1 + max( \
        (SELECT ifnull(max(id), 0) FROM article_inbox_entries), (SELECT ifnull(max(id), 0) FROM article_inbox_jobs), \
        (SELECT ifnull(max(id), 0) FROM article_inbox_intents)) WHERE TRUE \
        ON CONFLICT (name) DO UPDATE SET value = max(CAST(value AS INTEGER) + 1, excluded.value) RETURNING value";
    Ok(connection.prepare_cached(next)?.query_row([], |row| row.get(0))?)
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
