use std::time::SystemTime;

use super::jobs;
use crate::{
    call::LedgerPruned,
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
        statements::{prune::free_pages, sql::ledger as sql},
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
