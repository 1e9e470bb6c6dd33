use super::inbox::*;
use std::time::SystemTime;

use article_webhook::{ArticleResult, JobId};
use bytes::Bytes;

use super::tables::{CAPABILITY, StoredEntry, Tables, stored_body};

/// How many bodies of a refused delivery are kept.
const MAX_KEPT: usize = 2;

/// What a body takes of the budget at least.
const MIN_COST: u64 = 64 << 10;

fn length(body: &Body) -> u64 {
    body.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)
}

impl Tables {
    /// Keeps the body of a refused delivery, and expects its job.
    pub(super) fn quarantine(&mut self, quarantine: Quarantine, now: SystemTime) -> Quarantined {
        let Quarantine { arrival, cause, expect, budget, .. } = quarantine;
        let job_id = arrival.key.job_id.clone();
        if expect.is_none() && self.ledger.job(&job_id).is_none() {
            return Quarantined::NotNeeded;
        }
        let name = arrival.intent.clone().unwrap_or_default();
        let is_admitted = self.admits(&name, &job_id);
        let intent = self.ledger.intent_mut(&name).map(|(_, intent)| intent.clone());
        let quarantined = match intent.filter(|_| is_admitted == Some(false)) {
            None => self.keep(arrival, cause, budget, now),
            // The URL of the order is good for another job.
            Some(intent) => {
                let is_refused = intent.has_too_many_jobs_for(&job_id);
                let kept = intent.keeps_refused(&job_id)
                    && matches!(
                        self.keep(arrival, cause, budget, now),
                        Quarantined::Kept | Quarantined::Duplicate
                    );
                let intent = self.ledger.intent_mut(&name).filter(|_| kept);
                intent.into_iter().for_each(|(_, intent)| intent.note_refused(&job_id));
                if is_refused { Quarantined::TooManyJobs } else { Quarantined::OtherJob { kept } }
            }
        };
        if let Some(expect) = expect {
            self.expect_of(&expect, now);
        }
        quarantined
    }

    pub(super) fn keep(
        &mut self,
        arrival: Arrival,
        cause: String,
        budget: u64,
        now: SystemTime,
    ) -> Quarantined {
        if arrival.key.is_article() && self.is_handled(&arrival.key.job_id) {
            return Quarantined::NotNeeded;
        }
        let key = arrival.key.quarantine();
        let kept = self.get(&key).map_or(&[][..], |(_, entry)| &entry.bodies);
        if kept.iter().any(|body| body.bytes.is_some() && body.digest == arrival.digest) {
            return Quarantined::Duplicate;
        }
        let is_full = kept.len() >= MAX_KEPT;
        // What came to a URL gives way first, and other bodies to no such one.
        let is_by_token = |body: &Body| !body.is_by_capability();
        let is_new_by_token = &*arrival.target != CAPABILITY;
        let gives_way =
            (0..kept.len()).filter(|index| is_new_by_token || !is_by_token(&kept[*index]));
        let shortest =
            gives_way.min_by_key(|index| (is_by_token(&kept[*index]), length(&kept[*index])));
        if is_full && shortest.is_none() {
            return Quarantined::BudgetReached;
        }
        let shortest = shortest.filter(|_| is_full);
        let freed = shortest.map_or(0, |index| length(&kept[index]).max(MIN_COST));
        let in_quarantine = self.entries.values();
        let in_quarantine = in_quarantine.filter(|entry| entry.row.state == State::Quarantined);
        let bodies = in_quarantine.flat_map(|entry| &entry.bodies);
        let used: u64 = bodies.map(|body| length(body).max(MIN_COST)).sum();
        let budget = if arrival.intent.is_some() { budget / 4 } else { budget };
        if (arrival.bytes.len() as u64).max(MIN_COST) > budget.saturating_sub(used) + freed {
            return Quarantined::BudgetReached;
        }
        let body = stored_body(arrival, now);
        if let Some(entry) = self.get_mut(&key) {
            entry.row.conflicts += 1;
            end(&mut entry.row, cause, now);
            match shortest {
                Some(index) => entry.bodies[index] = body,
                None => entry.bodies.push(body),
            }
        } else {
            let mut row = Row::new(now);
            end(&mut row, cause, now);
            self.insert(StoredEntry { key, received_at: now, row, bodies: vec![body] });
        }
        Quarantined::Kept
    }

    /// Whether the article of a job was handled.
    pub(super) fn is_handled(&self, job_id: &JobId) -> bool {
        match self.get(&EntryKey::article(job_id.clone())) {
            Some((_, entry)) => entry.row.state == State::Done,
            None => self.ledger.job(job_id).is_some_and(JobRow::is_tombstone),
        }
    }

    /// A copy of what was delivered ends its quarantine if it can be read.
    pub(super) fn copy_came(&mut self, key: &EntryKey, bytes: &Bytes) {
        let reads = || ArticleResult::from_json(bytes).is_ok_and(|it| it.job_id == key.job_id);
        if !key.is_article() || reads() {
            self.remove_key(&key.quarantine());
        }
    }

    /// The article that was handled ends its quarantine.
    pub(super) fn end_if_handled(&mut self, job_id: &JobId) {
        if self.is_handled(job_id) {
            self.remove_key(&EntryKey::article(job_id.clone()).quarantine());
        }
    }

    /// Records what is in quarantine and can be read. `false` if nothing can.
    pub(super) fn read_again(&mut self, key: &EntryKey, now: SystemTime) -> bool {
        let Some((_, entry)) = self.get(key) else { return false };
        let key = key.quarantined().expect("it is that of a quarantine");
        let arrival = |body: &Body| {
            let bytes = body.bytes.clone()?;
            let (read, drift) = ArticleResult::from_json_with_drift(&bytes).ok()?;
            let is_read = key.is_article()
                && body.digest == Digest::of(&bytes)
                && read.job_id == key.job_id
                && drift.iter().all(|drift| drift.path != "status");
            is_read.then(|| Arrival {
                key: key.clone(),
                source: body.source,
                target: body.target.clone(),
                intent: body.intent.clone(),
                digest: body.digest,
                bytes,
            })
        };
        let arrivals: Vec<_> = entry.bodies.iter().filter_map(arrival).collect();
        for arrival in arrivals {
            let intent = arrival.intent.clone();
            self.record(arrival, intent.as_deref(), now);
        }
        self.get(&key.quarantine()).is_none()
    }

    /// Removes the entry of a key. `false` if there is none.
    pub(super) fn remove_key(&mut self, key: &EntryKey) -> bool {
        let id = self.get(key).map(|(id, _)| id);
        id.into_iter().for_each(|id| self.remove(id));
        id.is_some()
    }
}

fn end(row: &mut Row, cause: String, now: SystemTime) {
    (row.state, row.at, row.since) = (State::Quarantined, now, now);
    row.failures.push(Failure::new(now, row.attempts, cause.clone()));
    row.failures.drain(..row.failures.len().saturating_sub(MAX_FAILURES_PER_ENTRY));
    row.cause = Some(cause);
}
