use article_webhook_inbox::{
    ExpectedJob, Intent,
    store::{IntentRow, JobRow},
};

use super::{intents, job_locks, jobs, rows};
use crate::connection::{Transaction, Work};

/// Adds a job that another store exported. It is what its intent became.
pub(crate) fn import_job<'t>(tx: &'t Transaction<'t>, job: &'t ExpectedJob) -> Work<'t, bool> {
    Box::pin(async move {
        job_locks::take(tx, std::iter::once(&job.job_id)).await?;
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
