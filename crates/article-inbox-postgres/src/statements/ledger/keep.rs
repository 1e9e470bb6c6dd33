use std::time::SystemTime;

use article_inbox::{
    ExpectedJob, Intent, LedgerPruned,
    store::{IntentRow, JobRow, to_millis},
};
use tokio_postgres::types::Type;

use super::{intents, jobs, rows, stripes};
use crate::connection::{Transaction, Work, first};

/// Removes jobs that [`JobRow::is_pruned`](article_inbox::store::JobRow::is_pruned) accepts, and must agree with it. Returns
/// how many, and whether there are more.
const PRUNE_JOBS: &str = "WITH old AS MATERIALIZED (SELECT id FROM article_inbox_jobs WHERE lane IS NULL AND at < $1 \
    ORDER BY at, id LIMIT $2 + 1 FOR UPDATE SKIP LOCKED), \
    gone AS (DELETE FROM article_inbox_jobs WHERE id IN (SELECT id FROM old LIMIT $2) RETURNING id) \
    SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM old) > $2";

/// Removes a batch of jobs that ended, as [`Ledger::prune_ledger`](article_inbox::store::Ledger::prune_ledger) says.
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

/// Adds a job that another store exported. It is what its intent became.
pub(crate) fn import_job<'t>(tx: &'t Transaction<'t>, job: &'t ExpectedJob) -> Work<'t, bool> {
    Box::pin(async move {
        stripes::take(tx, std::iter::once(&job.job_id)).await?;
        let is_new = jobs::lock(tx, &job.job_id).await?.is_none();
        let now = tx.now().await?;
        if is_new {
            let entry = jobs::article_entry(tx, &job.job_id).await?;
            let row = JobRow::import(job, entry.as_ref(), now);
            rows::add_job(tx, &job.job_id, row).await?;
        }
        let is_known = intents::resolve(tx, job.intent.as_deref(), &job.job_id, now).await?;
        if let Some(name) = job.intent.as_deref().filter(|_| !is_known) {
            rows::add_intent(tx, name, IntentRow::of_imported(job, now)).await?;
        }
        Ok(is_new)
    })
}

/// Adds an intent that another store exported, or takes over what became of it.
pub(crate) fn import_intent<'t>(tx: &'t Transaction<'t>, intent: &'t Intent) -> Work<'t, bool> {
    Box::pin(async move {
        let Some(mut known) = intents::lock(tx, &intent.name).await? else {
            let row = IntentRow::import(intent, tx.now().await?);
            rows::add_intent(tx, &intent.name, row).await?;
            return Ok(true);
        };
        if known.row.import_outcome(intent) {
            rows::save_intent(tx, &known).await?;
        }
        Ok(false)
    })
}
