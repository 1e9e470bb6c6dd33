use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::{
    connection::{refused, restore_advice},
    fault::{Fault, translate},
};
use crate::Error;

/// The schema of this version. A file with another one is refused.
pub(super) const VERSION: i64 = 1;

const SCHEMA: &str = "
    CREATE TABLE article_inbox_meta (
        name TEXT PRIMARY KEY,
        value ANY NOT NULL,
        set_by TEXT
    ) STRICT, WITHOUT ROWID;
    INSERT INTO article_inbox_meta (name, value) VALUES ('schema', 1), ('database', random());

    CREATE TABLE article_inbox_entries (
        id INTEGER PRIMARY KEY,
        job_id TEXT NOT NULL,
        event TEXT NOT NULL,
        received_at INTEGER NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        at INTEGER NOT NULL,
        since INTEGER NOT NULL,
        held INTEGER NOT NULL,
        target TEXT NOT NULL,
        search TEXT NOT NULL DEFAULT '',
        cause_group TEXT,
        requeued_at INTEGER,
        document TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        UNIQUE (job_id, event)
    ) STRICT;
    CREATE INDEX article_inbox_entries_by_time ON article_inbox_entries
        (state, ((event = 'generation failed' AND (state = 'waiting' OR state = 'leased'))
            + 2 * (state = 'waiting' AND attempts > 0)), at);
    CREATE INDEX article_inbox_entries_held ON article_inbox_entries (at) WHERE state = 'done' AND held > 0;
    CREATE INDEX article_inbox_entries_stuck ON article_inbox_entries (state, id)
        WHERE state = 'dead' OR state = 'unhandled' OR state = 'corrupt' OR state = 'quarantined';
    CREATE INDEX article_inbox_entries_causes ON article_inbox_entries (state, cause_group, since)
        WHERE state = 'dead' OR state = 'unhandled' OR state = 'corrupt' OR state = 'quarantined';
    CREATE INDEX article_inbox_entries_requeued ON article_inbox_entries (requeued_at) WHERE requeued_at IS NOT NULL;
    CREATE INDEX article_inbox_entries_other ON article_inbox_entries (event, id)
        WHERE event <> 'article.complete';

    CREATE TABLE article_inbox_bodies (
        slot INTEGER PRIMARY KEY,
        received_at INTEGER NOT NULL,
        digest BLOB NOT NULL,
        document TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        body BLOB
    ) STRICT;

    CREATE TABLE article_inbox_jobs (
        id INTEGER PRIMARY KEY,
        job_id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        intent TEXT,
        expected_at INTEGER NOT NULL,
        at INTEGER NOT NULL,
        polls INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        pushed_at INTEGER,
        collected_at INTEGER,
        document TEXT NOT NULL,
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX article_inbox_jobs_by_state ON article_inbox_jobs (state);
    CREATE INDEX article_inbox_jobs_of_intent ON article_inbox_jobs (intent) WHERE intent IS NOT NULL;
    CREATE INDEX article_inbox_jobs_due ON article_inbox_jobs (at) WHERE state = 'expected' OR state = 'polling';
    CREATE INDEX article_inbox_jobs_ended ON article_inbox_jobs (at) WHERE state <> 'expected' AND state <> 'polling';
    CREATE INDEX article_inbox_jobs_open ON article_inbox_jobs (expected_at)
        WHERE state = 'expected' OR state = 'polling';
    CREATE INDEX article_inbox_jobs_collected ON article_inbox_jobs (state, collected_at, pushed_at)
        WHERE state = 'collected';

    CREATE TABLE article_inbox_intents (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        at INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        job_id TEXT,
        document TEXT NOT NULL,
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX article_inbox_intents_of_job ON article_inbox_intents (job_id) WHERE job_id IS NOT NULL;
    CREATE INDEX article_inbox_intents_by_time ON article_inbox_intents (state, at);
";

/// Refuses a schema that is not this version's, or that was changed. A missing index is no reason: the start
/// [makes](create) it.
pub(super) fn validate(connection: &Connection, path: &Path) -> Result<(), Error> {
    let found = version(connection).map_err(|error| refused(path, &error))?;
    if found.is_some_and(|found| found != VERSION) {
        return Err(of_another_version(path, found));
    }
    let differences = compare(connection).map_err(|error| refused(path, &error))?;
    let difference = differences.into_iter().find(|difference| difference.missing_index.is_none());
    difference.map_or(Ok(()), |difference| {
        Err(Error::damaged(format!(
            "{}: {}: undo the change, or {}",
            path.display(),
            difference.says,
            restore_advice(path)
        )))
    })
}

/// Makes the schema, or the indexes that are missing in it. Runs in a transaction. Returns the names of these indexes.
pub(super) fn create(tx: &Connection) -> Result<Vec<String>, Fault> {
    if !exists(tx)? {
        tx.execute_batch(SCHEMA)?;
        return Ok(Vec::new());
    }
    let missing = compare(tx)?.into_iter().filter_map(|difference| difference.missing_index);
    missing
        .map(|MissingIndex { name, sql }| {
            tx.execute_batch(&sql)?;
            Ok(name)
        })
        .collect()
}

/// Refuses a schema of another version, as far as the version can be read.
pub(super) fn check_unless_damaged(connection: &Connection, path: &Path) -> Result<(), Error> {
    match version(connection) {
        // The row of the version is lost.
        Ok(Some(0)) | Err(_) => Ok(()),
        Ok(_) => check_current(connection, path),
    }
}

/// Checks that the schema is this version's, on a connection that may not change it.
pub(super) fn check_current(connection: &Connection, path: &Path) -> Result<(), Error> {
    match version(connection).map_err(|error| refused(path, &error))? {
        Some(VERSION) => Ok(()),
        None => Err(Error::unusable(format!(
            "{} is a database without an inbox: check the path; a receiver that starts with this file adds an inbox to it",
            path.display()
        ))),
        found => Err(of_another_version(path, found)),
    }
}

fn of_another_version(path: &Path, found: Option<i64>) -> Error {
    Error::unusable(format!(
        "{} has schema {}, and this version of the program needs {VERSION}: use the version that made the file, or name another \
         file",
        path.display(),
        found.unwrap_or_default()
    ))
}

/// Whether the database has tables of the inbox.
pub(super) fn exists(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(version(connection)?.is_some())
}

/// The version of the schema. It is in a table of the inbox, because `user_version` belongs to the application.
fn version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let table = "SELECT TRUE FROM sqlite_schema WHERE name = 'article_inbox_meta'";
    if !connection.prepare(table)?.exists([])? {
        return Ok(None);
    }
    let version = "SELECT value FROM article_inbox_meta WHERE name = 'schema'";
    let version = connection.query_row(version, [], |row| row.get(0)).optional()?;
    Ok(Some(version.unwrap_or_default()))
}

/// Something in which the schema is not this version's.
struct Difference {
    /// A sentence.
    says: String,
    missing_index: Option<MissingIndex>,
}

struct MissingIndex {
    name: String,
    sql: String,
}

/// What is missing in the schema or differs from it, and what others have added to it. Each finding is a sentence.
pub(super) fn differences(connection: &Connection) -> Result<Vec<String>, Error> {
    let differences = compare(connection).map_err(|error| translate(&error))?;
    Ok(differences.into_iter().map(|difference| difference.says).collect())
}

fn compare(connection: &Connection) -> rusqlite::Result<Vec<Difference>> {
    let right = Connection::open_in_memory()?;
    if exists(connection)? {
        right.execute_batch(SCHEMA)?;
    }
    // The index of a key has no text.
    let objects = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let mut objects = right.prepare(objects)?;
    let mut objects = objects.query([])?;
    let mut differences = Vec::new();
    while let Some(object) = objects.next()? {
        let (kind, name, sql): (String, String, String) =
            (object.get(0)?, object.get(1)?, object.get(2)?);
        let found = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let found = connection.query_row(found, [&name], |row| row.get::<_, Option<String>>(0));
        match found.optional()? {
            // SQLite quotes the name of a table that was renamed, also once it has its name again.
            Some(Some(found)) if found.replace('"', "") == sql => {}
            None if kind == "index" => differences.push(Difference {
                says: format!("{name} is missing"),
                missing_index: Some(MissingIndex { name, sql }),
            }),
            None => differences.push(Difference::other(format!("{name} is missing"))),
            Some(_) => {
                differences.push(Difference::other(format!(
                    "{name} differs from what this version makes"
                )));
            }
        }
    }
    // The inbox has none, and another's would change what the inbox writes.
    let triggers = "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' \
        AND lower(tbl_name) GLOB 'article_inbox_*' ORDER BY name";
    let mut triggers = connection.prepare(triggers)?;
    let mut triggers = triggers.query([])?;
    while let Some(trigger) = triggers.next()? {
        let (name, table): (String, String) = (trigger.get(0)?, trigger.get(1)?);
        let says = format!("the trigger {name} on {table} is not the inbox's");
        differences.push(Difference::other(says));
    }
    Ok(differences)
}

impl Difference {
    fn other(says: String) -> Self {
        Self { says, missing_index: None }
    }
}
