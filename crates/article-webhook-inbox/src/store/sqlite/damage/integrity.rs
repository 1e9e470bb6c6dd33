//! SQLite's own check of the pages and of the indexes.

use std::{collections::HashSet, path::Path};

use rusqlite::Connection;

use super::Findings;
use crate::store::sqlite::{connection::damaged, fault::Fault};

/// The most findings that SQLite reports. The default of 100 could all be about values, which are no findings here.
const MAX_LINES: u32 = 1000;

/// The line of a check that damage has ended.
const ENDED: &str = "the check ended";

/// What SQLite's check of the whole file finds, in its own words. Nothing if the file is sound, but for what is in the
/// application's own tables.
pub(in crate::store::sqlite) fn integrity(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut found = match lines(connection, &format!("PRAGMA integrity_check({MAX_LINES})")) {
        // A table of the application uses a function that only the application has.
        Err(fault) if fault.is_of_the_statement() => tables_of_the_inbox(connection)?,
        // The tables of the inbox may come after that of the application which has ended it.
        Ok(lines) if lines.iter().any(|line| line == ENDED) => tables_of_the_inbox(connection)?,
        lines => lines?,
    };
    let application = roots_of_the_application(connection)?;
    found.retain(|line| !is_harmless(line) && !is_of_the_application(line, &application));
    Ok(found)
}

/// The same for the intents alone. An order that is not found would be made twice.
pub(in crate::store::sqlite) fn integrity_of_intents(
    connection: &Connection,
) -> Result<Vec<String>, Fault> {
    let mut found = lines(connection, "PRAGMA integrity_check('article_inbox_intents')")?;
    found.retain(|line| !is_harmless(line));
    Ok(found)
}

/// The findings in the schema, in the list of free pages, and in each table of the inbox.
fn tables_of_the_inbox(connection: &Connection) -> Result<Vec<String>, Fault> {
    // The check of the schema's table is also that of the list.
    let mut found = lines(connection, "PRAGMA integrity_check('sqlite_schema')")?;
    for table in tables(connection)? {
        found.extend(lines(connection, &format!("PRAGMA integrity_check('{table}')"))?);
    }
    Ok(found)
}

/// Builds all indexes of the inbox again, and reports that. Runs in a transaction. If the check finds something after that
/// too, more is damaged than indexes.
pub(in crate::store::sqlite) fn rebuild_indexes(
    tx: &Connection,
    path: &Path,
    found: &[String],
    findings: &Findings,
) -> Result<(), Fault> {
    let Some(first) = found.first() else { return Ok(()) };
    let rebuilt = tables(tx).and_then(|tables| {
        tables.iter().try_for_each(|table| tx.execute_batch(&format!("REINDEX {table}")))?;
        integrity(tx)
    });
    match rebuilt {
        Ok(left) if left.is_empty() => {
            let says = "indexes differed from their tables, and all were built again; SQLite's check had found";
            findings.add("index", format!("{says}: {first}"));
            Ok(())
        }
        Ok(left) => Err(damaged(path, &left[0]).into()),
        // Two rows have one key, or the pages of an index cannot be removed.
        Err(fault) if fault.is_damage() || fault.is_constraint() => {
            Err(damaged(path, first).into())
        }
        Err(fault) => Err(fault),
    }
}

fn tables(connection: &Connection) -> Result<Vec<String>, Fault> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' \
        AND name LIKE 'article\\_inbox\\_%' ESCAPE '\\' ORDER BY name";
    let mut tables = connection.prepare(tables)?;
    let tables = tables.query_map([], |row| row.get(0))?;
    Ok(tables.collect::<Result<_, _>>()?)
}

/// The lines of all rows that a check returns. Damage may also end the check.
fn lines(connection: &Connection, check: &str) -> Result<Vec<String>, Fault> {
    let mut statement = connection.prepare(check)?;
    let mut lines = Vec::new();
    for row in statement.query_map([], |row| row.get::<_, String>(0))? {
        match row.map_err(Fault::from) {
            Ok(row) => lines.extend(row.lines().map(str::to_owned)),
            Err(fault) if fault.is_damage() => lines.push(ENDED.to_owned()),
            Err(fault) => return Err(fault),
        }
    }
    lines.retain(|line| line != "ok" && !line.starts_with("***"));
    Ok(lines)
}

/// The pages in which tables and indexes of the application begin.
fn roots_of_the_application(connection: &Connection) -> Result<HashSet<i64>, Fault> {
    let roots = "SELECT rootpage FROM sqlite_schema WHERE tbl_name NOT LIKE 'article\\_inbox\\_%' ESCAPE '\\'";
    let mut roots = connection.prepare(roots)?;
    let roots = roots.query_map([], |row| row.get(0))?;
    Ok(roots.collect::<Result<_, _>>()?)
}

/// Whether a line is about a page or an index of the application alone: `Tree 7 page 9 cell 0: …`, `row 5 missing from index …`.
fn is_of_the_application(line: &str, roots: &HashSet<i64>) -> bool {
    let tree = line.strip_prefix("Tree ").and_then(|line| line.split(' ').next()?.parse().ok());
    match tree {
        Some(root) => roots.contains(&root) && !line.contains("2nd reference"),
        None => {
            line.rsplit_once(" index ").is_some_and(|(_, name)| !name.contains("article_inbox_"))
        }
    }
}

/// A page that nothing uses only takes space. A value that a column must not have is found by the checksum of its row when
/// the row is read.
fn is_harmless(line: &str) -> bool {
    line.ends_with(": never used")
        || line.contains(" value in ")
        || line.starts_with("CHECK constraint failed in ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unused_pages_and_values_are_harmless() {
        for line in [
            "Page 12: never used",
            "NULL value in article_inbox_entries.at",
            "non-INTEGER value in article_inbox_entries.at",
            "CHECK constraint failed in article_inbox_entries",
        ] {
            assert!(is_harmless(line), "{line}");
        }
        for line in [
            "row 5 missing from index article_inbox_entries_by_time",
            "Tree 6 page 9: 2nd reference to page 12",
            "Freelist: size is 3 but should be 4",
            "something that a later SQLite says",
        ] {
            assert!(!is_harmless(line), "{line}");
        }
    }

    #[test]
    fn only_what_is_about_the_application_alone_is_its_own() {
        let roots = HashSet::from([7]);
        for (line, is_its_own) in [
            ("Tree 7 page 9 cell 0: Offset 8190 out of range 100..8187", true),
            ("Tree 7 page 9: 2nd reference to page 12", false),
            ("Tree 6 page 9: btreeInitPage() returns error code 11", false),
            ("row 5 missing from index shop", true),
            ("wrong # of entries in index sqlite_autoindex_article_inbox_entries_1", false),
            ("Freelist: size is 3 but should be 4", false),
        ] {
            assert_eq!(is_of_the_application(line, &roots), is_its_own, "{line}");
        }
    }
}
