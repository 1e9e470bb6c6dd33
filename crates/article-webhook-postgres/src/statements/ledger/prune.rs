use std::time::SystemTime;

use article_webhook_inbox::{LedgerPruned, store::to_millis};
use tokio_postgres::types::Type;

use crate::connection::{Transaction, Work, first};

/// Removes jobs that [`JobRow::is_pruned`](article_webhook_inbox::store::JobRow::is_pruned) accepts, and must agree with it. Returns
/// how many, and whether there are more.
const PRUNE_JOBS: &str = "WITH old AS MATERIALIZED (SELECT id FROM article_inbox_jobs WHERE NOT is_open AND at < $1 \
    ORDER BY at, id LIMIT $2 + 1 FOR UPDATE SKIP LOCKED), \
    gone AS (DELETE FROM article_inbox_jobs WHERE id IN (SELECT id FROM old LIMIT $2) RETURNING id) \
    SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM old) > $2";

/// Removes a batch of jobs that ended, as [`Ledger::prune_ledger`](article_webhook_inbox::store::Ledger::prune_ledger) says.
pub(crate) fn prune_ledger<'t>(
    tx: &'t Transaction<'t>,
    (before, limit): &'t (SystemTime, u32),
) -> Work<'t, LedgerPruned> {
    Box::pin(async move {
        let (before, limit) = (to_millis(*before), i64::from(*limit));
        let parameters = [(&before as _, Type::INT8), (&limit as _, Type::INT8)];
        let rows = tx.query(PRUNE_JOBS, &parameters).await?;
        let row = first(&rows)?;
        let jobs = u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u32::MAX);
        Ok(LedgerPruned { jobs, more: row.try_get(1)? })
    })
}
