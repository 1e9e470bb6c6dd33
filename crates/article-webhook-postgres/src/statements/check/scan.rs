use std::collections::HashSet;

use tokio_postgres::{Row, types::Type};

use crate::{connection::Transaction, fault::Fault};

/// How many rows are read together.
const BATCH: i64 = 1000;

/// How many rows that cannot be read are looked for. Each takes some statements.
const MOST: usize = 1000;

/// What reading all rows of a table has found.
#[derive(Default)]
pub(super) struct Scanned {
    pub(super) findings: Vec<String>,
    /// The ids of rows that the server cannot read, because a page is damaged.
    pub(super) unreadable: HashSet<i64>,
}

/// Reads what a statement selects of all rows: those of ids greater than its first parameter, up to the second, by ascending
/// id, and as many as the third. Its first column is the id. Rows that cannot be read are looked for between those that can.
pub(super) async fn scan(
    tx: &Transaction<'_>,
    statement: &str,
    look: impl Fn(&Row) -> Result<Option<String>, Fault> + Send + Sync,
) -> Result<Scanned, Fault> {
    let (mut scanned, mut ranges) = (Scanned::default(), vec![(i64::MIN, i64::MAX)]);
    while let Some((after, end)) = ranges.pop() {
        if let Some(rows) = tx.unless_damaged(read(tx, statement, after, end)).await? {
            for row in &rows {
                scanned.findings.extend(look(row)?);
            }
            if let Some(last) = rows.last() {
                ranges.push((last.try_get(0)?, end));
            }
        } else if after.checked_add(1) == Some(end) {
            scanned.unreadable.insert(end);
            if scanned.unreadable.len() >= MOST {
                break;
            }
        } else {
            let middle = after.midpoint(end);
            ranges.extend([(middle, end), (after, middle)]);
        }
    }
    Ok(scanned)
}

async fn read(
    tx: &Transaction<'_>,
    statement: &str,
    after: i64,
    end: i64,
) -> Result<Vec<Row>, Fault> {
    // Found by their ids, rows of other pages are not read.
    tx.batch("SAVEPOINT by_index; SET LOCAL enable_seqscan = off").await?;
    let parameters =
        [(&after as _, Type::INT8), (&end as _, Type::INT8), (&BATCH as _, Type::INT8)];
    let rows = tx.query(statement, &parameters).await?;
    tx.batch("ROLLBACK TO by_index; RELEASE by_index").await?;
    Ok(rows)
}
