use super::inbox::*;
use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{
    ledger_tables::LedgerTables,
    tables::{StoredEntry, Tables},
};

impl LedgerTables {
    pub(super) fn intent(&mut self, name: &str, now: SystemTime) -> Option<Intent> {
        let (id, row) = self.intent_mut(name)?;
        Some(row.clone().into_intent(id, name.into(), now))
    }

    /// Begins the call of an intent that is not known, or that may be ordered again.
    pub(super) fn begin_order(
        &mut self,
        name: &str,
        within: Duration,
        key: u64,
        now: SystemTime,
    ) -> Intended {
        if let Err(pause) = self.bucket.begin_call(key, now) {
            return Intended::Paused(pause);
        }
        let intent = self.intent_mut(name);
        let again = intent.and_then(|(id, row)| row.order_again(id, within, now));
        Intended::Begun(again.unwrap_or_else(|| {
            let row = IntentRow::new(within, now);
            let id = self.add_intent(name, row.clone());
            row.lease(id)
        }))
    }
}

/// A job as the ledger shows it.
pub(super) fn shown((id, job_id, row): (i64, &JobId, &JobRow)) -> ExpectedJob {
    row.clone().into_job(id, job_id.clone())
}

impl Tables {
    pub(super) fn import(&mut self, lines: &[ExportLine], now: SystemTime) -> Imported {
        let mut imported = Imported::default();
        for line in lines {
            match line {
                ExportLine::Entry(entry) => {
                    let is_new = self.import_entry(entry, now);
                    imported.added += u64::from(is_new);
                    imported.present += u64::from(!is_new);
                }
                ExportLine::Job(job) => {
                    let entry = self.article_entry(&job.job_id);
                    let row = || job.row().imported(entry.as_ref(), now);
                    let is_new = self.ledger.add_job(&job.job_id, row);
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    let intent = job.intent.as_deref();
                    let is_known = self.ledger.resolve(intent, &job.job_id, now);
                    if let Some(name) = intent.filter(|_| !is_known) {
                        let row = IntentRow::of_imported(&job.job_id, &job.row(), now);
                        self.ledger.add_intent(name, row);
                    }
                }
                ExportLine::Intent(intent) => {
                    let known = self.ledger.intent_mut(&intent.name);
                    let is_new = known.is_none();
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    match known {
                        Some((_, row)) => drop(row.import_outcome(&intent.row())),
                        None => {
                            self.ledger.add_intent(&intent.name, intent.row().imported(now));
                        }
                    }
                }
                ExportLine::Bucket(bucket) => self.ledger.bucket.import(bucket, now),
            }
        }
        imported
    }

    fn import_entry(&mut self, entry: &EntryLine, now: SystemTime) -> bool {
        let key = EntryKey { job_id: entry.job_id.clone(), event: entry.event.clone() };
        let job = self.ledger.job(&key.job_id).filter(|_| key.is_article());
        let is_of_article = key.quarantined().is_some_and(|key| key.is_article());
        let is_handled = is_of_article && self.is_handled(&key.job_id);
        if self.ids.contains_key(&key) || job.is_some_and(JobRow::is_tombstone) || is_handled {
            return false;
        }
        let (row, received_at) = (entry.row().imported(now), entry.received_at);
        let bodies = entry.bodies.iter();
        let bodies = bodies.map(|body| body.row().with_bytes(body.body.clone())).collect();
        self.insert(StoredEntry { key: key.clone(), received_at, row, bodies });
        for bytes in entry.bodies.iter().filter_map(|body| body.body.as_ref()) {
            self.copy_came(&key, bytes);
        }
        self.end_if_handled(&key.job_id);
        self.sync_with_entry(&key, now);
        true
    }

    pub(super) fn expect(&mut self, expect: &Expect, now: SystemTime) -> JobState {
        let entry = self.article_entry(&expect.job_id);
        let new = || JobRow::new(expect, entry.as_ref(), now);
        let is_new = self.ledger.add_job(&expect.job_id, new);
        let state = self.ledger.change_job(&expect.job_id, |job| {
            if !is_new {
                job.expect(expect, now);
            }
            job.state
        });
        state.expect("it is there, or was just added")
    }

    /// Expects a job. If it was delivered to the URL of an intent and refused, that must be good for it.
    pub(super) fn expect_of(&mut self, expect: &Expect, now: SystemTime) -> JobState {
        let (name, job_id) = (expect.intent.as_deref().unwrap_or_default(), &expect.job_id);
        let job = self.ledger.job(job_id).cloned();
        let known = job.as_ref().and_then(|job| job.intent.as_deref());
        let Some((_, intent)) = self.ledger.intent_mut(name) else {
            return self.expect(expect, now);
        };
        let is_delivered = matches!(expect.reason, Reason::Refused { .. });
        if !is_delivered {
            intent.resolve(job_id, now);
            self.expect(expect, now)
        } else if intent.admits((name, known), job_id) {
            intent.bind((name, known), job_id, now);
            self.expect(expect, now)
        } else if intent.is_in_doubt() {
            self.expect(&Expect { intent: None, ..expect.clone() }, now)
        } else {
            job.map_or(JobState::Expected, |job| job.state)
        }
    }

    /// The job is not that of this intent. In the model nothing comes to capability URLs, so that its entry stays.
    pub(super) fn unbind(&mut self, job_id: &JobId, name: &str) {
        if self.ledger.job(job_id).and_then(|job| job.intent.as_deref()) != Some(name) {
            return;
        }
        if let Some(entry) = self.get_mut(&EntryKey::article(job_id.clone())) {
            for body in &mut entry.bodies {
                body.intent.take_if(|intent| &**intent == name);
            }
        }
        let is_named = |job: &mut JobRow| job.intent.take_if(|intent| &**intent == name);
        _ = self.ledger.change_job(job_id, is_named);
    }

    pub(super) fn settle_poll(
        &mut self,
        lease: PollLease,
        outcome: &PollOutcome,
        key: u64,
        now: SystemTime,
    ) -> PollSettled {
        // Also if the lease is lost: it is the answer that says so.
        if !matches!(outcome, PollOutcome::Again { .. } | PollOutcome::Released) {
            self.ledger.bucket.accept_key(key);
        }
        let job = self.ledger.jobs.get(lease.id);
        let Some((job_id, row)) = job.filter(|(_, row)| row.is_polled(lease, now)) else {
            return PollSettled::LostLease;
        };
        let (job_id, intent) = (job_id.clone(), row.intent.clone());
        let arrival = |key, answer: &ApiAnswer| Arrival {
            key,
            source: Source::Api,
            target: answer.target.clone(),
            intent,
            digest: answer.digest,
            bytes: answer.bytes.clone(),
        };
        match outcome {
            PollOutcome::Answered(answer) => {
                let entry = self.article_entry(&job_id).map(|entry| entry.state);
                let records = |row: &mut JobRow| row.records_answer(answer.digest, entry);
                if self.ledger.jobs.change(lease.id, records) == Some(true) {
                    self.record_body(arrival(EntryKey::article(job_id.clone()), answer), now);
                }
            }
            PollOutcome::Failed { answer, .. } => {
                self.record_body(arrival(EntryKey::failure(job_id.clone()), answer), now);
            }
            _ => {}
        }
        let entry = self.article_entry(&job_id).map(|entry| entry.state);
        let settled = self.ledger.jobs.change(lease.id, |row| {
            let before = row.state;
            (row.settle(lease, outcome, key, entry, now), before)
        });
        let (settled, before) = settled.expect("it was just there");
        self.overtake(&job_id, before);
        settled
    }
}
