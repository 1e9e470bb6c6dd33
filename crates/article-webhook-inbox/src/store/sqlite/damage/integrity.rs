//! Damage of the pages, and indexes that differ from their tables.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension};

use super::{Findings, findings::Part};
use crate::store::sqlite::fault::Fault;

/// The line of a check that damage has ended.
const ENDED: &str = "the check ended";

/// What a check of the pages and of the indexes found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::store::sqlite) struct Integrity {
    /// Indexes that differ from their tables, or have damaged pages. [`rebuild`] builds them again.
    pub(in crate::store::sqlite) indexes: BTreeSet<String>,
    /// Whether pages of an index are damaged. Then it may be impossible to empty it, which [`rebuild`] does first.
    pub(in crate::store::sqlite) has_damaged_index_pages: bool,
    /// Damage of the lists of free pages and of each page's place, in SQLite's words.
    pub(in crate::store::sqlite) free_page_lists: BTreeSet<String>,
    /// Damage of pages of a table, or of an index that leads to pages of a table, in SQLite's words.
    pub(in crate::store::sqlite) pages: BTreeSet<String>,
    /// Damage of pages of the application's own tables, in SQLite's words.
    pub(in crate::store::sqlite) application_pages: BTreeSet<String>,
}

/// Checks the pages of the whole file, and each index of the inbox against its table. What is in the application's own
/// tables is not judged. Damaged values in rows are found elsewhere.
pub(in crate::store::sqlite) fn integrity(connection: &Connection) -> Result<Integrity, Fault> {
    // One check of a sound file says as much as those that tell apart what is damaged, which read it twice.
    if is_of_the_inbox_alone(connection)?
        && lines(connection, "PRAGMA integrity_check(1)")?.is_empty()
    {
        return Ok(Integrity::default());
    }
    let trees = trees(connection)?;
    let mut found = Integrity::default();
    for tree in trees.values() {
        let Tree::Table(table) = tree else { continue };
        found.check_table(connection, &trees, table)?;
    }
    // The check of a table does not notice a page that is in the list of free pages as well.
    let of_file = match lines(connection, "PRAGMA quick_check(1000)") {
        // A table of the application uses a function that only the application has.
        Err(fault) if fault.is_of_the_statement() => Vec::new(),
        lines => lines?,
    };
    for line in of_file.iter().filter(|line| is_about_pages(line)) {
        found.add(line, &trees, Check::File);
    }
    Ok(found)
}

/// Checks the tables that have indexes, and nothing else. Fast enough for the connection that writes.
pub(super) fn integrity_of_indexes(connection: &Connection) -> Result<Integrity, Fault> {
    let trees = trees(connection)?;
    let mut found = Integrity::default();
    for table in INDEXED.iter().filter(|table| is_there(&trees, table)) {
        found.check_table(connection, &trees, table)?;
    }
    Ok(found)
}

/// Checks what a start of a large file looks at: the list of free pages, and the pages of the tables that have indexes and
/// of these indexes. What is in the indexes is not compared with the tables.
pub(super) fn first_look(connection: &Connection) -> Result<Integrity, Fault> {
    let trees = trees(connection)?;
    let mut found = free_page_lists(connection)?;
    for table in INDEXED.iter().filter(|table| is_there(&trees, table)) {
        for line in lines(connection, &format!("PRAGMA quick_check('{table}')"))? {
            found.add(&line, &trees, Check::Table);
        }
    }
    Ok(found)
}

/// Checks the list of free pages, and the pages of the schema: no check is of the list alone.
pub(super) fn free_page_lists(connection: &Connection) -> Result<Integrity, Fault> {
    let trees = trees(connection)?;
    let mut found = Integrity::default();
    for line in lines(connection, "PRAGMA quick_check('sqlite_schema')")? {
        found.add(&line, &trees, Check::Table);
    }
    Ok(found)
}

const INDEXED: [&str; 4] =
    ["article_inbox_entries", "article_inbox_hints", "article_inbox_jobs", "article_inbox_intents"];

/// A file of an earlier version lacks some tables, and has `article_inbox_hints`.
fn is_there(trees: &HashMap<u64, Tree>, name: &str) -> bool {
    trees.values().any(|tree| matches!(tree, Tree::Table(table) if table == name))
}

/// Whether the application has nothing in the file.
fn is_of_the_inbox_alone(connection: &Connection) -> rusqlite::Result<bool> {
    let others = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE tbl_name NOT LIKE 'article\\_inbox\\_%' ESCAPE '\\' \
        AND tbl_name NOT LIKE 'sqlite\\_%' ESCAPE '\\')";
    connection.query_row(others, [], |row| row.get(0))
}

/// What a line of a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Table,
    File,
}

/// Builds all indexes of the inbox again. Runs in a transaction.
pub(super) fn rebuild(tx: &Connection) -> Result<(), Fault> {
    let trees = trees(tx)?;
    let mut tables = INDEXED.iter().filter(|table| is_there(&trees, table));
    tables.try_for_each(|table| Ok(tx.execute_batch(&format!("REINDEX {table}"))?))
}

impl Integrity {
    /// Whether nothing of the inbox is damaged.
    pub(in crate::store::sqlite) fn is_sound(&self) -> bool {
        self.indexes.is_empty() && !self.needs_rebuilt_copy()
    }

    /// Whether [`rebuild`] is not enough.
    pub(in crate::store::sqlite) fn needs_rebuilt_copy(&self) -> bool {
        self.has_damaged_index_pages || !self.free_page_lists.is_empty() || !self.pages.is_empty()
    }

    /// Whether a [copy](super::rebuilt_copy) is needed and can be made: no page of a table is damaged, of the application's
    /// either.
    pub(super) fn is_mended_by_a_copy(&self) -> bool {
        // The pages are checked first, and then the rows, which fails because of the index.
        let is_of_an_index = |line: &String| self.has_damaged_index_pages && line == ENDED;
        self.needs_rebuilt_copy()
            && self.application_pages.is_empty()
            && self.pages.iter().all(is_of_an_index)
    }

    /// Whether the lists of free pages alone are damaged. `VACUUM INTO` reads all pages but these.
    pub(super) fn is_mended_by_vacuum(&self) -> bool {
        self.is_mended_by_a_copy() && !self.has_damaged_index_pages
    }

    /// Checks a table and its indexes.
    fn check_table(
        &mut self,
        connection: &Connection,
        trees: &HashMap<u64, Tree>,
        table: &str,
    ) -> Result<(), Fault> {
        let mut found = lines(connection, &format!("PRAGMA integrity_check('{table}')"))?;
        // It ended, and what it does not compare is sound: an entry of an index cannot be read.
        if found.iter().any(|line| line == ENDED)
            && lines(connection, &format!("PRAGMA quick_check('{table}')"))?.is_empty()
        {
            found.retain(|line| line != ENDED);
            let indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?1";
            let mut indexes = connection.prepare(indexes)?;
            for index in indexes.query_map([table], |row| row.get(0))? {
                self.indexes.insert(index?);
            }
        }
        found.iter().for_each(|line| self.add(line, trees, Check::Table));
        Ok(())
    }

    /// Tells that the indexes were built again.
    pub(super) fn tell_indexes(&self, findings: &Findings) {
        for index in &self.indexes {
            let told = format!("the index {index} differed from its table, and was built again");
            findings.add(Part::Index, told);
        }
    }

    /// Adds what a line of a check says.
    fn add(&mut self, line: &str, trees: &HashMap<u64, Tree>, check: Check) {
        let tree = tree(line).map(|root| trees.get(&root));
        let index = line.rsplit_once(" index ").map(|(_, name)| name);
        match (tree, index) {
            _ if is_harmless(line) => {}
            _ if is_about_lists(line) => drop(self.free_page_lists.insert(line.to_owned())),
            // Tables that are sound by themselves have no page in common: the other reference is in the list of free pages.
            (Some(_), _) if line.contains("2nd reference") => {
                let found =
                    if check == Check::File { &mut self.free_page_lists } else { &mut self.pages };
                found.insert(line.to_owned());
            }
            (Some(None), _) => drop(self.application_pages.insert(line.to_owned())),
            (Some(Some(Tree::Index(name))), _) => {
                self.indexes.insert(name.clone());
                self.has_damaged_index_pages = true;
            }
            (None, Some(name)) => drop(self.indexes.insert(name.to_owned())),
            (Some(Some(Tree::Table(_) | Tree::Counters)), _) | (None, None) => {
                self.pages.insert(line.to_owned());
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Tree {
    Table(String),
    Index(String),
    /// SQLite's own table, in which it counts the ids of entries. What its rows hold is looked at elsewhere.
    Counters,
}

/// The tables and indexes of the inbox, and the schema, by the pages of their roots.
fn trees(connection: &Connection) -> Result<HashMap<u64, Tree>, Fault> {
    let ours = "SELECT rootpage, type = 'table', name FROM sqlite_schema WHERE tbl_name LIKE 'article\\_inbox\\_%' ESCAPE '\\' \
        AND type IN ('table', 'index')";
    let mut statement = connection.prepare(ours)?;
    let trees = statement.query_map([], |row| {
        let tree = if row.get(1)? { Tree::Table } else { Tree::Index };
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), tree(row.get(2)?)))
    })?;
    let mut trees: HashMap<_, _> = trees.collect::<Result<_, _>>()?;
    let counters = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'";
    if let Some(root) = connection.query_row(counters, [], |row| row.get::<_, i64>(0)).optional()? {
        trees.insert(root.unsigned_abs(), Tree::Counters);
    }
    trees.insert(1, Tree::Table("sqlite_schema".to_owned()));
    Ok(trees)
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

/// The root of the tree in which a line has found damage: `Tree 7 page 9 cell 0: …`.
fn tree(line: &str) -> Option<u64> {
    line.strip_prefix("Tree ")?.split(' ').next()?.parse().ok()
}

/// The list of free pages, the pages that say where each page belongs, and the bytes within a page that are free.
fn is_about_lists(line: &str) -> bool {
    line.starts_with("Freelist: ")
        || line.contains("Fragmentation of ")
        || line.starts_with("max rootpage")
        || line.contains("ptr map entry")
        || line.contains("ptrmap")
}

fn is_about_pages(line: &str) -> bool {
    ["Tree ", "Freelist: ", "Page ", "max rootpage", "incremental_vacuum"]
        .iter()
        .any(|words| line.starts_with(words))
}

/// A page that nothing uses only takes space. Wrong values are isolated with their rows.
fn is_harmless(line: &str) -> bool {
    line.ends_with(": never used")
        || line.contains(" value in ")
        || line.starts_with("CHECK constraint failed in ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_by(check: Check, line: &str) -> Integrity {
        let table = Tree::Table("article_inbox_entries".into());
        let index = Tree::Index("article_inbox_entries_by_time".into());
        let trees = HashMap::from([(1, table.clone()), (4, table), (6, index)]);
        let mut found = Integrity::default();
        found.add(line, &trees, check);
        found
    }

    fn found(line: &str) -> Integrity {
        found_by(Check::Table, line)
    }

    #[test]
    fn each_kind_of_finding_is_told_apart() {
        let by_time = BTreeSet::from(["article_inbox_entries_by_time".to_owned()]);
        for line in [
            "row 5 missing from index article_inbox_entries_by_time",
            "wrong # of entries in index article_inbox_entries_by_time",
            "rowid not at end-of-record for row 5 of index article_inbox_entries_by_time",
        ] {
            let expected = Integrity { indexes: by_time.clone(), ..Integrity::default() };
            assert_eq!(found(line), expected);
            assert!(!expected.needs_rebuilt_copy());
        }
        let torn = found("Tree 6 page 9: btreeInitPage() returns error code 11");
        assert!(torn.needs_rebuilt_copy());
        assert_eq!(torn.indexes, by_time);
        for line in [
            "Tree 4 page 9: btreeInitPage() returns error code 11",
            "Tree 1 page 1: free space corruption",
            "Tree 6 page 9: 2nd reference to page 12",
            "row not in PRIMARY KEY order for article_inbox_meta",
            "something that a later SQLite says",
        ] {
            let pages = BTreeSet::from([line.to_owned()]);
            assert_eq!(found(line), Integrity { pages, ..Integrity::default() });
        }
        for (check, line) in [
            (Check::Table, "Freelist: size is 3 but should be 4"),
            (
                Check::Table,
                "Tree 4 page 9 cell 0: Bad ptr map entry key=12 expected=(5,9) got=(5,7)",
            ),
            (Check::File, "Tree 4 page 9: 2nd reference to page 12"),
        ] {
            let free_page_lists = BTreeSet::from([line.to_owned()]);
            assert_eq!(
                found_by(check, line),
                Integrity { free_page_lists, ..Integrity::default() }
            );
        }
        for line in [
            "Tree 99 page 9: free space corruption",
            "Page 12: never used",
            "NULL value in article_inbox_entries.at",
            "CHECK constraint failed in article_inbox_entries",
        ] {
            assert!(found(line).is_sound(), "{line}");
        }
    }
}
