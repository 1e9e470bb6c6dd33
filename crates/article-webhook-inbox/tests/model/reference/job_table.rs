use super::inbox::JobRow;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::SystemTime,
};

use article_webhook::JobId;

/// The jobs of the ledger, with indexes, so that a claim of polls costs the same for any number of jobs.
#[derive(Default)]
pub(super) struct JobTable {
    jobs: BTreeMap<i64, (JobId, JobRow)>,
    ids: HashMap<JobId, i64>,
    /// The open jobs, by time.
    open: BTreeSet<(SystemTime, i64)>,
    /// The jobs that ended, by time.
    ended: BTreeSet<(SystemTime, i64)>,
}

impl JobTable {
    pub(super) fn id(&self, job_id: &JobId) -> Option<i64> {
        self.ids.get(job_id).copied()
    }

    pub(super) fn get(&self, id: i64) -> Option<&(JobId, JobRow)> {
        self.jobs.get(&id)
    }

    /// All jobs, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, &JobId, &JobRow)> {
        self.jobs.iter().map(|(id, (job_id, row))| (*id, job_id, row))
    }

    /// Adds a job, which must not be there.
    pub(super) fn add(&mut self, id: i64, job_id: JobId, row: JobRow) {
        self.enter(id, &row);
        self.ids.insert(job_id.clone(), id);
        self.jobs.insert(id, (job_id, row));
    }

    /// Changes a job, which moves in the indexes. `None` if it is not there.
    pub(super) fn change<T>(
        &mut self,
        id: i64,
        change: impl FnOnce(&mut JobRow) -> T,
    ) -> Option<T> {
        let (job_id, mut row) = self.jobs.remove(&id)?;
        self.leave(id, &row);
        let changed = change(&mut row);
        self.enter(id, &row);
        self.jobs.insert(id, (job_id, row));
        Some(changed)
    }

    pub(super) fn remove(&mut self, id: i64) -> Option<JobRow> {
        let (job_id, row) = self.jobs.remove(&id)?;
        self.leave(id, &row);
        self.ids.remove(&job_id);
        Some(row)
    }

    /// The open jobs, with the time that each is due: what has been due longest comes first.
    pub(super) fn open(&self) -> impl Iterator<Item = (SystemTime, i64)> {
        self.open.iter().copied()
    }

    /// The jobs that are due, in the same order.
    pub(super) fn due(&self, now: SystemTime) -> impl Iterator<Item = i64> {
        self.open().take_while(move |(at, _)| *at <= now).map(|(_, id)| id)
    }

    /// The jobs that ended, the oldest first.
    pub(super) fn ended(&self) -> impl Iterator<Item = i64> {
        self.ended.iter().map(|(_, id)| *id)
    }

    fn enter(&mut self, id: i64, row: &JobRow) {
        if row.state.is_open() {
            self.open.insert((row.at, id));
        } else {
            self.ended.insert((row.at, id));
        }
    }

    fn leave(&mut self, id: i64, row: &JobRow) {
        if row.state.is_open() {
            self.open.remove(&(row.at, id));
        } else {
            self.ended.remove(&(row.at, id));
        }
    }
}
