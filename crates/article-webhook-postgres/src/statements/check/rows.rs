use super::{
    super::{ledger, rows, sql},
    isolate::name,
    scan::{Scanned, scan},
};
use crate::{connection::Transaction, fault::Fault};

const ENTRIES: &str = concat!(
    "SELECT ",
    sql::entry!(),
    " FROM article_inbox_entries e WHERE e.id > $1 AND e.id <= $2 ORDER BY e.id LIMIT $3"
);

/// Reads every entry, and tells those that are damaged.
pub(super) async fn damaged_entries(tx: &Transaction<'_>) -> Result<Scanned, Fault> {
    let mut scanned = scan(tx, ENTRIES, |found| {
        let stored = rows::stored(found)?;
        let says = |column| {
            format!(
                "{} has a damaged row, in the column {column}: restore it from a backup",
                name(&stored)
            )
        };
        Ok(stored.damage.map(says))
    })
    .await?;
    tell(&mut scanned, "entry");
    Ok(scanned)
}

/// Reads everything of the ledger, and tells what is damaged.
pub(super) async fn damage_of_ledger(tx: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    let mut jobs = scan(tx, ledger::SCAN_JOBS, ledger::damage_of_job).await?;
    tell(&mut jobs, "job of the ledger");
    let mut intents = scan(tx, ledger::SCAN_INTENTS, ledger::damage_of_intent).await?;
    tell(&mut intents, "intent of the ledger");
    let bucket = tx.unless_damaged(ledger::damage_of_bucket(tx)).await?;
    let unreadable = || Some("the bucket of asks cannot be read, its page is damaged".to_owned());
    let bucket = bucket.unwrap_or_else(unreadable);
    Ok([jobs.findings, intents.findings].into_iter().flatten().chain(bucket).collect())
}

/// Adds what is to be said of rows that cannot be read.
fn tell(scanned: &mut Scanned, row: &str) {
    let says = |id| {
        format!("{row} {id}: its row cannot be read, a page is damaged: restore it from a backup")
    };
    scanned.findings.extend(scanned.unreadable.iter().map(says));
}
