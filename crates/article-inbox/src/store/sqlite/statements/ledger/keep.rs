use std::time::SystemTime;

use super::{intents, jobs};
use crate::{
    call::{ExpectedJob, Intent, LedgerPruned},
    rules::{IntentRow, JobRow},
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
        statements::{prune::free_pages, rows, sql::ledger as sql},
    },
    timestamp::to_millis,
};

/// Removes a batch of jobs that ended, as [`Ledger::prune_ledger`](crate::store::Ledger::prune_ledger) says.
pub(in crate::store::sqlite) fn prune_ledger(
    tx: &Tx<'_>,
    before: SystemTime,
    limit: u32,
) -> Result<LedgerPruned, Fault> {
    let mut old: Vec<i64> = tx
        .prepare_cached(sql::OLD_JOBS)?
        .query_map((to_millis(before), i64::from(limit) + 1), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut pruned = LedgerPruned { jobs: 0, more: old.len() > limit as usize };
    old.truncate(limit as usize);
    for id in old {
        match jobs::get(tx, id)? {
            Some(job) if job.row.is_pruned(before) => {
                tx.prepare_cached(sql::REMOVE_JOB)?.execute([id])?;
                pruned.jobs += 1;
            }
            _ if tx.may_build_again() => return Err(index_differs()),
            _ => {}
        }
    }
    free_pages(tx)?;
    Ok(pruned)
}

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
