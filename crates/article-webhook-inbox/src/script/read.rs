//! Scripts that change nothing.

use std::{collections::HashMap, time::SystemTime};

use article_webhook::JobId;

use super::{
    Entries, Expected, IntentRows, Intents, Jobs, LoadedBody, Mark, Next, Script, Tables,
    intents_of,
};
use crate::{
    Body, Entry, EntryKey, Error, State,
    call::{
        CauseCount, Counts, Events, ExpectedJob, Filter, HourCount, Intent, IntentState, JobFilter,
        LedgerCounts, Page, Since,
    },
    rules::{Bucket, JobRows},
};

/// How many entries are in each state.
#[derive(Debug)]
pub struct Count;

impl Script for Count {
    type Output = Counts;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Counts, Error> {
        tables.counts().await
    }
}

/// Since when claims are paused, if they are.
#[derive(Debug)]
pub struct PausedSince;

impl Script for PausedSince {
    type Output = Option<Since>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Option<Since>, Error> {
        tables.since(Mark::Paused).await
    }
}

/// Since when the oldest entry has been due.
#[derive(Debug)]
pub struct DueSince;

impl Script for DueSince {
    type Output = Option<SystemTime>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Option<SystemTime>, Error> {
        let next = tables.next(vec![Next::Entry(Events::All, Vec::new())]).await?;
        Ok(next.into_iter().flatten().find(|at| *at <= tables.now()))
    }
}

#[doc(hidden)]
impl Script for Filter {
    type Output = Page<Entry>;

    fn may_take_long(&self) -> bool {
        let is_all = self.state.is_none() && self.event.is_none();
        let is_by_index = self.job_id.is_some() || is_all;
        let is_every = self.target.is_none()
            && self.received_before.is_none()
            && self.received_since.is_none()
            && self.cause.is_none()
            && self.search.is_none();
        !is_by_index || !is_every
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Page<Entry>, Error> {
        let ids = tables.entries(Entries::Listed(self.clone())).await?;
        let (ids, next) = page(ids, self.limit);
        let jobs = tables.jobs(Jobs::OfEntries(ids.clone())).await?;
        let entry = |id| {
            let job = jobs.iter().find(|job| job.entry_of(id).is_some())?;
            job.entry_of(id)?.entry(&job.job_id)
        };
        // A transaction of an application that completes an entry leaves what is searched as it was. Any other entry is listed by its
        // columns, also if it is damaged and shown as corrupt.
        let is_listed = |entry: &Entry| entry.state != State::Done || self.accepts(entry);
        let entries = ids.into_iter().filter_map(entry).filter(is_listed);
        Ok(Page { items: entries.collect(), next })
    }
}

/// The ids of a page, and the last of them if another page follows. A row that cannot be loaded ends no list.
pub(super) fn page(mut ids: Vec<i64>, limit: u32) -> (Vec<i64>, Option<i64>) {
    let is_last = ids.len() <= limit as usize;
    ids.truncate(limit as usize);
    let next = ids.last().copied().filter(|_| !is_last);
    (ids, next)
}

/// The entries of these jobs.
#[derive(Debug)]
pub struct EntriesOf(pub Vec<JobId>);

impl Script for EntriesOf {
    type Output = Vec<Entry>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<Entry>, Error> {
        let jobs = tables.jobs(Jobs::Named(self.0.clone())).await?;
        let of_job = |job: &JobRows| {
            let entries = job.entries.iter().filter_map(|entry| entry.entry(&job.job_id));
            entries.collect::<Vec<_>>()
        };
        Ok(jobs.iter().flat_map(of_job).collect())
    }
}

/// An entry with its bodies.
#[derive(Debug)]
pub struct Show(pub EntryKey);

impl Script for Show {
    type Output = Option<(Entry, Vec<Body>)>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let jobs = tables.jobs(Jobs::Named(vec![self.0.job_id.clone()])).await?;
        let entry = jobs.first().and_then(|job| job.entry(&self.0.event)?.entry(&job.job_id));
        let Some(entry) = entry else { return Ok(None) };
        let bodies = tables.bodies(vec![entry.id]).await?.into_iter().flatten();
        Ok(Some((entry, bodies.map(|loaded| loaded.body).collect())))
    }
}

/// How many entries there are for each cause: of those that need a person, or of those that were requeued at a time.
#[derive(Debug)]
pub struct CountCauses(pub Option<SystemTime>);

impl Script for CountCauses {
    type Output = Vec<CauseCount>;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<CauseCount>, Error> {
        let mut causes = tables.causes(self.0).await?;
        causes.sort_by(|a, b| {
            (b.count, a.first, &a.cause, a.state).cmp(&(a.count, b.first, &b.cause, b.state))
        });
        Ok(causes)
    }
}

/// How many entries arrived and died in each hour, since a time.
#[derive(Debug)]
pub struct CountHours(pub SystemTime);

impl Script for CountHours {
    type Output = Vec<HourCount>;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<HourCount>, Error> {
        tables.hours(self.0).await
    }
}

/// A job of the ledger.
#[derive(Debug)]
pub struct ShowJob(pub JobId);

impl Script for ShowJob {
    type Output = Option<ExpectedJob>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let jobs = tables.jobs(Jobs::Named(vec![self.0.clone()])).await?;
        let shown = jobs.into_iter().find_map(|job| {
            Some(job.expected.get()?.clone().into_job(job.expected.id, job.job_id))
        });
        let mut shown = Vec::from_iter(shown);
        add_topics(tables, &mut shown).await?;
        Ok(shown.pop())
    }
}

/// Adds to jobs what was ordered with their intents.
async fn add_topics(tables: &mut dyn Tables, jobs: &mut [ExpectedJob]) -> Result<(), Error> {
    let intents = intents_of(tables, jobs.iter().filter_map(|job| job.intent.clone())).await?;
    let topic = |intent: &IntentRows| Some((intent.name.clone(), intent.row.get()?.topic.clone()?));
    let topics: HashMap<_, _> = intents.iter().filter_map(topic).collect();
    for job in jobs {
        job.topic = job.intent.as_ref().and_then(|name| topics.get(name).cloned());
    }
    Ok(())
}

#[doc(hidden)]
impl Script for JobFilter {
    type Output = Page<ExpectedJob>;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let ids = tables.expected(Expected::Listed(self.clone())).await?;
        let (ids, next) = page(ids, self.limit);
        let jobs = tables.jobs(Jobs::OfExpected(ids.clone())).await?;
        let job = |id| {
            let job = jobs.iter().find(|job| job.expected.id == id)?;
            Some(job.expected.get()?.clone().into_job(id, job.job_id.clone()))
        };
        let mut items: Vec<_> = ids.into_iter().filter_map(job).collect();
        add_topics(tables, &mut items).await?;
        Ok(Page { items, next })
    }
}

/// An intent by its name.
#[derive(Debug)]
pub struct ShowIntent(pub Box<str>);

impl Script for ShowIntent {
    type Output = Option<Intent>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let intents = tables.intents(Intents::Named(vec![self.0.clone()])).await?;
        let now = tables.now();
        Ok(intents.iter().find_map(|intent: &IntentRows| intent.intent(now)))
    }
}

/// A page of the intents.
#[derive(Debug)]
pub struct ListIntents {
    /// Only those in this state.
    pub state: Option<IntentState>,
    /// The last id of the page before.
    pub after: i64,
    /// At most this many.
    pub limit: u32,
}

impl Script for ListIntents {
    type Output = Page<Intent>;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let limit = self.limit.saturating_add(1);
        let listed = Intents::Listed { state: self.state, after: self.after, limit };
        let intents = tables.intents(listed).await?;
        let now = tables.now();
        let (ids, next) = page(intents.iter().map(|intent| intent.row.id).collect(), self.limit);
        let intents = intents.iter().take(ids.len());
        Ok(Page { items: intents.filter_map(|intent| intent.intent(now)).collect(), next })
    }
}

/// The figures of the ledger.
#[derive(Debug)]
pub struct CountLedger;

impl Script for CountLedger {
    type Output = LedgerCounts;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<LedgerCounts, Error> {
        let counts = tables.ledger_counts().await?;
        let gaps_since = tables.since(Mark::Gaps).await?.map(|since| since.at);
        Ok(LedgerCounts { gaps_since, ..counts })
    }
}

/// The bucket of the API.
#[derive(Debug)]
pub struct ShowBucket;

impl Script for ShowBucket {
    type Output = Bucket;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Bucket, Error> {
        tables.bucket().await
    }
}

/// What to do about a damaged entry.
const ADVICE: &str = "deliver or collect the job again";
/// Until then the entry has its article, and a copy of it is a duplicate.
const ADVICE_ONCE_CORRUPT: &str =
    "once a worker has found the entry corrupt, deliver or collect the job again";

/// What is damaged of a body, and what is to be done.
fn damage_of(loaded: &LoadedBody) -> Option<(&str, &'static str)> {
    match &loaded.damage {
        None if !loaded.body.is_intact() => {
            Some(("a body is not what was received", ADVICE_ONCE_CORRUPT))
        }
        damage => damage.as_deref().map(|damage| (damage, ADVICE)),
    }
}

/// Which entries are corrupt, and which bodies are not what was received.
#[derive(Debug)]
pub struct Check;

impl Script for Check {
    type Output = Vec<String>;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<String>, Error> {
        let (mut found, mut filter) = (Vec::new(), Filter::default());
        loop {
            let ids = tables.entries(Entries::Listed(filter.clone())).await?;
            let (ids, next) = page(ids, filter.limit);
            let bodies = tables.bodies(ids.clone()).await?;
            for job in tables.jobs(Jobs::OfEntries(ids.clone())).await? {
                for entry in job.entries.iter().filter(|entry| ids.contains(&entry.row.id)) {
                    let Some(shown) = entry.entry(&job.job_id) else { continue };
                    let key = shown.key.to_string();
                    let key = key.escape_debug();
                    let of_entry = ids.iter().position(|id| *id == entry.row.id);
                    let bodies = of_entry.map_or(&[][..], |index| &bodies[index]);
                    let mut damaged = bodies.iter().find_map(damage_of);
                    if let Some((_, advice)) = &mut damaged
                        && bodies.iter().any(|loaded| damage_of(loaded).is_none())
                    {
                        *advice = "another body of the entry is sound, and is handed out";
                    }
                    found.extend(match (&entry.damage, damaged) {
                        (Some(_), _) => None,
                        (None, _) if shown.state == State::Corrupt => {
                            let cause = shown.cause.as_deref().unwrap_or("damaged");
                            Some(format!(
                                "entry {}, {key}, is corrupt, {cause}: {ADVICE}",
                                shown.id
                            ))
                        }
                        (None, Some((damage, advice))) => {
                            Some(format!("entry {}, {key}: {damage}: {advice}", shown.id))
                        }
                        (None, None) => None,
                    });
                }
            }
            let Some(next) = next else { break };
            filter.after = next;
        }
        // What is damaged of the other rows, the tables report as they load them.
        let mut jobs = JobFilter::default();
        loop {
            let page = jobs.run(tables).await?;
            let Some(next) = page.next else { break };
            jobs.after = next;
        }
        let mut intents = ListIntents { state: None, after: 0, limit: 100 };
        loop {
            let page = intents.run(tables).await?;
            let Some(next) = page.next else { break };
            intents.after = next;
        }
        tables.bucket().await?;
        Ok(found)
    }
}
