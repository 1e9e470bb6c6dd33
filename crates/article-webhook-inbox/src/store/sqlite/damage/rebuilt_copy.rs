//! A copy of the database with indexes that are built again, which replaces it. REINDEX empties an index by its pages,
//! so it cannot be used where those are damaged.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use rusqlite::{
    Connection, OptionalExtension, TransactionBehavior,
    backup::{Backup, StepResult},
    ffi,
};

use super::{Findings, Integrity, Tx, findings::Part, integrity};
use crate::store::sqlite::{
    connection::{self, damaged, written_by_others},
    fault::Fault,
    statements,
};

/// The index of the key of the entries, as SQLite names it. It has no statement of its own.
const KEY_INDEX: &str = "sqlite_autoindex_article_inbox_entries_1";

/// How often a copy is made while other programs commit between its completion and its use.
const TRIES: u32 = 3;

/// What makes SQLite keep that index.
const KEY: &str = "UNIQUE (job_id, event)";

/// A sound copy in memory: all tables as they are, the indexes of the inbox built from them, and new lists of free
/// pages. Nothing of the old indexes and lists is read. Fails if a table is damaged.
pub(in crate::store::sqlite) fn rebuilt_copy(
    connection: &Connection,
    path: &Path,
    (findings, now): (&Findings, SystemTime),
) -> Result<Connection, Fault> {
    let mut copy = Connection::open_in_memory()?;
    copy_pages(connection, &mut copy)?;
    let indexes = Indexes::remove_from(&copy)?;
    let found = integrity(&copy)?;
    if !found.pages.is_empty() || !found.application_pages.is_empty() {
        return Err(damaged(path).into());
    }
    let rebuilt = vacuumed(&copy)?;
    if !is_same_rows(&copy, &rebuilt)? {
        return Err(damaged(path).into());
    }
    indexes.add_to(&Tx::new(&rebuilt, findings, now))?;
    if !integrity(&rebuilt)?.is_sound() {
        return Err(damaged(path).into());
    }
    Ok(rebuilt)
}

/// Replaces the database by such a copy, in one transaction, if what was found needs that.
pub(in crate::store::sqlite) fn write_rebuilt_copy(
    connection: &mut Connection,
    path: &Path,
    found: &mut Integrity,
    (findings, now): (&Findings, SystemTime),
) -> Result<(), Fault> {
    if !found.needs_rebuilt_copy() {
        return Ok(());
    }
    replace(connection, path, (findings, now))?;
    if !found.free_page_lists.is_empty() {
        let told = "the lists of free pages were damaged, and were written anew";
        findings.add(Part::Page, told.to_owned());
    }
    if !found.pages.is_empty() {
        let told = "pages of an index were damaged, and all indexes were built again";
        findings.add(Part::Index, told.to_owned());
    }
    found.tell_indexes(findings);
    *found = Integrity::default();
    Ok(())
}

/// Replaces all pages by those of a copy. No other program commits meanwhile, because its commit would be lost.
fn replace(
    connection: &mut Connection,
    path: &Path,
    (findings, now): (&Findings, SystemTime),
) -> Result<(), Fault> {
    // SQLite copies no pages from a connection that writes, or to one.
    let reader = connection::open_reader(path)?;
    for _ in 0..TRIES {
        let lock = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let before = version(&reader)?;
        let rebuilt = rebuilt_copy(&reader, path, (findings, now))?;
        lock.rollback()?;
        let copying = Backup::new(&rebuilt, connection)?;
        // This copies nothing, and takes the lock again.
        step(&copying, 0)?;
        if version(&reader)? == before {
            return step(&copying, -1);
        }
    }
    Err(written_by_others(path).into())
}

/// A number that changes when another connection commits.
fn version(reader: &Connection) -> rusqlite::Result<i64> {
    reader.query_row("PRAGMA data_version", [], |row| row.get(0))
}

fn copy_pages(from: &Connection, to: &mut Connection) -> Result<(), Fault> {
    step(&Backup::new(from, to)?, -1)
}

/// Copies this number of pages, or all if it is -1, and keeps the lock until all are copied.
fn step(copying: &Backup<'_, '_>, pages: i32) -> Result<(), Fault> {
    match copying.step(pages)? {
        StepResult::Done | StepResult::More => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None).into()),
    }
}

/// Copies all tables into another database in memory. `VACUUM INTO` keeps the ids of rows, and `VACUUM` does not.
fn vacuumed(copy: &Connection) -> Result<Connection, Fault> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("file:/article-inbox-{number}?vfs=memdb");
    let rebuilt = Connection::open(&name)?;
    rebuilt.execute_batch("PRAGMA temp_store = MEMORY")?;
    copy.execute("VACUUM INTO ?1", [&name])?;
    Ok(rebuilt)
}

/// Whether all tables have rows of the same ids. SQLite does not promise that, and the application may use its ids.
fn is_same_rows(copy: &Connection, rebuilt: &Connection) -> Result<bool, Fault> {
    // A table WITHOUT ROWID has no such ids.
    let tables = "SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'shadow') AND NOT wr AND name <> 'sqlite_schema'";
    let mut tables = copy.prepare(tables)?;
    let tables = tables.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for table in tables {
        let Some(id) = name_of_ids(copy, &table)? else { continue };
        let ids = format!("SELECT {id} FROM \"{}\" NOT INDEXED", table.replace('"', "\"\""));
        let (mut before, mut after) = (copy.prepare(&ids)?, rebuilt.prepare(&ids)?);
        let (mut before, mut after) = (before.query([])?, after.query([])?);
        loop {
            let (before, after) = (before.next()?, after.next()?);
            let id =
                |row: Option<&rusqlite::Row<'_>>| row.map(|row| row.get::<_, i64>(0)).transpose();
            let (before, after) = (id(before)?, id(after)?);
            if before != after {
                return Ok(false);
            }
            if before.is_none() {
                break;
            }
        }
    }
    Ok(true)
}

/// The name by which a statement can read the ids of rows. `None` if the table has columns of all these names, so that
/// the application cannot read the ids either.
fn name_of_ids(copy: &Connection, table: &str) -> rusqlite::Result<Option<&'static str>> {
    let columns = "SELECT lower(name) FROM pragma_table_xinfo(?1)";
    let mut columns = copy.prepare(columns)?;
    let columns = columns.query_map([table], |row| row.get(0))?;
    let columns = columns.collect::<Result<Vec<String>, _>>()?;
    let mut names = ["rowid", "_rowid_", "oid"].into_iter();
    Ok(names.find(|name| !columns.iter().any(|column| column == name)))
}

/// The indexes on tables of the inbox, as the schema describes them.
struct Indexes {
    statements: Vec<String>,
    /// The statement of the table of entries; `None` if the inbox has no tables yet.
    entries: Option<String>,
}

impl Indexes {
    /// Removes them from the schema, and touches no page of theirs.
    fn remove_from(copy: &Connection) -> Result<Self, Fault> {
        let indexes = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL \
            AND tbl_name LIKE 'article\\_inbox\\_%' ESCAPE '\\' ORDER BY rowid";
        let mut indexes = copy.prepare(indexes)?;
        let statements = indexes.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let entries = "SELECT sql FROM sqlite_schema WHERE name = 'article_inbox_entries'";
        let entries = copy.query_row(entries, [], |row| row.get(0)).optional()?;
        copy.execute_batch(&format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, '{KEY}', 'CHECK (TRUE)') WHERE name = 'article_inbox_entries';
             DELETE FROM sqlite_schema WHERE type = 'index' AND tbl_name LIKE 'article\\_inbox\\_%' ESCAPE '\\';
             PRAGMA writable_schema = RESET"
        ))?;
        Ok(Self { statements, entries })
    }

    /// Builds them.
    fn add_to(&self, tx: &Tx<'_>) -> Result<(), Fault> {
        let Some(entries) = &self.entries else { return Ok(()) };
        // The damaged index may have let in two rows of one key.
        statements::separate_twins(tx)?;
        tx.execute_batch(
            "CREATE UNIQUE INDEX article_inbox_key ON article_inbox_entries (job_id, event)",
        )?;
        self.statements.iter().try_for_each(|statement| tx.execute_batch(statement))?;
        tx.execute_batch("PRAGMA writable_schema = ON")?;
        let rename =
            "UPDATE sqlite_schema SET name = ?1, sql = NULL WHERE name = 'article_inbox_key'";
        tx.execute(rename, [KEY_INDEX])?;
        let restore = "UPDATE sqlite_schema SET sql = ?1 WHERE name = 'article_inbox_entries'";
        tx.execute(restore, [entries])?;
        Ok(tx.execute_batch("PRAGMA writable_schema = RESET")?)
    }
}
