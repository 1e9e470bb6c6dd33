use std::{
    collections::{BTreeMap, HashMap},
    time::SystemTime,
};

use article_webhook::JobId;

use crate::{
    ClockStep,
    call::{Ask, AskClaim, Asks, LedgerPruned},
    rules::{AskLane, Bucket, IntentRow, JobRow},
};

/// The tables of the ledger.
#[derive(Default)]
pub(super) struct LedgerTables {
    pub(super) jobs: BTreeMap<i64, (JobId, JobRow)>,
    job_ids: HashMap<JobId, i64>,
    pub(super) intents: BTreeMap<i64, (Box<str>, IntentRow)>,
    pub(super) bucket: Option<Bucket>,
    last_id: i64,
}

impl LedgerTables {
    pub(super) fn job(&self, job_id: &JobId) -> Option<(i64, &JobRow)> {
        let id = self.job_ids.get(job_id)?;
        self.jobs.get(id).map(|(_, row)| (*id, row))
    }

    pub(super) fn job_mut(&mut self, job_id: &JobId) -> Option<&mut JobRow> {
        let id = self.job_ids.get(job_id)?;
        self.jobs.get_mut(id).map(|(_, row)| row)
    }

    /// Adds a job. `false` if it is there already.
    pub(super) fn add_job(&mut self, job_id: &JobId, row: impl FnOnce() -> JobRow) -> bool {
        let is_new = !self.job_ids.contains_key(job_id);
        if is_new {
            self.last_id += 1;
            self.job_ids.insert(job_id.clone(), self.last_id);
            self.jobs.insert(self.last_id, (job_id.clone(), row()));
        }
        is_new
    }

    pub(super) fn intent_mut(&mut self, name: &str) -> Option<(i64, &mut IntentRow)> {
        let mut intents = self.intents.iter_mut();
        let (id, (_, row)) = intents.find(|(_, (known, _))| **known == *name)?;
        Some((*id, row))
    }

    /// Adds an intent, which must not be there, and returns its id.
    pub(super) fn add_intent(&mut self, name: &str, row: IntentRow) -> i64 {
        self.last_id += 1;
        self.intents.insert(self.last_id, (name.into(), row));
        self.last_id
    }

    pub(super) fn bucket_mut(&mut self, now: SystemTime) -> &mut Bucket {
        self.bucket.get_or_insert_with(|| Bucket::new(now))
    }

    pub(super) fn claim(&mut self, claim: AskClaim, now: SystemTime) -> Asks {
        let mut asks = Asks::default();
        let mut bucket = self.bucket.unwrap_or_else(|| Bucket::new(now));
        while asks.asks.len() < claim.limit as usize {
            let head = |lane| self.head(lane, now);
            let Some(lane) = AskLane::next(bucket.turn, |lane| head(lane).is_some()) else { break };
            let Some(id) = head(lane).filter(|_| bucket.take(claim.bucket, now)) else { break };
            let Some((job_id, row)) = self.jobs.get_mut(&id) else { break };
            let lease = row.ask(id, claim.lease, now);
            asks.asks.push(Ask { lease, job: row.clone().into_job(id, job_id.clone()) });
        }
        let is_asked = |id| asks.asks.iter().any(|ask| ask.lease.id == id);
        let open = self.jobs.iter().filter(|(id, (_, row))| row.state.is_open() && !is_asked(**id));
        let next_due = open.map(|(_, (_, row))| row.at).min();
        let next_token = bucket.next_token(claim.bucket, now);
        asks.next = next_due.zip(next_token).map(|(due, token)| due.max(token));
        self.bucket = Some(bucket);
        asks
    }

    /// The job of the lane that has been due longest.
    fn head(&self, lane: AskLane, now: SystemTime) -> Option<i64> {
        let due = self.jobs.iter().filter(|(_, (_, row))| row.is_due(now) && row.lane() == lane);
        due.map(|(id, (_, row))| (row.at, *id)).min().map(|(_, id)| id)
    }

    pub(super) fn follow_clock(&mut self, step: ClockStep) {
        self.jobs.values_mut().for_each(|(_, row)| _ = row.follow(step));
        self.intents.values_mut().for_each(|(_, row)| _ = row.follow(step));
        self.bucket.iter_mut().for_each(|bucket| bucket.follow(step));
    }

    pub(super) fn forget(&mut self, job_id: &JobId) {
        let job = self.job_ids.remove(job_id).and_then(|id| self.jobs.remove(&id));
        let intent = job.and_then(|(_, row)| row.intent);
        for (name, row) in self.intents.values_mut() {
            if row.may_become(name, job_id, intent.as_deref()) {
                row.forget(job_id);
            }
        }
    }

    pub(super) fn prune(&mut self, before: SystemTime, limit: u32) -> LedgerPruned {
        let old = self.jobs.iter().filter(|(_, (_, row))| row.is_pruned(before));
        let (jobs, more_jobs) = oldest(old.map(|(id, (_, row))| (row.at, *id)), limit);
        for id in &jobs {
            if let Some((job_id, _)) = self.jobs.remove(id) {
                self.job_ids.remove(&job_id);
            }
        }
        let old = self.intents.iter().filter(|(_, (_, row))| row.is_pruned(before));
        let (intents, more_intents) = oldest(old.map(|(id, (_, row))| (row.at, *id)), limit);
        for id in &intents {
            self.intents.remove(id);
        }
        let count = |ids: Vec<i64>| u32::try_from(ids.len()).unwrap_or(u32::MAX);
        LedgerPruned { jobs: count(jobs), intents: count(intents), more: more_jobs || more_intents }
    }
}

/// The ids of the oldest, and whether there are more than the limit.
fn oldest(old: impl Iterator<Item = (SystemTime, i64)>, limit: u32) -> (Vec<i64>, bool) {
    let mut old: Vec<_> = old.collect();
    old.sort_unstable();
    let more = old.len() > limit as usize;
    (old.into_iter().take(limit as usize).map(|(_, id)| id).collect(), more)
}
