use std::io::{self, Write};

use serde::Serialize;

use super::{Inbox, export_line::ExportLine, ledger_line::LedgerLine};
use crate::{
    Error,
    call::{Filter, JobFilter},
};

impl Inbox {
    /// Writes the ledger and then all entries with their bodies as lines of JSON, oldest first, and returns the number of
    /// entries. What changes during the export is written as it was before or after. An article that arrives meanwhile is
    /// among the entries, or its job is still expected.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export(&self, mut out: impl Write) -> Result<u64, Error> {
        self.export_ledger(&mut out).await?;
        self.export_entries(Filter::default(), out).await
    }

    /// Writes the entries that pass a filter, as [`export`](Self::export) does, and nothing of the ledger. The filter's
    /// `limit` is how many are read at once.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export_entries(
        &self,
        mut filter: Filter,
        mut out: impl Write,
    ) -> Result<u64, Error> {
        let mut written = 0;
        loop {
            let page = self.list(filter.clone()).await?;
            for entry in page.entries {
                // `None`: it was erased since the page was read.
                let Some((entry, bodies)) = self.show(entry.key).await? else { continue };
                write_line(&mut out, &ExportLine::new(entry, bodies))?;
                written += 1;
            }
            let Some(next) = page.next else { break };
            filter.after = next;
        }
        out.flush().map_err(unwritten)?;
        Ok(written)
    }

    /// First what limits asks and orders, so that an import that is interrupted allows no more than the whole.
    async fn export_ledger(&self, out: &mut impl Write) -> Result<(), Error> {
        let store = &self.0.store;
        if let Some(line) = LedgerLine::bucket(&store.bucket().await?) {
            write_line(out, &line)?;
        }
        let mut after = Some(0);
        while let Some(begin) = after {
            let page = store.intents(None, begin, JobFilter::default().limit).await?;
            page.items
                .into_iter()
                .try_for_each(|item| write_line(out, &LedgerLine::intent(item)))?;
            after = page.next;
        }
        let mut after = Some(0);
        while let Some(begin) = after {
            let page = store.jobs(JobFilter { after: begin, ..JobFilter::default() }).await?;
            page.items.into_iter().try_for_each(|item| write_line(out, &LedgerLine::job(item)))?;
            after = page.next;
        }
        Ok(())
    }
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> Result<(), Error> {
    let line = serde_json::to_string(line).map_err(|error| unwritten(error.into()))?;
    writeln!(out, "{line}").map_err(unwritten)
}

fn unwritten(error: io::Error) -> Error {
    Error::unavailable("the export cannot be written").because(error)
}
