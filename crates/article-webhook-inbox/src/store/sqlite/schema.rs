use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::{
    connection::refused,
    fault::{Fault, translate},
};
use crate::Error;

/// Each step takes the schema to the next version. A released step is never changed.
const STEPS: &[&str] = &["
    CREATE TABLE article_inbox_meta (
        name TEXT PRIMARY KEY,
        value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 0), ('probes', 0);

    CREATE TABLE article_inbox_entries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job_id TEXT NOT NULL,
        event TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'done', 'dead', 'unhandled', 'corrupt')),
        attempts INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        at INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        conflicts INTEGER NOT NULL,
        held INTEGER NOT NULL,
        cause TEXT,
        UNIQUE (job_id, event)
    ) STRICT;
    CREATE INDEX article_inbox_entries_by_time ON article_inbox_entries (state, at);
    CREATE INDEX article_inbox_entries_held ON article_inbox_entries (at) WHERE state = 'done' AND held > 0;
    CREATE INDEX article_inbox_entries_stuck ON article_inbox_entries (state, id)
        WHERE state IN ('dead', 'unhandled', 'corrupt');
    CREATE INDEX article_inbox_entries_other ON article_inbox_entries (event, id)
        WHERE event <> 'article.complete';

    CREATE TABLE article_inbox_bodies (
        slot INTEGER PRIMARY KEY,
        received_at INTEGER NOT NULL,
        source TEXT NOT NULL,
        target TEXT NOT NULL,
        intent TEXT,
        digest BLOB NOT NULL,
        body BLOB
    ) STRICT;

    CREATE TABLE article_inbox_hints (
        job_id TEXT PRIMARY KEY,
        at INTEGER NOT NULL,
        code TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX article_inbox_hints_by_time ON article_inbox_hints (at, job_id);
", "
    ALTER TABLE article_inbox_entries ADD COLUMN since INTEGER;
    ALTER TABLE article_inbox_entries ADD COLUMN interrupted INTEGER;
    ALTER TABLE article_inbox_entries ADD COLUMN failures TEXT;
    ALTER TABLE article_inbox_entries ADD COLUMN checksum INTEGER;
    ALTER TABLE article_inbox_bodies ADD COLUMN checksum INTEGER;
    INSERT INTO article_inbox_meta (name, value) VALUES ('clock', 0);
", "
    DROP INDEX article_inbox_entries_by_time;
    CREATE INDEX article_inbox_entries_by_time ON article_inbox_entries
        (state, (event = 'generation failed' AND (state = 'waiting' OR state = 'leased')), at);
    DROP INDEX article_inbox_entries_stuck;
    CREATE INDEX article_inbox_entries_stuck ON article_inbox_entries (state, id)
        WHERE state = 'dead' OR state = 'unhandled' OR state = 'corrupt';

    DROP TABLE article_inbox_hints;
    CREATE TABLE article_inbox_jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job_id TEXT NOT NULL,
        state TEXT NOT NULL
            CHECK (state IN ('expected', 'asking', 'arrived', 'collected', 'failed', 'unreadable', 'not_found')),
        reason TEXT NOT NULL,
        intent TEXT,
        expected_at INTEGER NOT NULL,
        at INTEGER NOT NULL,
        asks INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        key INTEGER,
        missing INTEGER,
        missing_since INTEGER,
        pushed_at INTEGER,
        collected_at INTEGER,
        unreadable_since INTEGER,
        returned BLOB,
        cause TEXT,
        lane INTEGER,
        checksum INTEGER
    ) STRICT;
    CREATE INDEX article_inbox_jobs_key ON article_inbox_jobs (job_id);
    CREATE INDEX article_inbox_jobs_by_state ON article_inbox_jobs (state);
    CREATE INDEX article_inbox_jobs_of_intent ON article_inbox_jobs (intent) WHERE intent IS NOT NULL;
    CREATE INDEX article_inbox_jobs_by_lane ON article_inbox_jobs (lane, at);
    CREATE INDEX article_inbox_jobs_open ON article_inbox_jobs (expected_at, lane) WHERE lane IS NOT NULL;
    CREATE INDEX article_inbox_jobs_collected ON article_inbox_jobs (state, collected_at, pushed_at)
        WHERE state = 'collected';

    CREATE TABLE article_inbox_intents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('ordering', 'ordered', 'abandoned')),
        created_at INTEGER NOT NULL,
        at INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        job_id TEXT,
        forgotten BLOB,
        checksum INTEGER
    ) STRICT;
    CREATE INDEX article_inbox_intents_key ON article_inbox_intents (name);
    CREATE INDEX article_inbox_intents_by_state ON article_inbox_intents (state);
    CREATE INDEX article_inbox_intents_of_job ON article_inbox_intents (job_id) WHERE job_id IS NOT NULL;
    CREATE INDEX article_inbox_intents_by_time ON article_inbox_intents (state, at);

    CREATE TABLE article_inbox_bucket (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        used INTEGER NOT NULL,
        refilled_at INTEGER NOT NULL,
        share INTEGER NOT NULL,
        shared_at INTEGER NOT NULL,
        limited_since INTEGER,
        limited_until INTEGER,
        limited_why TEXT,
        refused BLOB NOT NULL,
        refused_at INTEGER,
        key INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        orders INTEGER NOT NULL,
        checksum INTEGER
    ) STRICT;
"];

/// The first version that has a ledger.
const WITH_LEDGER: usize = 3;

/// Refuses a schema that this version does not know, or that was changed. An earlier version is accepted.
pub(super) fn judge(connection: &Connection, path: &Path) -> Result<(), Error> {
    let found = version(connection).map_err(|error| refused(path, &error))?;
    if found > STEPS.len() {
        return Err(newer(path, found, STEPS.len()));
    }
    let differences = compare(connection).map_err(|error| refused(path, &error))?;
    differences.first().map_or(Ok(()), |difference| {
        Err(Error::damaged(format!(
            "{}: {difference}: restore a backup, or undo the change",
            path.display()
        )))
    })
}

/// Whether the file is of an earlier version, without a ledger. That kept jobs with a refused delivery in a table that the
/// step to this version removes.
pub(super) fn has_no_ledger(connection: &Connection) -> rusqlite::Result<bool> {
    Ok((1..WITH_LEDGER).contains(&version(connection)?))
}

/// Brings the schema up to this version. Runs in a transaction.
pub(super) fn migrate(tx: &Connection, path: &Path) -> Result<(), Fault> {
    migrate_by(tx, path, STEPS)
}

fn migrate_by(tx: &Connection, path: &Path, steps: &[&str]) -> Result<(), Fault> {
    let found = version(tx)?;
    if found > steps.len() {
        return Err(newer(path, found, steps.len()).into());
    }
    for step in &steps[found..] {
        tx.execute_batch(step)?;
    }
    if found < steps.len() {
        let steps = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        tx.execute("UPDATE article_inbox_meta SET value = ?1 WHERE name = 'schema'", [steps])?;
    }
    Ok(())
}

/// Checks that the schema is this version's, on a connection that may not change it.
pub(super) fn check_current(connection: &Connection, path: &Path) -> Result<(), Error> {
    let found = version(connection).map_err(|error| refused(path, &error))?;
    if found == STEPS.len() {
        return Ok(());
    }
    if found > STEPS.len() {
        return Err(newer(path, found, STEPS.len()));
    }
    if found == 0 {
        return Err(Error::unusable(format!(
            "{} is a database without an inbox: check the path; a receiver that starts with it makes one in it",
            path.display()
        )));
    }
    Err(Error::unusable(format!(
        "{} has schema {found}, and this version needs {}: start the receiver once, which brings it up to date",
        path.display(),
        STEPS.len()
    )))
}

fn newer(path: &Path, found: usize, known: usize) -> Error {
    Error::unusable(format!(
        "{} has schema {found}, and this version knows those up to {known}: use a newer version of this program",
        path.display()
    ))
}

/// Whether the database has tables of the inbox.
pub(super) fn exists(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(version(connection)? > 0)
}

/// The version of the schema. It is in a table of the inbox, because `user_version` belongs to the application.
fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let table = "SELECT TRUE FROM sqlite_schema WHERE name = 'article_inbox_meta'";
    if !connection.prepare(table)?.exists([])? {
        return Ok(0);
    }
    let version = "SELECT value FROM article_inbox_meta WHERE name = 'schema'";
    let version: Option<i64> = connection.query_row(version, [], |row| row.get(0)).optional()?;
    Ok(version.map_or(0, |version| usize::try_from(version).unwrap_or_default()))
}

/// What is missing in the schema or differs from it, and what others have added to it. Each finding is a sentence.
pub(super) fn differences(connection: &Connection) -> Result<Vec<String>, Error> {
    compare(connection).map_err(|error| translate(&error))
}

fn compare(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let right = Connection::open_in_memory()?;
    let steps = STEPS.iter().take(version(connection)?);
    steps.into_iter().try_for_each(|step| right.execute_batch(step))?;
    // SQLite's own table counts the ids. Where its text is damaged, no entry can be added.
    let objects = "SELECT name, sql FROM sqlite_schema \
        WHERE name LIKE 'article_inbox_%' OR name = 'sqlite_sequence' ORDER BY name";
    let mut objects = right.prepare(objects)?;
    let mut objects = objects.query([])?;
    let mut differences = Vec::new();
    while let Some(object) = objects.next()? {
        let (name, expected): (String, String) = (object.get(0)?, object.get(1)?);
        let found = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let found = connection.query_row(found, [&name], |row| row.get::<_, Option<String>>(0));
        match found.optional()?.flatten() {
            Some(found) if found == expected => {}
            Some(_) => differences.push(format!("{name} is not what this version made")),
            None => differences.push(format!("{name} is missing")),
        }
    }
    // The inbox has none, and another's would change what the inbox writes.
    let triggers = "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' \
        AND lower(tbl_name) GLOB 'article_inbox_*' ORDER BY name";
    let mut triggers = connection.prepare(triggers)?;
    let mut triggers = triggers.query([])?;
    while let Some(trigger) = triggers.next()? {
        let (name, table): (String, String) = (trigger.get(0)?, trigger.get(1)?);
        differences.push(format!("the trigger {name} on {table} is not the inbox's"));
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/data/inbox.db";

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection, Path::new(FILE)).unwrap();
        connection
    }

    #[test]
    fn an_older_schema_is_brought_up_to_date() {
        let connection = database();
        let steps = [STEPS, &["ALTER TABLE article_inbox_jobs ADD COLUMN note TEXT"]].concat();
        assert_eq!(version(&connection).unwrap(), STEPS.len());
        migrate_by(&connection, Path::new(FILE), &steps).unwrap();
        assert_eq!(version(&connection).unwrap(), STEPS.len() + 1);
        migrate_by(&connection, Path::new(FILE), &steps).unwrap();
        assert!(connection.prepare("SELECT note FROM article_inbox_jobs").is_ok());
    }

    #[test]
    fn a_changed_schema_is_found() {
        let connection = database();
        assert_eq!(differences(&connection).unwrap(), [""; 0]);
        connection.execute_batch("DROP INDEX article_inbox_entries_by_time").unwrap();
        assert_eq!(differences(&connection).unwrap(), ["article_inbox_entries_by_time is missing"]);
    }
}
