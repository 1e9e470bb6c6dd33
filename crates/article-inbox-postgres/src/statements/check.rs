use std::time::SystemTime;

use article_inbox::EntryKey;
use article_webhook::Event;

use super::sql;
use crate::{
    connection::{Transaction, Work},
    schema,
};

/// Entries that are corrupt, and others of which a body is not what was received. PostgreSQL's own checksums find damaged
/// pages, if they are on; it notices no change inside a value.
const DAMAGED: &str = "SELECT e.id, e.job_id, e.event, e.state = 'corrupt' FROM article_inbox_entries e \
    WHERE e.state = 'corrupt' OR EXISTS (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id \
    AND b.body IS NOT NULL AND sha256(b.body) <> b.digest) ORDER BY e.id LIMIT 1000";

/// Bodies without an entry, and entries that seem to have bytes and have none.
const LOST: &str = "SELECT 'a body has no entry: ' || b.entry FROM article_inbox_bodies b \
    WHERE NOT EXISTS (SELECT FROM article_inbox_entries e WHERE e.id = b.entry) \
    UNION ALL SELECT 'entry ' || e.id || ': its bodies are missing' FROM article_inbox_entries e WHERE e.has_bytes \
    AND NOT EXISTS (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id AND b.body IS NOT NULL) LIMIT 1000";

/// Looks for damage in everything that is stored, and for settings that lose what was acknowledged.
pub(crate) fn check<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, Vec<String>> {
    Box::pin(async move {
        let mut findings = schema::wrong_settings(tx).await?;
        for row in tx.query(DAMAGED, &[]).await? {
            let (id, job_id, event): (i64, &str, &str) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let key = match job_id.parse() {
                Ok(job_id) => EntryKey { job_id, event: Event::from(event) }.to_string(),
                Err(_) => "of no job".to_owned(),
            };
            let what = match row.try_get(3)? {
                true => "is corrupt",
                false => "has a body that is not what was received",
            };
            let key = key.escape_debug();
            findings.push(format!("entry {id}, {key}, {what}: deliver or collect the job again"));
        }
        for row in tx.query(LOST, &[]).await? {
            findings.push(row.try_get(0)?);
        }
        Ok(findings)
    })
}

/// Writes something, to check whether the database can commit.
pub(crate) fn probe<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, ()> {
    Box::pin(async move {
        tx.query(sql::WRITE_LOG, &[]).await?;
        Ok(())
    })
}

/// The database's time.
pub(crate) fn now<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, SystemTime> {
    Box::pin(tx.now())
}
