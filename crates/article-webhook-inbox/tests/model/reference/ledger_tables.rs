use super::inbox::{Bucket, ExpectedJob, IntentRow, JobRow, LedgerPruned, Poll, PollClaim, Polls};
use std::{
    collections::{BTreeMap, HashMap},
    time::SystemTime,
};

use article_webhook::JobId;

use super::job_table::JobTable;

/// The tables of the ledger.
#[derive(Default)]
pub(super) struct LedgerTables {
    pub(super) jobs: JobTable,
    pub(super) intents: BTreeMap<i64, (Box<str>, IntentRow)>,
    /// The ids of the intents.
    intent_ids: HashMap<Box<str>, i64>,
    pub(super) bucket: Bucket,
    pub(super) gaps_since: Option<SystemTime>,
    pub(super) last_id: i64,
}

impl LedgerTables {
    pub(super) fn job(&self, job_id: &JobId) -> Option<&JobRow> {
        let (_, row) = self.jobs.id(job_id).and_then(|id| self.jobs.get(id))?;
        Some(row)
    }

    /// Adds a job. `false` if it is there already.
    pub(super) fn add_job(&mut self, job_id: &JobId, row: impl FnOnce() -> JobRow) -> bool {
        let is_new = self.jobs.id(job_id).is_none();
        if is_new {
            self.last_id += 1;
            self.jobs.add(self.last_id, job_id.clone(), row());
        }
        is_new
    }

    /// Changes a job, if it is there.
    pub(super) fn change_job<T>(
        &mut self,
        job_id: &JobId,
        change: impl FnOnce(&mut JobRow) -> T,
    ) -> Option<T> {
        self.jobs.id(job_id).and_then(|id| self.jobs.change(id, change))
    }

    pub(super) fn intent_mut(&mut self, name: &str) -> Option<(i64, &mut IntentRow)> {
        let id = *self.intent_ids.get(name)?;
        self.intents.get_mut(&id).map(|(_, row)| (id, row))
    }

    /// Adds an intent, which must not be there, and returns its id.
    pub(super) fn add_intent(&mut self, name: &str, row: IntentRow) -> i64 {
        self.last_id += 1;
        self.intents.insert(self.last_id, (name.into(), row));
        self.intent_ids.insert(name.into(), self.last_id);
        self.last_id
    }

    /// The intent became this job, unless its job is known. `false` if there is no such intent.
    pub(super) fn resolve(
        &mut self,
        intent: Option<&str>,
        job_id: &JobId,
        now: SystemTime,
    ) -> bool {
        let Some((_, row)) = intent.and_then(|name| self.intent_mut(name)) else { return false };
        row.resolve(job_id, now);
        true
    }

    pub(super) fn remove_intent(&mut self, id: i64) {
        if let Some((name, _)) = self.intents.remove(&id) {
            self.intent_ids.remove(&name);
        }
    }

    pub(super) fn claim(&mut self, claim: PollClaim, now: SystemTime) -> Polls {
        let mut polls = Polls::default();
        let due: Vec<_> = self.jobs.due(now).take(claim.limit as usize).collect();
        for id in due {
            if !self.bucket.take(claim.bucket, now) {
                break;
            }
            let lease = self.jobs.change(id, |row| row.poll(id, claim.lease, now));
            let job = self.shown(id).map(|mut job| {
                job.topic = None;
                job
            });
            let poll = lease.zip(job).map(|(lease, job)| Poll { lease, job });
            polls.polls.extend(poll);
        }
        let is_polled = |id| polls.polls.iter().any(|poll| poll.lease.id == id);
        let next_due = self.jobs.open().find(|(_, id)| !is_polled(*id)).map(|(at, _)| at);
        polls.next = next_due.map(|due| due.max(self.bucket.next_token(claim.bucket, now)));
        polls
    }

    /// A job as the ledger shows it.
    pub(super) fn shown(&self, id: i64) -> Option<ExpectedJob> {
        let (job_id, row) = self.jobs.get(id)?;
        let named = |(name, _): &&(Box<str>, IntentRow)| Some(name) == row.intent.as_ref();
        let topic = self.intents.values().find(named).and_then(|(_, row)| row.topic.clone());
        Some({
            let mut job = row.clone().into_job(id, job_id.clone());
            job.topic = topic;
            job
        })
    }

    pub(super) fn erase(&mut self, job_id: &JobId) {
        let job = self.jobs.id(job_id).and_then(|id| self.jobs.remove(id));
        let intent = job.and_then(|row| row.intent);
        for (name, row) in self.intents.values_mut() {
            if row.may_have_ordered(name, job_id, intent.as_deref()) {
                row.erase(job_id);
            }
        }
    }

    pub(super) fn prune(&mut self, before: SystemTime, limit: u32) -> LedgerPruned {
        let is_old = |id: &i64| self.jobs.get(*id).is_some_and(|(_, row)| row.is_pruned(before));
        let mut jobs: Vec<_> =
            self.jobs.ended().take_while(is_old).take(limit as usize + 1).collect();
        let more = jobs.len() > limit as usize;
        jobs.truncate(limit as usize);
        for id in &jobs {
            self.jobs.remove(*id);
        }
        let mut pruned = LedgerPruned::default();
        pruned.jobs = u32::try_from(jobs.len()).unwrap_or(u32::MAX);
        pruned.more = more;
        pruned
    }
}
