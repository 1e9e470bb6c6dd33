use super::{Entries, Expected, Intents, Jobs, Script, Tables};
use crate::{
    Error, JobState,
    rules::{JobRow, Row},
};

/// What a process does first in a store that it alone uses: it frees the leases of its predecessor, and shortens the waits
/// that a wrong clock has made too long.
#[derive(Debug)]
pub struct Restart;

/// Shortens the waits that began before the clock was set back. Leases hold: what has them extends them.
#[derive(Debug)]
pub struct ShortenWaits;

/// How many jobs are loaded at once.
const JOBS_PER_LOAD: usize = 256;

impl Script for Restart {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        let now = tables.now();
        let mut ids = tables.entries(Entries::Leased).await?;
        ids.extend(tables.entries(Entries::WaitingBeyond(now)).await?);
        change_entries(tables, &ids, |row| _ = row.restart(now)).await?;
        change_expected(tables, |row| _ = row.restart(now)).await?;
        shorten_the_rest(tables).await
    }
}

impl Script for ShortenWaits {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        let now = tables.now();
        let ids = tables.entries(Entries::WaitingBeyond(now)).await?;
        change_entries(tables, &ids, |row| _ = row.shorten_wait(now)).await?;
        let shorten = |row: &mut JobRow| {
            if row.state == JobState::Expected {
                row.restart(now);
            }
        };
        change_expected(tables, shorten).await?;
        shorten_the_rest(tables).await
    }
}

async fn change_entries(
    tables: &mut dyn Tables,
    ids: &[i64],
    change: impl Fn(&mut Row) + Send,
) -> Result<(), Error> {
    let now = tables.now();
    for page in ids.chunks(JOBS_PER_LOAD) {
        let mut jobs = tables.jobs(Jobs::OfEntries(page.to_vec())).await?;
        for job in &mut jobs {
            page.iter().for_each(|id| _ = job.change(*id, now, &change));
        }
        tables.save(&mut jobs).await?;
    }
    Ok(())
}

async fn change_expected(
    tables: &mut dyn Tables,
    change: impl Fn(&mut JobRow) + Send,
) -> Result<(), Error> {
    let ids = tables.expected(Expected::Restarted).await?;
    for page in ids.chunks(JOBS_PER_LOAD) {
        let mut jobs = tables.jobs(Jobs::OfExpected(page.to_vec())).await?;
        jobs.iter_mut().filter_map(|job| job.expected.get_mut()).for_each(&change);
        tables.save(&mut jobs).await?;
    }
    Ok(())
}

async fn shorten_the_rest(tables: &mut dyn Tables) -> Result<(), Error> {
    let now = tables.now();
    let mut intents = tables.intents(Intents::Ordering).await?;
    let rows = intents.iter_mut().filter_map(|intent| intent.row.get_mut());
    rows.for_each(|row| _ = row.restart(now));
    tables.save_intents(&mut intents).await?;
    let mut bucket = tables.bucket().await?;
    if bucket.restart(now) {
        tables.save_bucket(bucket).await?;
    }
    Ok(())
}
