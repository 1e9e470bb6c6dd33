use std::io::{self, Write};

use serde::Serialize;

use super::{Inbox, export_line::ExportLine, ledger_line::LedgerLine};
use crate::{
    EntryKey, Error,
    call::{ExpectedJob, Filter, Intent, JobFilter, LedgerPage},
};

/// What is written after an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// Its job, which an import takes for ended because it has the entry.
    Job,
}

impl Inbox {
    /// Writes the ledger and all entries with their bodies as lines of JSON, oldest first, and returns the number of entries.
    /// A job that has an article comes after its entry, so that an import which stops half-way takes no article for one that
    /// it has. What changes during the export is written as it was before or after. An article that arrives meanwhile is
    /// among the entries, or its job is still expected.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export(&self, mut out: impl Write) -> Result<u64, Error> {
        self.export_ledger(&mut out).await?;
        let written = self.write_entries(Filter::default(), &mut out, Beside::Job).await?;
        self.export_removed(&mut out).await?;
        out.flush().map_err(unwritten)?;
        Ok(written)
    }

    /// Writes the entries that pass a filter, as [`export`](Self::export) does, and nothing of the ledger. The filter's
    /// `limit` is how many are read at once.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export_entries(&self, filter: Filter, mut out: impl Write) -> Result<u64, Error> {
        let written = self.write_entries(filter, &mut out, Beside::Nothing).await?;
        out.flush().map_err(unwritten)?;
        Ok(written)
    }

    async fn write_entries(
        &self,
        mut filter: Filter,
        out: &mut impl Write,
        beside: Beside,
    ) -> Result<u64, Error> {
        let mut written = 0;
        loop {
            let page = self.list(filter.clone()).await?;
            for listed in page.entries {
                let job_id = listed.key.job_id.clone();
                // `None`: it was erased since the page was read.
                let Some((entry, bodies)) = self.show(listed.key).await? else { continue };
                write_line(out, &ExportLine::new(entry, bodies))?;
                written += 1;
                if beside == Beside::Nothing {
                    continue;
                }
                // In whatever state it is by now: it may have left the one in which it was not written before.
                if let Some(job) = self.0.store.job(job_id).await? {
                    write_line(out, &LedgerLine::job(job))?;
                }
            }
            let Some(next) = page.next else { return Ok(written) };
            filter.after = next;
        }
    }

    /// First what limits polls and orders, so that an import that is interrupted allows no more than the whole. Then the jobs
    /// that rely on no entry.
    async fn export_ledger(&self, out: &mut impl Write) -> Result<(), Error> {
        let store = &self.0.store;
        if let Some(line) = LedgerLine::bucket(&store.bucket().await?, store.now()) {
            write_line(out, &line)?;
        }
        let mut after = Some(0);
        while let Some(begin) = after {
            let page = store.intents(None, begin, JobFilter::default().limit).await?;
            // A damaged name may be none: no application orders it.
            let intents = page.items.into_iter();
            let intents = intents.filter(|intent| Intent::check_name(&intent.name).is_ok());
            intents.map(LedgerLine::intent).try_for_each(|line| write_line(out, &line))?;
            after = page.next;
        }
        let mut after = Some(0);
        while let Some(begin) = after {
            let page = self.jobs_after(begin).await?;
            let jobs = page.items.into_iter().filter(|job| job.relies_on().is_none());
            jobs.map(LedgerLine::job).try_for_each(|line| write_line(out, &line))?;
            after = page.next;
        }
        Ok(())
    }

    /// The jobs whose entry retention removed.
    async fn export_removed(&self, out: &mut impl Write) -> Result<(), Error> {
        let mut after = Some(0);
        while let Some(begin) = after {
            let page = self.jobs_after(begin).await?;
            for job in page.items {
                if let Some(key) = job.relies_on()
                    && !self.has_entry(&key).await?
                {
                    write_line(out, &LedgerLine::removed(job))?;
                }
            }
            after = page.next;
        }
        Ok(())
    }

    async fn jobs_after(&self, after: i64) -> Result<LedgerPage<ExpectedJob>, Error> {
        self.0.store.jobs(JobFilter { after, ..JobFilter::default() }).await
    }

    /// Whether the inbox has this entry.
    pub(super) async fn has_entry(&self, key: &EntryKey) -> Result<bool, Error> {
        let EntryKey { job_id, event } = key.clone();
        let (job_id, event) = (Some(job_id), Some(event));
        let page = self.list(Filter { job_id, event, limit: 1, ..Filter::default() }).await?;
        Ok(!page.entries.is_empty())
    }
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> Result<(), Error> {
    let line = serde_json::to_string(line).map_err(|error| unwritten(error.into()))?;
    writeln!(out, "{line}").map_err(unwritten)
}

fn unwritten(error: io::Error) -> Error {
    Error::unavailable("the export cannot be written").because(error)
}
