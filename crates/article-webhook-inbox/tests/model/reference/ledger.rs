use super::inbox::*;
use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{
    ledger_tables::LedgerTables,
    tables::{StoredEntry, Tables},
};

/// Why what came to the URL of an order is set aside.
const OF_ANOTHER_JOB: &str = "it was delivered to the URL of an order for another job: has the URL leaked? If the job is yours, collect it";

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
        topic: Option<Topic>,
        now: SystemTime,
    ) -> Intended {
        if let Err(pause) = self.bucket.begin_call(key, now) {
            return Intended::Paused(pause);
        }
        let intent = self.intent_mut(name);
        let again = intent.and_then(|(id, row)| {
            let lease = row.order_again(id, within, now)?;
            row.topic = topic.clone().or(row.topic.take());
            Some(lease)
        });
        Intended::Begun(again.unwrap_or_else(|| {
            let row = IntentRow { topic, ..IntentRow::new(within, now) };
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
                    let Some(name) = intent else { continue };
                    match self.ledger.intent_mut(name) {
                        Some((_, row)) => row.resolve_imported(&job.job_id, &job.row(), now),
                        None => {
                            let row = IntentRow::of_imported(&job.job_id, &job.row(), now);
                            self.ledger.add_intent(name, row);
                        }
                    }
                }
                ExportLine::Intent(intent) => {
                    let known = self.ledger.intent_mut(&intent.name);
                    let is_new = known.is_none();
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    match known {
                        Some((_, row)) => row.import_outcome(&intent.row()),
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

    /// Whether the URL of an intent is good for a job. `None` if the ledger does not have the intent.
    pub(super) fn admits(&mut self, name: &str, job_id: &JobId) -> Option<bool> {
        let known = self.ledger.job(job_id).and_then(|job| job.intent.clone());
        let (_, intent) = self.ledger.intent_mut(name)?;
        Some(intent.admits((name, known.as_deref()), job_id))
    }

    /// The job was delivered to the URL of an intent, which is good for it. Returns when it is polled, if it is bound by that alone.
    pub(super) fn bind(
        &mut self,
        name: &str,
        job_id: &JobId,
        now: SystemTime,
    ) -> Option<SystemTime> {
        let job = self.ledger.job(job_id).cloned();
        let is_doubtful = match self.get(&EntryKey::article(job_id.clone())) {
            Some((_, entry)) => entry.bodies.iter().all(Body::is_by_capability),
            None => !job.as_ref().is_some_and(JobRow::is_tombstone),
        };
        let known = job.as_ref().and_then(|job| job.intent.as_deref());
        let (_, intent) = self.ledger.intent_mut(name)?;
        intent.bind((name, known), job_id, now).filter(|_| is_doubtful)
    }

    /// Expects a job. If it was delivered to the URL of an intent and refused, that must be good for it.
    pub(super) fn expect_of(&mut self, expect: &Expect, now: SystemTime) -> JobState {
        let (name, job_id) = (expect.intent.as_deref().unwrap_or_default(), &expect.job_id);
        let Some(is_admitted) = self.admits(name, job_id) else {
            return self.expect(expect, now);
        };
        if !matches!(expect.reason, Reason::Refused { .. }) {
            self.ledger.resolve(Some(name), job_id, now);
            return self.expect(expect, now);
        }
        if is_admitted {
            let bound = self.bind(name, job_id, now);
            let state = self.expect(expect, now);
            if let Some(at) = bound {
                self.ledger.change_job(job_id, |job| job.doubt(name, at, now));
            }
            return state;
        }
        let (_, intent) = self.ledger.intent_mut(name).expect("it was just there");
        if intent.expects_refused(job_id) {
            intent.note_refused(job_id);
            self.expect(&Expect { intent: None, ..expect.clone() }, now);
            self.ledger.change_job(job_id, |job| {
                if job.intent.is_none() && job.state.is_open() {
                    job.unproven = Some(name.into());
                }
            });
        }
        self.ledger.job(job_id).map_or(JobState::Expected, |job| job.state)
    }

    /// The answer to an order names the job.
    pub(super) fn confirm(&mut self, job_id: &JobId, now: SystemTime) {
        self.ledger.change_job(job_id, |job| job.unproven = None);
        self.sync_with_entry(&EntryKey::article(job_id.clone()), now);
    }

    /// The job is not that of this intent. Bodies that came to its URL alone are set aside, if no handler has them. Returns the job
    /// if a handler may have had them.
    pub(super) fn unbind(&mut self, job_id: &JobId, name: &str, now: SystemTime) -> Option<JobId> {
        if self.ledger.job(job_id).and_then(|job| job.intent.as_deref()) != Some(name) {
            return None;
        }
        let key = EntryKey::article(job_id.clone());
        let (mut aside, mut is_handled) = (None, false);
        if let Some(entry) =
            self.get_mut(&key).filter(|entry| entry.bodies.iter().all(Body::is_by_capability))
        {
            let (state, attempts) = (entry.row.state, entry.row.attempts);
            let is_rejected = matches!(state, State::Unhandled | State::Corrupt);
            is_handled = !is_rejected && (state != State::Waiting || attempts > 0);
            aside = (is_rejected || state == State::Waiting).then(|| entry.bodies.clone());
        }
        for body in self.get_mut(&key).into_iter().flat_map(|entry| &mut entry.bodies) {
            body.intent.take_if(|intent| &**intent == name);
        }
        self.ledger.change_job(job_id, |job| (job.intent, job.unproven) = (None, None));
        if let Some(bodies) = aside {
            self.remove_key(&key);
            self.ledger.change_job(job_id, |job| job.reopen(now));
            for Body { source, target, intent, digest, bytes, .. } in bodies {
                let Some(bytes) = bytes else { continue };
                let arrival = Arrival { key: key.clone(), source, target, intent, digest, bytes };
                self.keep(arrival, OF_ANOTHER_JOB.to_owned(), u64::MAX, now);
            }
        } else {
            self.sync_with_entry(&key, now);
        }
        is_handled.then(|| job_id.clone())
    }

    /// The service knows a job that was delivered to the URL of an order which another job may be.
    fn known(&mut self, job_id: &JobId, now: SystemTime) -> Option<JobId> {
        let job = self.ledger.job(job_id).filter(|job| !job.is_provisional())?;
        let name = job.unproven.clone()?;
        let mut handled = None;
        let mut is_its_job = false;
        match self.admits(&name, job_id) {
            None => {}
            Some(true) => {
                self.bind(&name, job_id, now);
                is_its_job = true;
            }
            Some(false) => {
                let (_, intent) = self.ledger.intent_mut(&name)?;
                let mut bound = intent.provisional.clone();
                bound.retain(|other| self.ledger.job(other).is_some_and(JobRow::is_provisional));
                let has_others = !bound.is_empty();
                bound.retain(|other| {
                    self.ledger.job(other).is_some_and(|job| job.missing.is_some())
                });
                if let Some(other) = bound.into_iter().next() {
                    let (_, intent) = self.ledger.intent_mut(&name)?;
                    intent.replace(&other, job_id);
                    handled = self.unbind(&other, &name, now);
                    is_its_job = true;
                } else if has_others {
                    return None;
                }
            }
        }
        self.ledger.change_job(job_id, |job| {
            job.unproven = None;
            if is_its_job {
                job.intent = Some(name);
            }
        });
        handled
    }

    /// The service does not know a job, which may be bound to an order by a delivery.
    fn not_known(&mut self, job_id: &JobId, now: SystemTime) -> Option<JobId> {
        let job = self.ledger.job(job_id)?;
        let (name, is_provisional) = (job.intent.clone()?, job.is_provisional());
        let intent = self.ledger.intent_mut(&name);
        let was_bound = intent.is_some_and(|(_, intent)| intent.unbind(job_id, now));
        if was_bound || is_provisional { self.unbind(job_id, &name, now) } else { None }
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
        let Some((job_id, _)) = job.filter(|(_, row)| row.is_polled(lease, now)) else {
            return PollSettled::LostLease;
        };
        let job_id = job_id.clone();
        let mut handled = None;
        if outcome.knows_the_job() {
            handled = self.known(&job_id, now);
        }
        let intent = self.ledger.job(&job_id).and_then(|row| row.intent.clone());
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
        if settled == PollSettled::Settled(JobState::NotFound) {
            handled = self.not_known(&job_id, now);
        }
        match handled {
            Some(other) => {
                let state = self.ledger.job(&job_id).expect("it was just there").state;
                PollSettled::OtherHandled { state, other }
            }
            None => settled,
        }
    }
}
