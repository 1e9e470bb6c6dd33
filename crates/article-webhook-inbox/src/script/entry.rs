//! Scripts that change entries.

use article_webhook::JobId;
use std::time::{Duration, SystemTime};

use super::{Effect, Intents, Jobs, Script, Tables};
use crate::{
    Body, Entry, EntryKey, Error, State,
    call::{Arrival, Lease, Outcome, Recorded, Settled},
    rules::{BodyBytes, BodyRow, JobRows},
    timestamp::rounded,
};

/// Stores bodies under their keys, and tells the ledger of copies of articles.
#[derive(Debug)]
pub struct Record(pub Vec<Arrival>);

impl Script for Record {
    type Output = Vec<Recorded>;

    fn effect(&self) -> Effect {
        Effect::Adds(self.0.iter().map(|arrival| arrival.bytes.len()).sum())
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<Recorded>, Error> {
        let named = self.0.iter().map(|arrival| arrival.key.job_id.clone()).collect();
        let mut jobs = tables.jobs(Jobs::Named(named)).await?;
        let now = tables.now();
        let names: Vec<_> = self.0.iter().filter_map(|arrival| arrival.intent.clone()).collect();
        let mut intents = match names.is_empty() {
            true => Vec::new(),
            false => tables.intents(Intents::Named(names)).await?,
        };
        let mut recorded = Vec::with_capacity(self.0.len());
        for arrival in &self.0 {
            let job = named_mut(&mut jobs, &arrival.key.job_id);
            let mut intents = intents.iter_mut();
            let intent = intents.find(|intent| Some(&intent.name) == arrival.intent.as_ref());
            let intent = intent.and_then(|intent| intent.row.get_mut());
            recorded.push(job.record(arrival, intent, now));
        }
        tables.save(&mut jobs).await?;
        if !intents.is_empty() {
            tables.save_intents(&mut intents).await?;
        }
        Ok(recorded)
    }
}

pub(super) fn named_mut<'a>(jobs: &'a mut [JobRows], job_id: &JobId) -> &'a mut JobRows {
    jobs.iter_mut().find(|job| job.job_id == *job_id).expect("the tables return every named job")
}

/// Extends leases. Returns those that still held.
#[derive(Debug)]
pub struct Extend(pub Vec<Lease>, pub Duration);

impl Script for Extend {
    type Output = Vec<Lease>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<Lease>, Error> {
        let ids = self.0.iter().map(|lease| lease.id).collect();
        let mut jobs = tables.jobs(Jobs::OfEntries(ids)).await?;
        let now = tables.now();
        let mut held = self.0.clone();
        held.retain(|lease| {
            let mut jobs = jobs.iter_mut();
            let extended = jobs
                .find_map(|job| job.change(lease.id, now, |row| row.extend(*lease, self.1, now)));
            extended == Some(true)
        });
        tables.save(&mut jobs).await?;
        Ok(held)
    }
}

/// Stores the outcomes of attempts.
#[derive(Debug)]
pub struct Settle(pub Vec<(Lease, Outcome)>);

impl Script for Settle {
    type Output = Vec<Settled>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<Settled>, Error> {
        let ids = self.0.iter().map(|(lease, _)| lease.id).collect();
        let mut jobs = tables.jobs(Jobs::OfEntries(ids)).await?;
        let now = tables.now();
        let settle = |(lease, outcome): &(Lease, Outcome)| {
            let job = jobs.iter_mut().find(|job| job.entry_of(lease.id).is_some());
            job.map_or(Settled::LostLease, |job| job.settle(*lease, outcome, now))
        };
        let settled = self.0.iter().map(settle).collect();
        tables.save(&mut jobs).await?;
        Ok(settled)
    }
}

/// Changes one job by a rule.
async fn change<T>(
    tables: &mut dyn Tables,
    job_id: &JobId,
    change: impl FnOnce(&mut JobRows, SystemTime) -> T + Send,
) -> Result<T, Error> {
    let mut jobs = tables.jobs(Jobs::Named(vec![job_id.clone()])).await?;
    let changed = change(named_mut(&mut jobs, job_id), tables.now());
    tables.save(&mut jobs).await?;
    Ok(changed)
}

/// Requeues an entry.
#[derive(Debug)]
pub struct Requeue(pub EntryKey, pub Option<State>);

impl Script for Requeue {
    type Output = bool;

    async fn run(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        change(tables, &self.0.job_id, |job, now| job.requeue(&self.0.event, self.1, now)).await
    }
}

/// Discards an entry.
#[derive(Debug)]
pub struct Bury(pub EntryKey, pub String);

impl Script for Bury {
    type Output = bool;

    async fn run(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        change(tables, &self.0.job_id, |job, now| job.bury(&self.0.event, &self.1, now)).await
    }
}

/// Pauses the claims of all processes. A second pause changes nothing.
#[derive(Debug)]
pub struct Pause;

impl Script for Pause {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        match tables.paused_since().await? {
            Some(_) => Ok(()),
            None => tables.set_paused_since(Some(tables.now())).await,
        }
    }
}

/// Ends a pause.
#[derive(Debug)]
pub struct Resume;

impl Script for Resume {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        tables.set_paused_since(None).await
    }
}

/// Erases everything about a job. Returns the number of entries.
#[derive(Debug)]
pub struct Erase(pub JobId);

impl Script for Erase {
    type Output = u64;

    fn effect(&self) -> Effect {
        Effect::Erases
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<u64, Error> {
        let mut jobs = tables.jobs(Jobs::Named(vec![self.0.clone()])).await?;
        let job = named_mut(&mut jobs, &self.0);
        let intent = job.expected.get().and_then(|row| row.intent.clone());
        let erased = job.erase();
        tables.save(&mut jobs).await?;
        let (job_id, named) = (self.0.clone(), intent.clone());
        let may_have = Intents::MayHaveOrdered { job_id, intent: named };
        let mut intents = tables.intents(may_have).await?;
        for order in &mut intents {
            if let Some(row) = order.row.get_mut()
                && row.may_have_ordered(&order.name, &self.0, intent.as_deref())
            {
                row.forget(&self.0);
            }
        }
        tables.save_intents(&mut intents).await?;
        Ok(erased as u64)
    }
}

/// Adds an entry that another store exported.
#[derive(Debug)]
pub struct Import(pub Entry, pub Vec<Body>);

impl Script for Import {
    type Output = bool;

    fn effect(&self) -> Effect {
        let bytes = self.1.iter().filter_map(|body| body.bytes.as_ref());
        Effect::Adds(bytes.map(|bytes| bytes.len()).sum())
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        let entry = Entry { received_at: rounded(self.0.received_at), ..self.0.clone() };
        let bodies = self.1.iter().map(|body| BodyRow {
            received_at: rounded(body.received_at),
            source: body.source,
            target: body.target.clone(),
            intent: body.intent.clone(),
            digest: body.digest,
            bytes: body.bytes.clone().map_or(BodyBytes::Removed, BodyBytes::New),
        });
        let bodies = bodies.collect();
        change(tables, &self.0.key.job_id, |job, now| job.import(&entry, bodies, now)).await
    }
}
