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

/// Removes a batch of what ended, as [`Ledger::prune_ledger`](crate::store::Ledger::prune_ledger) says.
pub(in crate::store::sqlite) fn prune_ledger(
    tx: &Tx<'_>,
    before: SystemTime,
    limit: u32,
) -> Result<LedgerPruned, Fault> {
    let (limit, taken) = (i64::from(limit) + 1, limit as usize);
    let mut pruned = LedgerPruned::default();
    let mut jobs = old(tx, sql::OLD_JOBS, (to_millis(before), limit))?;
    pruned.more |= jobs.len() > taken;
    jobs.truncate(taken);
    for id in jobs {
        match jobs::get(tx, id)? {
            Some(job) if job.row.is_pruned(before) => {
                tx.prepare_cached(sql::REMOVE_JOB)?.execute([id])?;
                pruned.jobs += 1;
            }
            _ if tx.may_build_again() => return Err(index_differs()),
            _ => {}
        }
    }
    let mut intents = old(tx, sql::OLD_INTENTS, (to_millis(before), limit))?;
    pruned.more |= intents.len() > taken;
    intents.truncate(taken);
    for id in intents {
        match intents::get(tx, id)? {
            Some(intent) if intent.row.is_pruned(before) => {
                intents::remove(tx, id)?;
                pruned.intents += 1;
            }
            _ if tx.may_build_again() => return Err(index_differs()),
            _ => {}
        }
    }
    free_pages(tx)?;
    Ok(pruned)
}

/// The ids of what ended, the oldest first.
fn old(tx: &Tx<'_>, statement: &str, parameters: (i64, i64)) -> Result<Vec<i64>, Fault> {
    let mut statement = tx.prepare_cached(statement)?;
    let old = statement.query_map(parameters, |row| row.get(0))?;
    Ok(old.collect::<Result<_, _>>()?)
}

/// Adds a job that another store exported.
pub(in crate::store::sqlite) fn import_job(tx: &Tx<'_>, job: &ExpectedJob) -> Result<bool, Fault> {
    let is_new = jobs::find(tx, &job.job_id)?.is_none();
    if is_new {
        let entry = jobs::article_entry(tx, &job.job_id)?;
        rows::add_job(tx, &job.job_id, JobRow::import(job, entry.as_ref(), tx.now()))?;
    }
    Ok(is_new)
}

/// Adds an intent that another store exported, or takes over what became of it.
pub(in crate::store::sqlite) fn import_intent(tx: &Tx<'_>, intent: &Intent) -> Result<bool, Fault> {
    let Some(mut known) = intents::find(tx, &intent.name)? else {
        rows::add_intent(tx, &intent.name, IntentRow::import(intent))?;
        return Ok(true);
    };
    if known.row.import_outcome(intent) {
        rows::save_intent(tx, &known)?;
    }
    Ok(false)
}
