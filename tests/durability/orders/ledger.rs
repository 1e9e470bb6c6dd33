//! What a store's file says of orders, once the child is gone.

use std::{collections::BTreeMap, path::Path, time::Duration, time::SystemTime};

use article_webhook_inbox::{
    Clock, ExpectedJob, Inbox, Intent, JobFilter, SqliteSettings, SqliteStore,
    store::{Bucket, BucketSettings, PollClaim},
};
use tokio::runtime;

use crate::{
    role::Failure,
    store::{self, Row},
};

/// Every job is due by then, and no token is missing.
const LATER: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) intents: BTreeMap<String, Intent>,
    pub(crate) jobs: BTreeMap<String, ExpectedJob>,
    /// The entries of each job.
    pub(crate) entries: BTreeMap<String, Vec<Row>>,
    pub(crate) bucket: Bucket,
    /// The jobs that are polled, later.
    pub(crate) polled: Vec<String>,
}

/// Fails if the store does not open, is damaged, or not all of it can be read.
pub(crate) fn read(file: &Path) -> Result<Found, Failure> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let clock = Clock::stepped(SystemTime::now());
        let store = SqliteStore::open_with(file, SqliteSettings::default().clock(clock.clone()))?;
        let inbox = Inbox::new(store);
        let store = inbox.ledger();
        let mut found = Found {
            intents: BTreeMap::new(),
            jobs: BTreeMap::new(),
            entries: BTreeMap::new(),
            bucket: store.bucket().await?,
            polled: Vec::new(),
        };
        let all = JobFilter { limit: u32::MAX - 1, ..JobFilter::default() };
        for job in store.jobs(all).await?.items {
            found.jobs.insert(job.job_id.to_string(), job);
        }
        for intent in store.intents(None, 0, u32::MAX - 1).await?.items {
            found.intents.insert(intent.name.to_string(), intent);
        }
        for row in store::read(&inbox).await? {
            found.entries.entry(row.job_id.clone()).or_default().push(row);
        }
        clock.advance(LATER);
        let bucket = BucketSettings { per_minute: 1_000_000, burst: 1_000_000, key: 1 };
        let claim = PollClaim { limit: 1_000_000, lease: LATER, bucket };
        let polls = store.claim_polls(claim).await?.polls;
        found.polled = polls.into_iter().map(|poll| poll.job.job_id.to_string()).collect();
        // At the end, because much of it is checked when it is read.
        store::check(&inbox).await?;
        inbox.close().await?;
        Ok(found)
    })
}
