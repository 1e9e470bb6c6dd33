use article_inbox::EntryKey;
use article_webhook::Event;
use tokio_postgres::{Row, types::Type};

use super::super::claim::is_damage;
use crate::{
    connection::{Transaction, first},
    fault::Fault,
};

/// Entries that are corrupt, and others of which a body is not what was received. PostgreSQL's own checksums find damaged
/// pages, if they are on; it notices no change inside a value. The bodies of a corrupt one may be unreadable, so they are
/// not looked at: `OFFSET 0` keeps the server from looking at all bodies together.
const DAMAGED: &str = "SELECT e.id, e.job_id, e.event, e.state = 'corrupt' FROM article_inbox_entries e \
    WHERE e.id > $1 AND e.id <= $2 AND CASE WHEN e.state = 'corrupt' THEN true \
    ELSE EXISTS (SELECT FROM article_inbox_bodies b WHERE b.entry = e.id \
    AND b.body IS NOT NULL AND sha256(b.body) <> b.digest OFFSET 0) END ORDER BY e.id";

/// The ids of the next entries: greater than the first, and up to the second.
const NEXT: &str = "SELECT min(id) - 1, max(id) FROM \
    (SELECT id FROM article_inbox_entries WHERE id > $1 ORDER BY id LIMIT 1000) AS batch";

/// Reads every body, and tells those that are not what was received or that the server cannot read.
pub(super) async fn damaged_bodies(tx: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    let (mut findings, mut last) = (Vec::new(), i64::MIN);
    loop {
        let next = tx.query(NEXT, &[(&last, Type::INT8)]).await?;
        let (after, Some(end)) =
            (first(&next)?.try_get::<_, Option<i64>>(0)?, first(&next)?.try_get(1)?)
        else {
            return Ok(findings);
        };
        last = end;
        // One that cannot be read is looked for between those that can.
        let mut ranges = vec![(after.unwrap_or_default(), end)];
        while let Some((after, end)) = ranges.pop() {
            tx.batch("SAVEPOINT bodies").await?;
            match tx.query(DAMAGED, &[(&after, Type::INT8), (&end, Type::INT8)]).await {
                Ok(rows) => {
                    for row in rows {
                        findings.push(finding(&row)?);
                    }
                }
                Err(fault) if !is_damage(&fault) => return Err(fault),
                Err(_) if end - after > 1 => {
                    let middle = after + (end - after) / 2;
                    ranges.extend([(middle, end), (after, middle)]);
                }
                Err(_) => findings.push(format!(
                    "entry {end}: its bodies cannot be read, a page is damaged: deliver or collect the job again"
                )),
            }
            tx.batch("ROLLBACK TO bodies; RELEASE bodies").await?;
        }
    }
}

fn finding(row: &Row) -> Result<String, Fault> {
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
    Ok(format!("entry {id}, {key}, {what}: deliver or collect the job again"))
}
