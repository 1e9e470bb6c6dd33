//! The file of a child, once the child is gone: through the inbox, and through SQLite alone, which knows nothing of
//! the inbox's mind.

use std::{collections::HashMap, path::Path};

use article_webhook_inbox::{Filter, Inbox, State};
use rusqlite::{Connection, OptionalExtension};
use tokio::runtime;

use crate::role::Failure;

/// An entry, and its bodies as they are now.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) job_id: String,
    pub(crate) state: State,
    pub(crate) bodies: Vec<Vec<u8>>,
}

/// All entries, as the inbox shows them.
pub(crate) fn rows(file: &Path) -> Result<Vec<Row>, Failure> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let inbox = Inbox::open(file).await?;
        check(&inbox).await?;
        let rows = read(&inbox).await?;
        inbox.close().await?;
        Ok(rows)
    })
}

/// Fails if something is damaged, as far as the inbox has read.
pub(crate) async fn check(inbox: &Inbox) -> Result<(), Failure> {
    let findings = inbox.health().await.store.expect("the store is healthy").findings;
    // A commit that was cut off is reported, because a damaged one looks like it. Nothing else is damaged by a crash.
    match findings.into_iter().find(|finding| !finding.starts_with("the log ")) {
        Some(finding) => Err(finding.into()),
        None => Ok(()),
    }
}

/// All entries.
pub(crate) async fn read(inbox: &Inbox) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let mut filter = Filter::default();
    loop {
        let page = inbox.list(filter.clone()).await?;
        for entry in page.items {
            let shown = inbox.show(entry.key.clone()).await?;
            let (_, bodies) = shown.ok_or("an entry that is listed is there")?;
            let bodies = bodies.into_iter().filter_map(|body| Some(body.bytes?.into()));
            let (job_id, bodies) = (entry.key.job_id.to_string(), bodies.collect());
            rows.push(Row { job_id, state: entry.state, bodies });
        }
        let Some(next) = page.next else { return Ok(rows) };
        filter.after = next;
    }
}

/// The body of each job, as the inbox shows it.
pub(crate) fn bodies_by_inbox(file: &Path) -> Result<HashMap<String, Vec<u8>>, Failure> {
    let first = |row: Row| (row.job_id, row.bodies.into_iter().next().unwrap_or_default());
    Ok(rows(file)?.into_iter().map(first).collect())
}

/// The body of each job, as SQLite finds it, if the file is sound.
pub(crate) fn bodies_by_sqlite(file: &Path) -> Result<HashMap<String, Vec<u8>>, Failure> {
    let connection = Connection::open(file)?;
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(verdict.into());
    }
    if !has_table(&connection, "article_inbox_entries")? {
        return Ok(HashMap::new());
    }
    let mut statement = connection.prepare(
        "SELECT job_id, body FROM article_inbox_entries AS e JOIN article_inbox_bodies AS b ON b.slot = e.id * 16",
    )?;
    let bodies = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(bodies.collect::<Result<_, _>>()?)
}

/// How often each job had its effect in the application's own table.
pub(crate) fn effects(file: &Path) -> Result<HashMap<String, u32>, Failure> {
    let connection = Connection::open(file)?;
    if !has_table(&connection, "effects")? {
        return Ok(HashMap::new());
    }
    let mut statement =
        connection.prepare("SELECT job_id, count(*) FROM effects GROUP BY job_id")?;
    let effects = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(effects.collect::<Result<_, _>>()?)
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?1")?;
    let found: Option<i64> = statement.query_row([name], |row| row.get(0)).optional()?;
    Ok(found.is_some())
}
