use std::time::SystemTime;

use article_inbox::{
    ExpectedJob, Intent, LedgerPruned,
    store::{IntentRow, JobRow, to_millis},
};
use tokio_postgres::types::Type;

use super::{intents, jobs, rows};
use crate::connection::{Transaction, Work, first};

/// Removes jobs that [`JobRow::is_pruned`](article_inbox::store::JobRow::is_pruned) accepts, and must agree with it. Returns
/// how many, and whether there are more.
const PRUNE_JOBS: &str = "WITH old AS MATERIALIZED (SELECT id FROM article_inbox_jobs WHERE lane IS NULL AND at < $1 \
    ORDER BY at, id LIMIT $2 + 1 FOR UPDATE SKIP LOCKED), \
    gone AS (DELETE FROM article_inbox_jobs WHERE id IN (SELECT id FROM old LIMIT $2) RETURNING id) \
    SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM old) > $2";

/// The same for intents and [`IntentRow::is_pruned`](article_inbox::store::IntentRow::is_pruned).
const PRUNE_INTENTS: &str = "WITH old AS MATERIALIZED (SELECT id FROM article_inbox_intents \
    WHERE state = 'abandoned' AND at < $1 ORDER BY at, id LIMIT $2 + 1 FOR UPDATE SKIP LOCKED), \
    gone AS (DELETE FROM article_inbox_intents WHERE id IN (SELECT id FROM old LIMIT $2) RETURNING id) \
    SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM old) > $2";

/// Removes a batch of what ended, as [`Ledger::prune_ledger`](article_inbox::store::Ledger::prune_ledger) says.
pub(crate) fn prune_ledger<'t>(
    tx: &'t Transaction<'t>,
    (before, limit): &'t (SystemTime, u32),
) -> Work<'t, LedgerPruned> {
    Box::pin(async move {
        let (before, limit) = (to_millis(*before), i64::from(*limit));
        let mut removed = [0; 2];
        let mut more = false;
        for (statement, removed) in [PRUNE_JOBS, PRUNE_INTENTS].into_iter().zip(&mut removed) {
            let parameters = [(&before as _, Type::INT8), (&limit as _, Type::INT8)];
            let rows = tx.query(statement, &parameters).await?;
            let row = first(&rows)?;
            *removed = u32::try_from(row.try_get::<_, i64>(0)?).unwrap_or(u32::MAX);
            more |= row.try_get::<_, bool>(1)?;
        }
        let [jobs, intents] = removed;
        Ok(LedgerPruned { jobs, intents, more })
    })
}

/// Adds a job that another store exported.
pub(crate) fn import_job<'t>(tx: &'t Transaction<'t>, job: &'t ExpectedJob) -> Work<'t, bool> {
    Box::pin(async move {
        let is_new = jobs::lock(tx, &job.job_id).await?.is_none();
        if is_new {
            let entry = jobs::article_entry(tx, &job.job_id).await?;
            let row = JobRow::import(job, entry.as_ref(), tx.now().await?);
            rows::add_job(tx, &job.job_id, row).await?;
        }
        Ok(is_new)
    })
}

/// Adds an intent that another store exported, or takes over what became of it.
pub(crate) fn import_intent<'t>(tx: &'t Transaction<'t>, intent: &'t Intent) -> Work<'t, bool> {
    Box::pin(async move {
        let Some(mut known) = intents::lock(tx, &intent.name).await? else {
            rows::add_intent(tx, &intent.name, IntentRow::import(intent)).await?;
            return Ok(true);
        };
        if known.row.import_outcome(intent) {
            rows::save_intent(tx, &known).await?;
        }
        Ok(false)
    })
}
