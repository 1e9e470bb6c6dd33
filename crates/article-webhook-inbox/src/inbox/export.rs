use std::{collections::VecDeque, fmt, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

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

impl<W: AsyncWrite + Unpin> Lines<W> {
    fn new(out: W) -> Self {
        Self { out, sum: Sum::default() }
    }

    async fn write(&mut self, line: &ExportLine) -> Result<(), Error> {
        let text = codec::document(line) + "\n";
        self.sum.count(line);
        self.sum.hash(text.as_bytes());
        self.out.write_all(text.as_bytes()).await.map_err(unwritten)
    }

    /// Writes the last line, and returns the number of entries.
    async fn end(mut self) -> Result<u64, Error> {
        let end = self.sum.end();
        let text = codec::document(&end) + "\n";
        self.out.write_all(text.as_bytes()).await.map_err(unwritten)?;
        self.out.flush().await.map_err(unwritten)?;
        Ok(end.counts.entries)
    }
}

impl Inbox {
    /// Writes the ledger and all entries with their bodies as lines of JSON, oldest first, and returns the number of entries.
    /// What changes during the export is written as it was before or after. An article that arrives meanwhile is among the
    /// entries, or its job is still expected.
    ///
    /// The last line has the number of entries, jobs and intents, and the SHA-256 of all bytes before it. An export without
    /// that line is a part of one, and [`import`](Self::import) refuses it. Each line is written by itself, so put a
    /// [`BufWriter`](tokio::io::BufWriter) before a file. It is flushed at the end.
    ///
    /// # Errors
    ///
    /// The store or the writer failed. Or orders may be missing in the ledger, after a salvage: the inbox that imports the lines
    /// would not know that, and would order them again. [Check them](Self::orders_checked) before.
    pub async fn export(&self, out: impl AsyncWrite + Unpin) -> Result<u64, Error> {
        if self.0.store.ledger_counts().await?.gaps_since.is_some() {
            return Err(Error::unusable(
                "orders may be missing in the ledger, and an import would not know it: compare the orders with the jobs of the \
                 service, run `article-webhook inbox orders-checked`, and export again",
            ));
        }
        self.write(Parts::all(self), out).await
    }

    /// Writes the entries that pass a filter, as [`export`](Self::export) does, and nothing of the ledger. The filter's
    /// `limit` is how many are read at once.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export_entries(
        &self,
        filter: Filter,
        out: impl AsyncWrite + Unpin,
    ) -> Result<u64, Error> {
        self.write(Parts::entries(self, filter), out).await
    }

    async fn write(
        &self,
        mut parts: Parts<'_>,
        out: impl AsyncWrite + Unpin,
    ) -> Result<u64, Error> {
        let mut lines = Lines::new(out);
        while let Some((_, items)) = parts.next().await? {
            for line in &items {
                lines.write(line).await?;
            }
        }
        lines.end().await
    }
}

/// The parts of what an inbox has, as they are read one after another.
pub(super) struct Parts<'a> {
    inbox: &'a Inbox,
    left: VecDeque<Step>,
    /// How many lines of each entry are read: after itself comes its job.
    lines_per_entry: usize,
}

enum Step {
    Read(Export),
    /// The entries that pass a filter, page by page.
    List(Filter),
}

impl<'a> Parts<'a> {
    /// Everything: first what limits polls and orders, so that a part of it allows no more than the whole. Then the jobs that
    /// are still expected. A job that has an article comes after its entry, so that a part takes no article for one that it has.
    pub(super) fn all(inbox: &'a Inbox) -> Self {
        let ledger = [Export::Bucket, Export::Intents(0), Export::OpenJobs(0)].map(Step::Read);
        let entries = [Step::List(Filter::default()), Step::Read(Export::RemovedJobs(0))];
        let left = ledger.into_iter().chain(entries).collect();
        Self { inbox, left, lines_per_entry: usize::MAX }
    }

    /// The entries that pass a filter.
    fn entries(inbox: &'a Inbox, filter: Filter) -> Self {
        Self { inbox, left: [Step::List(filter)].into(), lines_per_entry: 1 }
    }

    /// The next part, and its lines.
    pub(super) async fn next(&mut self) -> Result<Option<(Export, Vec<ExportLine>)>, Error> {
        loop {
            match self.left.pop_front() {
                None => return Ok(None),
                Some(Step::Read(part)) => {
                    let mut page = self.inbox.0.store.export(part.clone()).await?;
                    if let Export::Entry(_) = part {
                        page.items.truncate(self.lines_per_entry);
                    }
                    let next = page.next.and_then(|after| part.after(after));
                    next.into_iter().for_each(|next| self.left.push_front(Step::Read(next)));
                    return Ok(Some((part, page.items)));
                }
                Some(Step::List(filter)) => {
                    let page = self.inbox.list(filter.clone()).await?;
                    if let Some(after) = page.next {
                        self.left.push_front(Step::List(Filter { after, ..filter }));
                    }
                    for entry in page.items.into_iter().rev() {
                        self.left.push_front(Step::Read(Export::Entry(entry.key)));
                    }
                }
            }
        }
    }
}

fn unwritten(error: io::Error) -> Error {
    Error::unavailable("the export cannot be written").because(error)
}
