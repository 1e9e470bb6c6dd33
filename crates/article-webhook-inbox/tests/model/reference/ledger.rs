use super::inbox::{
    ApiAnswer, Arrival, Body, Bucket, BucketEvent, Entry, EntryKey, Expect, ExpectedJob, ImportRow,
    Imported, Intended, Intent, IntentLease, IntentRow, IntentState, JobFilter, JobRow, JobState,
    Ledger, LedgerCounts, LedgerPage, LedgerPruned, NotOrdered, Pending, PollClaim, PollLease,
    PollOutcome, PollSettled, Polls, Reason, Row, Source,
};
use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{
    Reference,
    ledger_tables::LedgerTables,
    rounded,
    tables::{StoredEntry, Tables},
};

impl Ledger for Reference {
    fn intend<'a>(&'a self, name: &'a str, within: Duration, key: u64) -> Pending<'a, Intended> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let known = tables.ledger.intent(name, now);
            let begin = || tables.ledger.begin_order(name, within, key, now);
            Ok(known.map_or_else(begin, Intended::Known))
        })
    }

    fn order_again<'a>(
        &'a self,
        name: &'a str,
        within: Duration,
        key: u64,
    ) -> Pending<'a, Intended> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let known = tables.ledger.intent(name, now);
            let known = known.filter(|intent| !intent.state.may_be_ordered_again());
            let begin = || tables.ledger.begin_order(name, within, key, now);
            Ok(known.map_or_else(begin, Intended::Known))
        })
    }

    fn ordered<'a>(
        &'a self,
        name: &'a str,
        job_id: JobId,
        at: SystemTime,
        key: u64,
    ) -> Pending<'a, ()> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let is_expected = if let Some((_, row)) = tables.ledger.intent_mut(name) {
                row.answer(&job_id, now)
            } else {
                // An intent that is gone begins and ends now.
                let mut row = IntentRow::new(Duration::ZERO, now);
                row.resolve(&job_id, now);
                tables.ledger.add_intent(name, row);
                true
            };
            if is_expected {
                let (reason, intent, key) = (Reason::Ordered, Some(name.into()), Some(key));
                tables.expect(&Expect { reason, intent, key, ..Expect::job(job_id, at) }, now);
            }
            tables.ledger.bucket.accept_key(key);
            Ok(())
        })
    }

    fn not_ordered(&self, lease: IntentLease) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let ledger = &mut tables.ledger;
            let Some((_, row)) = ledger.intents.get_mut(&lease.id) else { return Ok(false) };
            let decision = row.not_ordered(lease, now);
            if decision == NotOrdered::Remove {
                ledger.remove_intent(lease.id);
            }
            Ok(decision != NotOrdered::Nothing)
        })
    }

    fn outcome_lost(&self, lease: IntentLease) -> Pending<'_, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let intent = tables.ledger.intents.get_mut(&lease.id);
            Ok(intent.is_some_and(|(_, row)| row.outcome_lost(lease, now)))
        })
    }

    fn abandon<'a>(&'a self, name: &'a str) -> Pending<'a, bool> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.ledger.intent_mut(name).is_some_and(|(_, row)| row.abandon(now)))
        })
    }

    fn expect(&self, jobs: Vec<Expect>) -> Pending<'_, Vec<JobState>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            let states = jobs.iter().map(|expect| tables.expect(expect, now)).collect();
            for expect in &jobs {
                tables.ledger.resolve(expect.intent.as_deref(), &expect.job_id, now);
            }
            Ok(states)
        })
    }

    fn claim_polls(&self, claim: PollClaim) -> Pending<'_, Polls> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.ledger.claim(claim, now))
        })
    }

    fn settle_poll(
        &self,
        lease: PollLease,
        outcome: PollOutcome,
        key: u64,
    ) -> Pending<'_, PollSettled> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.settle_poll(lease, &outcome, key, now))
        })
    }

    fn report(&self, event: BucketEvent) -> Pending<'_, ()> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            tables.ledger.bucket.report(event, now);
            Ok(())
        })
    }

    fn bucket(&self) -> Pending<'_, Bucket> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.ledger.bucket)
        })
    }

    fn job(&self, job_id: JobId) -> Pending<'_, Option<ExpectedJob>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            Ok(tables.ledger.jobs.id(&job_id).and_then(|id| tables.ledger.shown(id)))
        })
    }

    fn jobs(&self, filter: JobFilter) -> Pending<'_, LedgerPage<ExpectedJob>> {
        Box::pin(async move {
            let (tables, _) = self.open()?;
            let jobs = tables.ledger.jobs.iter().map(shown).filter(|job| filter.accepts(job));
            let jobs = jobs.take((filter.limit as usize).saturating_add(1)).collect();
            Ok(LedgerPage::new(jobs, filter.limit, |job| job.id))
        })
    }

    fn intent<'a>(&'a self, name: &'a str) -> Pending<'a, Option<Intent>> {
        Box::pin(async move {
            let (mut tables, now) = self.open()?;
            Ok(tables.ledger.intent(name, now))
        })
    }

    fn intents(
        &self,
        state: Option<IntentState>,
        after: i64,
        limit: u32,
    ) -> Pending<'_, LedgerPage<Intent>> {
        Box::pin(async move {
            let (tables, now) = self.open()?;
            let later = tables.ledger.intents.range(after.saturating_add(1)..);
            let intents = later
                .map(|(id, (name, row))| row.clone().into_intent(*id, name.clone(), now))
                .filter(|intent| state.is_none_or(|state| state == intent.state));
            let intents = intents.take((limit as usize).saturating_add(1)).collect();
            Ok(LedgerPage::new(intents, limit, |intent| intent.id))
        })
    }

    fn ledger_counts(&self) -> Pending<'_, LedgerCounts> {
        Box::pin(async move {
            let (tables, now) = self.open()?;
            let mut counts = LedgerCounts::default();
            tables.ledger.jobs.iter().map(shown).for_each(|job| counts.add(&job, now));
            let states = tables.ledger.intents.values().map(|(_, row)| row.state_at(now));
            counts.unknown_intents =
                states.filter(|state| *state == IntentState::Unknown).count() as u64;
            Ok(counts)
        })
    }

    fn prune_ledger(&self, before: SystemTime, limit: u32) -> Pending<'_, LedgerPruned> {
        Box::pin(async move {
            let (mut tables, _) = self.open()?;
            Ok(tables.ledger.prune(before, limit))
        })
    }
}

impl LedgerTables {
    fn intent(&mut self, name: &str, now: SystemTime) -> Option<Intent> {
        let (id, row) = self.intent_mut(name)?;
        Some(row.clone().into_intent(id, name.into(), now))
    }

    /// Begins the call of an intent that is not known, or that may be ordered again.
    fn begin_order(&mut self, name: &str, within: Duration, key: u64, now: SystemTime) -> Intended {
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
fn shown((id, job_id, row): (i64, &JobId, &JobRow)) -> ExpectedJob {
    row.clone().into_job(id, job_id.clone())
}

impl Tables {
    pub(super) fn import(
        &mut self,
        rows: Vec<ImportRow>,
        now: SystemTime,
    ) -> (Imported, Vec<ExpectedJob>) {
        let (mut imported, mut early) = (Imported::default(), Vec::new());
        let (entries, rest): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|row| matches!(row, ImportRow::Entry(..)));
        for row in entries.into_iter().chain(rest) {
            match row {
                ImportRow::Entry(entry, bodies) => {
                    let is_new = self.import_entry(&entry, bodies, now);
                    imported.added += u64::from(is_new);
                    imported.present += u64::from(!is_new);
                }
                ImportRow::Job(job)
                    if job.relies_on().is_some_and(|key| !self.ids.contains_key(&key)) =>
                {
                    early.push(job);
                }
                ImportRow::Job(job) | ImportRow::RemovedJob(job) => {
                    let entry = self.article_entry(&job.job_id);
                    let row = || JobRow::import(&job, entry.as_ref(), now);
                    let is_new = self.ledger.add_job(&job.job_id, row);
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    let intent = job.intent.as_deref();
                    let is_known = self.ledger.resolve(intent, &job.job_id, now);
                    if let Some(name) = intent.filter(|_| !is_known) {
                        self.ledger.add_intent(name, IntentRow::of_imported(&job, now));
                    }
                }
                ImportRow::Intent(intent) => {
                    let known = self.ledger.intent_mut(&intent.name);
                    let is_new = known.is_none();
                    imported.ledger_added += u64::from(is_new);
                    imported.ledger_present += u64::from(!is_new);
                    match known {
                        Some((_, row)) => drop(row.import_outcome(&intent)),
                        None => {
                            let row = IntentRow::import(&intent, now);
                            self.ledger.add_intent(&intent.name, row);
                        }
                    }
                }
                ImportRow::Bucket(bucket) => self.ledger.bucket.import(&bucket, now),
            }
        }
        (imported, early)
    }

    fn import_entry(&mut self, entry: &Entry, bodies: Vec<Body>, now: SystemTime) -> bool {
        let job = self.ledger.job(&entry.key.job_id).filter(|_| entry.key.is_article());
        if self.ids.contains_key(&entry.key) || job.is_some_and(JobRow::is_tombstone) {
            return false;
        }
        let (row, received_at) = (Row::import(entry, now), rounded(entry.received_at));
        let bodies = bodies.into_iter();
        let bodies =
            bodies.map(|body| Body { received_at: rounded(body.received_at), ..body }).collect();
        let key = entry.key.clone();
        self.insert(StoredEntry { key: key.clone(), received_at, row, bodies });
        self.sync_with_entry(&key, now);
        true
    }

    fn expect(&mut self, expect: &Expect, now: SystemTime) -> JobState {
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

    fn settle_poll(
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
