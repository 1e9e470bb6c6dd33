//! The script that reads what an export writes.

use super::{Expected, IntentRows, Intents, Jobs, Script, Tables, read::page};
use crate::{
    EntryKey, Error,
    call::{JobFilter, Page},
    rules::{Bucket, EntryLine, ExportLine, IntentLine, JobLine, JobRows},
};

/// A part of an export, in one transaction. The number is where a page begins.
#[derive(Debug, Clone)]
pub enum Export {
    /// The bucket, unless it says no more than a new one.
    Bucket,
    /// A page of the intents.
    Intents(i64),
    /// A page of the jobs that have not ended with an entry.
    OpenJobs(i64),
    /// An entry, and after it what the ledger knows of its job.
    Entry(EntryKey),
    /// A page of the jobs that have ended with an entry which retention removed.
    RemovedJobs(i64),
}

impl Export {
    /// The next page, which begins after this row.
    #[must_use]
    pub fn after(&self, row: i64) -> Option<Self> {
        match self {
            Self::Bucket | Self::Entry(_) => None,
            Self::Intents(_) => Some(Self::Intents(row)),
            Self::OpenJobs(_) => Some(Self::OpenJobs(row)),
            Self::RemovedJobs(_) => Some(Self::RemovedJobs(row)),
        }
    }
}

impl Script for Export {
    type Output = Page<ExportLine>;

    fn may_take_long(&self) -> bool {
        true
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Self::Output, Error> {
        let limit = JobFilter::default().limit;
        let (items, next) = match self {
            Self::Bucket => {
                let (bucket, now) = (tables.bucket().await?, tables.now());
                let is_full = bucket.full_at <= now;
                let is_new =
                    is_full && Bucket { full_at: bucket.full_at, ..Bucket::new() } == bucket;
                ((!is_new).then_some(ExportLine::Bucket(bucket)).into_iter().collect(), None)
            }
            Self::Intents(after) => {
                let listed = Intents::Listed { state: None, after: *after, limit: limit + 1 };
                let intents = tables.intents(listed).await?;
                let (ids, next) = page(intents.iter().map(|intent| intent.row.id).collect(), limit);
                let intents = intents.iter().take(ids.len());
                let line = |intent: &IntentRows| IntentLine::new(&intent.name, intent.row.get()?);
                (intents.filter_map(line).map(ExportLine::Intent).collect(), next)
            }
            Self::OpenJobs(after) => {
                let (jobs, next) = jobs(tables, *after, limit).await?;
                let open = jobs.iter().filter(|job| job.ended_with().is_none());
                (open.filter_map(JobLine::new).map(ExportLine::Job).collect(), next)
            }
            Self::RemovedJobs(after) => {
                let (jobs, next) = jobs(tables, *after, limit).await?;
                let is_removed = |job: &&JobRows| {
                    job.ended_with().is_some_and(|event| job.entry(&event).is_none())
                };
                let removed = jobs.iter().filter(is_removed);
                (removed.filter_map(JobLine::new).map(ExportLine::Job).collect(), next)
            }
            Self::Entry(key) => {
                let jobs = tables.jobs(Jobs::Named(vec![key.job_id.clone()])).await?;
                let found = jobs.iter().find_map(|job| Some((job, job.entry(&key.event)?)));
                // It may have been erased since it was listed.
                let Some((job, entry)) = found else {
                    return Ok(Page { items: Vec::new(), next: None });
                };
                let bodies = tables.bodies(vec![entry.row.id]).await?.into_iter().flatten();
                let bodies = bodies.map(|loaded| loaded.body).collect();
                let entry = EntryLine::new(&job.job_id, entry, bodies).map(ExportLine::Entry);
                // In whatever state the job is by now: it may have left the one in which it was not written before.
                (entry.into_iter().chain(JobLine::new(job).map(ExportLine::Job)).collect(), None)
            }
        };
        Ok(Page { items, next })
    }
}

async fn jobs(
    tables: &mut dyn Tables,
    after: i64,
    limit: u32,
) -> Result<(Vec<JobRows>, Option<i64>), Error> {
    let filter = JobFilter { after, limit, ..JobFilter::default() };
    let ids = tables.expected(Expected::Listed(filter)).await?;
    let (ids, next) = page(ids, limit);
    let mut jobs = tables.jobs(Jobs::OfExpected(ids)).await?;
    jobs.sort_by_key(|job| job.expected.id);
    Ok((jobs, next))
}
