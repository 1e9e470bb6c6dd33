use super::{intents, jobs};
use crate::{
    call::{ExpectedJob, Intent},
    rules::{IntentRow, JobRow},
    store::sqlite::{damage::Tx, fault::Fault, statements::rows},
};

/// Adds a job that another store exported. It is what its intent became.
pub(in crate::store::sqlite) fn import_job(tx: &Tx<'_>, job: &ExpectedJob) -> Result<bool, Fault> {
    let is_new = jobs::find(tx, &job.job_id)?.is_none();
    if is_new {
        let entry = jobs::article_entry(tx, &job.job_id)?;
        rows::add_job(tx, &job.job_id, JobRow::import(job, entry.as_ref(), tx.now()))?;
    }
    let is_known = intents::resolve(tx, job.intent.as_deref(), &job.job_id)?;
    if let Some(name) = job.intent.as_deref().filter(|_| !is_known) {
        rows::add_intent(tx, name, IntentRow::of_imported(job, tx.now()))?;
    }
    Ok(is_new)
}

/// Adds an intent that another store exported, or takes over what became of it.
pub(in crate::store::sqlite) fn import_intent(tx: &Tx<'_>, intent: &Intent) -> Result<bool, Fault> {
    let Some(mut known) = intents::find(tx, &intent.name)? else {
        rows::add_intent(tx, &intent.name, IntentRow::import(intent, tx.now()))?;
        return Ok(true);
    };
    if known.row.import_outcome(intent) {
        rows::save_intent(tx, &known)?;
    }
    Ok(false)
}
