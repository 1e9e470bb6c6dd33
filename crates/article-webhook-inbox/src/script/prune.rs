//! Scripts that remove what is old.

use std::{collections::HashMap, time::SystemTime};

use super::{Effect, Entries, Expected, Jobs, Script, Tables};
use crate::{
    Error, State,
    call::{LedgerPruned, Prune, Pruned},
    rules::{JobRow, JobRows},
};

#[doc(hidden)]
impl Script for Prune {
    type Output = Pruned;

    fn effect(&self) -> Effect {
        Effect::Prunes
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Pruned, Error> {
        let mut pruned = Pruned::default();
        let limit = self.limit.saturating_add(1);
        let old = Entries::DoneWithBytes { before: self.bodies_before, limit };
        let with_bytes = tables.entries(old).await?;
        let mut ids = Vec::new();
        for (state, before) in [
            (State::Done, Some(self.entries_before)),
            (State::Unhandled, Some(self.entries_before)),
            (State::Dead, self.dead_before),
        ] {
            let Some(before) = before else { continue };
            ids.extend(tables.entries(Entries::Ended { state, before, limit }).await?);
        }
        let all = with_bytes.iter().chain(&ids).copied().collect();
        let mut jobs = tables.jobs(Jobs::OfEntries(all)).await?;
        let mut bytes = 0;
        for id in with_bytes {
            let job = jobs.iter_mut().find(|job| job.entry_of(id).is_some());
            if let Some(job) = job.filter(|_| !pruned.more) {
                job.prune_bodies(id, self, &mut pruned, &mut bytes);
            }
        }
        ids.sort_by_key(|id| (ended_at(&jobs, *id), *id));
        // What is kept of jobs is numbered in the order in which their entries ended.
        let order: HashMap<_, _> = ids.iter().enumerate().map(|(index, id)| (*id, index)).collect();
        jobs.sort_by_key(|job| job.entries.iter().filter_map(|it| order.get(&it.row.id)).min());
        for id in ids {
            let Some(job) = jobs.iter_mut().find(|job| job.entry_of(id).is_some()) else {
                continue;
            };
            let row = job.entry_of(id).and_then(|entry| entry.row.get());
            // The API may give the article of a job that is in doubt: that is not handled again.
            let is_in_doubt = job.expected.get().is_some_and(|row| row.unproven.is_some());
            if is_in_doubt || !row.is_some_and(|row| self.removes_entry(row)) {
                continue;
            }
            if pruned.entries == self.limit {
                pruned.more = true;
                break;
            }
            job.prune_entry(id);
            pruned.entries += 1;
        }
        tables.save(&mut jobs).await?;
        Ok(pruned)
    }
}

fn ended_at(jobs: &[JobRows], id: i64) -> Option<SystemTime> {
    let entry = jobs.iter().find_map(|job| job.entry_of(id))?;
    entry.row.get().map(|row| row.at)
}

/// Removes rows of the ledger whose jobs ended before a time.
#[derive(Debug)]
pub struct PruneLedger {
    /// The time.
    pub before: SystemTime,
    /// At most this many.
    pub limit: u32,
}

impl Script for PruneLedger {
    type Output = LedgerPruned;

    async fn run(&self, tables: &mut dyn Tables) -> Result<LedgerPruned, Error> {
        let limit = self.limit.saturating_add(1);
        let mut ids = tables.expected(Expected::Ended { before: self.before, limit }).await?;
        let more = ids.len() > self.limit as usize;
        ids.truncate(self.limit as usize);
        let mut jobs = tables.jobs(Jobs::OfExpected(ids)).await?;
        let mut pruned = LedgerPruned { jobs: 0, more };
        for job in &mut jobs {
            if job.expected.get().is_some_and(|row: &JobRow| row.is_pruned(self.before)) {
                job.expected.remove();
                pruned.jobs += 1;
            }
        }
        tables.save(&mut jobs).await?;
        Ok(pruned)
    }
}
