use tokio_postgres::{Row, types::Type};

use super::{
    super::{ledger, rows, sql},
    isolate::name,
};
use crate::{connection::Transaction, fault::Fault};

const ENTRIES: &str = concat!(
    "SELECT ",
    sql::entry!(),
    " FROM article_inbox_entries e WHERE e.id > $1 ORDER BY e.id LIMIT $2"
);

/// How many rows are read together.
const BATCH: i64 = 1000;

/// Reads every row, and tells those that are damaged.
pub(super) async fn damaged_rows(tx: &Transaction<'_>) -> Result<Vec<String>, Fault> {
    let mut findings = scan(tx, ENTRIES, |found| {
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
    findings.extend(scan(tx, ledger::SCAN_JOBS, ledger::damage_of_job).await?);
    findings.extend(scan(tx, ledger::SCAN_INTENTS, ledger::damage_of_intent).await?);
    findings.extend(ledger::damage_of_bucket(tx).await?);
    Ok(findings)
}

/// What is found in the rows of a statement, of which the first column is the id.
async fn scan(
    tx: &Transaction<'_>,
    statement: &str,
    look: impl Fn(&Row) -> Result<Option<String>, Fault>,
) -> Result<Vec<String>, Fault> {
    let (mut findings, mut last) = (Vec::new(), i64::MIN);
    loop {
        let rows = tx.query(statement, &[(&last, Type::INT8), (&BATCH, Type::INT8)]).await?;
        let Some(end) = rows.last() else { return Ok(findings) };
        last = end.try_get(0)?;
        for row in &rows {
            findings.extend(look(row)?);
        }
    }
}
