use std::{
    fmt,
    io::{self, Write},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Inbox;
use crate::{Digest, Error, call::Filter, codec, rules::ExportLine, script::Export};

/// The last line of an export: what the lines before it are.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "end")]
pub(super) struct End {
    #[serde(flatten)]
    pub(super) counts: LineCounts,
    /// Of all bytes of the lines before.
    pub(super) sha256: Digest,
}

/// How many lines there are of each kind.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LineCounts {
    entries: u64,
    jobs: u64,
    intents: u64,
}

impl fmt::Display for LineCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entries, jobs, intents } = self;
        write!(f, "{entries} entries, {jobs} jobs and {intents} intents")
    }
}

/// What the lines so far are.
#[derive(Default)]
pub(super) struct Sum {
    counts: LineCounts,
    hash: Sha256,
}

impl Sum {
    /// Adds a line.
    pub(super) fn count(&mut self, line: &ExportLine) {
        match line {
            ExportLine::Entry(_) => self.counts.entries += 1,
            ExportLine::Job(_) => self.counts.jobs += 1,
            ExportLine::Intent(_) => self.counts.intents += 1,
            ExportLine::Bucket(_) => {}
        }
    }

    /// Adds the bytes of a line and of its end.
    pub(super) fn hash(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    pub(super) fn end(self) -> End {
        let sha256: [u8; 32] = self.hash.finalize().into();
        End { counts: self.counts, sha256: sha256.into() }
    }
}

/// What an export writes to.
struct Lines<W> {
    out: W,
    sum: Sum,
}

impl<W: Write> Lines<W> {
    fn new(out: W) -> Self {
        Self { out, sum: Sum::default() }
    }

    fn write(&mut self, line: &ExportLine) -> Result<(), Error> {
        let text = codec::document(line) + "\n";
        self.sum.count(line);
        self.sum.hash(text.as_bytes());
        self.out.write_all(text.as_bytes()).map_err(unwritten)
    }

    /// Writes the last line, and returns the number of entries.
    fn end(mut self) -> Result<u64, Error> {
        let end = self.sum.end();
        writeln!(self.out, "{}", codec::document(&end)).map_err(unwritten)?;
        self.out.flush().map_err(unwritten)?;
        Ok(end.counts.entries)
    }
}

impl Inbox {
    /// Writes the ledger and all entries with their bodies as lines of JSON, oldest first, and returns the number of entries.
    /// What changes during the export is written as it was before or after. An article that arrives meanwhile is among the
    /// entries, or its job is still expected.
    ///
    /// The last line has the number of entries, jobs and intents, and the SHA-256 of all bytes before it. An export without
    /// that line is a part of one, and [`import`](Self::import) refuses it.
    ///
    /// # Errors
    ///
    /// The store or the writer failed. Or orders may be missing in the ledger, after a salvage: the inbox that imports the lines
    /// would not know that, and would order them again. [Check them](Self::orders_checked) before.
    pub async fn export(&self, out: impl Write) -> Result<u64, Error> {
        if self.0.store.ledger_counts().await?.gaps_since.is_some() {
            return Err(Error::unusable(
                "orders may be missing in the ledger, and an import would not know it: compare the orders with the jobs of the \
                 service, run `article-webhook inbox orders-checked`, and export again",
            ));
        }
        let mut lines = Lines::new(out);
        // First what limits polls and orders, so that a part of an export allows no more than the whole. Then the jobs that
        // are still expected. A job that has an article comes after its entry, so that a part of an export takes no article
        // for one that it has.
        for line in self.0.store.export(Export::Bucket).await?.items {
            lines.write(&line)?;
        }
        self.write_pages(Export::Intents, &mut lines).await?;
        self.write_pages(Export::OpenJobs, &mut lines).await?;
        self.write_entries(Filter::default(), usize::MAX, &mut lines).await?;
        self.write_pages(Export::RemovedJobs, &mut lines).await?;
        lines.end()
    }

    /// Writes the entries that pass a filter, as [`export`](Self::export) does, and nothing of the ledger. The filter's
    /// `limit` is how many are read at once.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export_entries(&self, filter: Filter, out: impl Write) -> Result<u64, Error> {
        let mut lines = Lines::new(out);
        self.write_entries(filter, 1, &mut lines).await?;
        lines.end()
    }

    /// Writes pages until the last.
    async fn write_pages(
        &self,
        page: impl Fn(i64) -> Export,
        lines: &mut Lines<impl Write>,
    ) -> Result<(), Error> {
        let mut after = Some(0);
        while let Some(begin) = after {
            let page = self.0.store.export(page(begin)).await?;
            page.items.iter().try_for_each(|line| lines.write(line))?;
            after = page.next;
        }
        Ok(())
    }

    /// Writes entries, and at most this many lines of each: after itself its job.
    async fn write_entries(
        &self,
        mut filter: Filter,
        each: usize,
        lines: &mut Lines<impl Write>,
    ) -> Result<(), Error> {
        loop {
            let page = self.list(filter.clone()).await?;
            for entry in page.entries {
                let exported = self.0.store.export(Export::Entry(entry.key)).await?;
                exported.items.iter().take(each).try_for_each(|line| lines.write(line))?;
            }
            let Some(next) = page.next else { return Ok(()) };
            filter.after = next;
        }
    }
}

fn unwritten(error: io::Error) -> Error {
    Error::unavailable("the export cannot be written").because(error)
}
