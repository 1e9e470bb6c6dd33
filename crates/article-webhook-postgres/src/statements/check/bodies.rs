use std::collections::{BTreeSet, HashSet};

use article_webhook::Event;
use article_webhook_inbox::EntryKey;
use tokio_postgres::Row;

use super::scan::scan;
use crate::{connection::Transaction, fault::Fault};

/// Entries, whether each is corrupt, and whether a body of another is not what was received. PostgreSQL's own checksums find
/// damaged pages, if they are on; it notices no change inside a value. The bodies of a corrupt one may be unreadable, so they
/// are not looked at: `OFFSET 0` keeps the server from looking at all bodies together.
const BODIES: &str = "SELECT e.id, e.job_id, e.event, e.state = 'corrupt', CASE WHEN e.state <> 'corrupt' THEN \
    EXISTS (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id \
    AND b.body IS NOT NULL AND sha256(b.body) <> b.digest OFFSET 0) END, \
    CASE WHEN e.state <> 'corrupt' THEN (SELECT string_agg(concat(b.target, b.intent), '') FROM \
    (SELECT * FROM article_inbox_bodies b WHERE b.entry = e.id OFFSET 0) AS b) END FROM (SELECT * FROM article_inbox_entries \
    WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3) AS e ORDER BY e.id";

/// Bodies without an entry, and entries that seem to have bytes and have none.
const LOST: &str = "SELECT 'a body has no entry: ' || b.entry FROM article_inbox_bodies b \
    WHERE NOT EXISTS (SELECT FROM article_inbox_entries e WHERE e.id = b.entry) \
    UNION ALL SELECT 'entry ' || e.id || ': its bodies are missing' FROM article_inbox_entries e WHERE e.has_bytes \
    AND NOT EXISTS (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id AND b.body IS NOT NULL) LIMIT 1000";

/// Reads every body, and tells those that are not what was received or that the server cannot read.
pub(super) async fn damaged_bodies(
    tx: &Transaction<'_>,
    known: &HashSet<i64>,
) -> Result<Vec<String>, Fault> {
    let scanned = scan(tx, BODIES, finding).await?;
    let unreadable: BTreeSet<_> = scanned.unreadable.difference(known).copied().collect();
    let says = |id| {
        format!(
            "entry {id}: its bodies cannot be read, a page is damaged: deliver or collect the job again"
        )
    };
    Ok(scanned.findings.into_iter().chain(unreadable.into_iter().map(says)).collect())
}

/// Looks for bodies without entries, and for entries without their bodies.
pub(super) async fn lost_bodies(tx: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    match tx.unless_damaged(tx.query(LOST, &[])).await? {
        Some(rows) => Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?),
        None => Ok(vec![
            "a page of entries or bodies is damaged: whether each body has its entry is unknown"
                .to_owned(),
        ]),
    }
}

fn finding(row: &Row) -> Result<Option<String>, Fault> {
    let id: i64 = row.try_get(0)?;
    let what = if row.try_get(3)? {
        "is corrupt"
    } else if row.try_get::<_, Option<bool>>(4)? == Some(true) {
        "has a body that is not what was received"
    } else if row.try_get::<_, Option<&str>>(5).is_err() {
        "has a body whose target or intent is damaged"
    } else {
        return Ok(None);
    };
    let job_id = row.try_get::<_, &str>(1).ok().and_then(|job_id| job_id.parse().ok());
    let key = match (job_id, row.try_get::<_, &str>(2)) {
        (Some(job_id), Ok(event)) => EntryKey { job_id, event: Event::from(event) }.to_string(),
        _ => "of no job".to_owned(),
    };
    let key = key.escape_debug();
    Ok(Some(format!("entry {id}, {key}, {what}: deliver or collect the job again")))
}
