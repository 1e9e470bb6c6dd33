//! Scripts that change entries.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use article_webhook::JobId;

use super::{Effect, IntentRows, Intents, Jobs, Mark, Script, Tables};
use crate::{
    EntryKey, Error, State,
    call::{Arrival, Lease, Outcome, Recorded, Settled, Since},
    rules::{EntryRows, IntentRow, JobRows, MAX_BODY_BYTES, decode_again},
};

/// Stores bodies under their keys, and reports copies of articles to the ledger.
#[derive(Debug)]
pub struct Record(pub Vec<Arrival>);

impl Script for Record {
    type Output = Vec<Recorded>;

    fn effect(&self) -> Effect {
        Effect::Adds(self.0.iter().map(|arrival| arrival.bytes.len()).sum())
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<Recorded>, Error> {
        let named = self.0.iter().map(|arrival| &arrival.key.job_id);
        let mut jobs = NamedJobs::load(tables, named).await?;
        let now = tables.now();
        let names = self.0.iter().filter_map(|arrival| arrival.intent.clone());
        let mut intents = intents_of(tables, names).await?;
        let mut recorded = Vec::with_capacity(self.0.len());
        for arrival in &self.0 {
            let job = jobs.get_mut(&arrival.key.job_id);
            let intent = row_of(&mut intents, arrival.intent.as_deref()).map(|(_, row)| row);
            recorded.push(job.record(arrival, intent, now));
        }
        jobs.save(tables).await?;
        if !intents.is_empty() {
            tables.save_intents(&mut intents).await?;
        }
        Ok(recorded)
    }
}

/// Jobs in the order in which a script first names them, which is that of their new ids.
pub(super) struct NamedJobs {
    jobs: Vec<JobRows>,
    indexes: HashMap<JobId, usize>,
}

impl NamedJobs {
    pub(super) async fn load(
        tables: &mut dyn Tables,
        named: impl Iterator<Item = &JobId> + Send,
    ) -> Result<Self, Error> {
        let mut indexes = HashMap::new();
        for job_id in named {
            let next = indexes.len();
            indexes.entry(job_id.clone()).or_insert(next);
        }
        let mut jobs = tables.jobs(Jobs::Named(indexes.keys().cloned().collect())).await?;
        jobs.sort_unstable_by_key(|job| indexes.get(&job.job_id));
        Ok(Self { jobs, indexes })
    }

    pub(super) fn get_mut(&mut self, job_id: &JobId) -> &mut JobRows {
        &mut self.jobs[self.indexes[job_id]]
    }

    pub(super) async fn save(&mut self, tables: &mut dyn Tables) -> Result<(), Error> {
        tables.save(&mut self.jobs).await
    }
}

/// The intents of these names, each once, so that all that a call changes of an intent is in one row.
pub(super) async fn intents_of(
    tables: &mut dyn Tables,
    names: impl Iterator<Item = Box<str>> + Send,
) -> Result<Vec<IntentRows>, Error> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    match names.is_empty() {
        true => Ok(Vec::new()),
        false => tables.intents(Intents::Named(names)).await,
    }
}

/// The row of the intent of this name, with its name, if it is stored.
pub(super) fn row_of<'a>(
    intents: &'a mut [IntentRows],
    name: Option<&str>,
) -> Option<(&'a str, &'a mut IntentRow)> {
    let intent = intents.iter_mut().find(|intent| Some(&*intent.name) == name)?;
    Some((&*intent.name, intent.row.get_mut()?))
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

/// Requeues entries, each from a state if one is named. What is in quarantine is read again. Returns which were requeued. There
/// are results for the first entries only, if what is to be read of all is too much for one transaction.
#[derive(Debug)]
pub struct Requeue {
    /// The entries.
    pub entries: Vec<(EntryKey, Option<State>)>,
    /// What they remember as the time of it.
    pub at: SystemTime,
}

impl Script for Requeue {
    type Output = Vec<bool>;

    fn makes_due(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<bool>, Error> {
        let named = self.entries.iter().map(|(key, _)| &key.job_id);
        let mut jobs = NamedJobs::load(tables, named).await?;
        let now = tables.now();
        let (mut requeued, mut bytes) = (Vec::with_capacity(self.entries.len()), 0);
        for (key, from) in &self.entries {
            let entry = jobs.get_mut(&key.job_id).entry(&key.event);
            bytes += entry.filter(|_| key.is_quarantine()).map_or(0, EntryRows::quarantine_cost);
            if bytes > MAX_BODY_BYTES as u64 && !requeued.is_empty() {
                break;
            }
            requeued.push(match key.is_quarantine() {
                false => jobs.get_mut(&key.job_id).requeue(&key.event, *from, self.at, now),
                true => decode_quarantine(tables, jobs.get_mut(&key.job_id), key).await?,
            });
        }
        jobs.save(tables).await?;
        Ok(requeued)
    }
}

/// Reads bodies in quarantine again, as this version does. What it can read becomes an entry, and that ends the quarantine.
/// Returns whether it has.
async fn decode_quarantine(
    tables: &mut dyn Tables,
    job: &mut JobRows,
    key: &EntryKey,
) -> Result<bool, Error> {
    let Some(entry) = job.entry(&key.event) else { return Ok(false) };
    let bodies = tables.bodies(vec![entry.row.id]).await?.into_iter().flatten();
    let decoded = bodies.filter_map(|loaded| decode_again(key, &loaded.body));
    let decoded: Vec<_> = decoded.collect();
    // What came to the URL of an order that is another job stays where it is.
    let names = decoded.iter().filter_map(|arrival| arrival.intent.clone());
    let mut intents = intents_of(tables, names).await?;
    for arrival in &decoded {
        let intent = row_of(&mut intents, arrival.intent.as_deref()).map(|(_, row)| row);
        job.record(arrival, intent, tables.now());
    }
    tables.save_intents(&mut intents).await?;
    Ok(job.entry(&key.event).is_none())
}

/// Discards entries, with a cause. Returns which were discarded.
#[derive(Debug)]
pub struct Discard(pub Vec<EntryKey>, pub String);

impl Script for Discard {
    type Output = Vec<bool>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<bool>, Error> {
        let mut jobs = NamedJobs::load(tables, self.0.iter().map(|key| &key.job_id)).await?;
        let now = tables.now();
        let discard = |key: &EntryKey| jobs.get_mut(&key.job_id).discard(&key.event, &self.1, now);
        let discarded = self.0.iter().map(discard).collect();
        jobs.save(tables).await?;
        Ok(discarded)
    }
}

/// Pauses the claims of all processes. A second pause changes nothing.
#[derive(Debug)]
pub struct Pause(pub Option<Box<str>>);

impl Script for Pause {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        match tables.since(Mark::Paused).await? {
            Some(_) => Ok(()),
            None => {
                // PostgreSQL stores no U+0000 in a text.
                let by = self.0.as_ref().map(|by| by.replace('\0', "\u{fffd}").into());
                let since = Since { at: tables.now(), by };
                tables.set_since(Mark::Paused, Some(since)).await
            }
        }
    }
}

/// Ends a pause.
#[derive(Debug)]
pub struct Resume;

impl Script for Resume {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        tables.set_since(Mark::Paused, None).await
    }
}

/// Erases everything about jobs. Returns the number of entries of each. There are results for the first jobs only, if the
/// bodies of all are too much for one transaction.
#[derive(Debug)]
pub struct Erase(pub Vec<JobId>);

impl Script for Erase {
    type Output = Vec<u64>;

    fn effect(&self) -> Effect {
        Effect::Erases
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<u64>, Error> {
        let mut jobs = NamedJobs::load(tables, self.0.iter()).await?;
        let (mut erased, mut of, mut bytes) = (Vec::new(), Vec::new(), 0);
        for job_id in &self.0 {
            let job = jobs.get_mut(job_id);
            bytes += job.bytes();
            if bytes > MAX_BODY_BYTES as u64 && !erased.is_empty() {
                break;
            }
            let intent = job.expected.get().and_then(|row| row.intent.clone());
            erased.push(job.erase() as u64);
            of.push((job_id.clone(), intent));
        }
        let mut intents = tables.intents(Intents::MayHaveOrdered(of.clone())).await?;
        for (job_id, intent) in &of {
            for order in &mut intents {
                if let Some(row) = order.row.get_mut()
                    && row.may_have_ordered(&order.name, job_id, intent.as_deref())
                {
                    row.erase(job_id);
                }
            }
        }
        tables.save_intents(&mut intents).await?;
        jobs.save(tables).await?;
        Ok(erased)
    }
}
