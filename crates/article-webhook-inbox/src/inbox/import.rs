use std::io::SeekFrom;

use serde::{Deserialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncSeek, AsyncSeekExt as _},
    task::coop,
};

use super::{
    Inbox,
    export::{End, Parts, Sum},
};
use crate::{
    Error,
    call::Imported,
    progress::Progress,
    rules::ExportLine,
    script::{Export, Merge},
};

/// How many lines are imported in one transaction, so that a delivery does not wait long for it.
const LINES_PER_TRANSACTION: usize = 250;

/// The same for their bytes. A longer line is a page.
const BYTES_PER_TRANSACTION: usize = 4 << 20;

/// What is to be done with an export that is not as it was written.
const WAY_OUT: &str = "export again, or import it as a partial export";

impl Inbox {
    /// Adds the entries and the ledger that another inbox exported. What this inbox has already stays as it is, except an
    /// intent that became a job there and is open here: it is not ordered again. An entry that was leased there waits here,
    /// and a job that was polled there is due. The bucket of polls allows no more than either inbox's. An article that was
    /// here, and whose entry retention removed, is not added.
    ///
    /// The export is read twice. The first time it is compared with the counts and the hash in its last line, so that
    /// nothing is added of an export that was cut off or changed. An import that the store interrupts is repeated.
    ///
    /// ```
    /// use std::io::Cursor;
    /// use article_webhook_inbox::Inbox;
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let (from, to) = (Inbox::memory(), Inbox::memory());
    ///     from.accept(fixture::complete().delivery()?).await;
    ///     let mut lines = Vec::new();
    ///     from.export(&mut lines).await?;
    ///
    ///     let cut = lines.split_inclusive(|byte| *byte == b'\n').next().ok_or("an entry")?;
    ///     assert!(to.import(Cursor::new(cut)).await.is_err(), "its last line is missing");
    ///     assert_eq!(to.import(Cursor::new(&lines)).await?.added, 1);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// - The last line is missing, or the lines before it are not those that were written. Nothing was added.
    ///   [`import_partial`](Self::import_partial) adds what is there.
    /// - A line cannot be read, or contains a body that differs from its digest. The error names the line. Nothing was added.
    /// - The store or the reader failed.
    pub async fn import(
        &self,
        mut export: impl AsyncBufRead + AsyncSeek + Unpin,
    ) -> Result<Imported, Error> {
        let unread = |error| Error::unavailable("the export cannot be read twice").because(error);
        let start = export.stream_position().await.map_err(unread)?;
        ensure_whole(&mut export).await?;
        export.seek(SeekFrom::Start(start)).await.map_err(unread)?;
        self.import_partial(export).await
    }

    /// As [`import`](Self::import), for an export of which a part is missing or was changed: adds what is there. The counts
    /// and the hash in the last line are not looked at. Where the export was cut off within a line, that line is left out.
    ///
    /// # Errors
    ///
    /// - A line cannot be read, or contains a body that differs from its digest: the error names the line. The lines before it
    ///   are added. The same import goes on where it stopped.
    /// - The store or the reader failed.
    pub async fn import_partial(
        &self,
        export: impl AsyncBufRead + Unpin,
    ) -> Result<Imported, Error> {
        let mut import = Import::new(self, Rule::Add);
        let mut lines = Lines::new(export);
        loop {
            match lines.next().await {
                Ok(Some(Line::Row(line))) => import.push(line, lines.bytes.len()).await?,
                Ok(Some(Line::End(_) | Line::Empty)) => {}
                Ok(None) => break,
                Err(error) if lines.is_cut(&error) => break,
                Err(error) => {
                    import.store().await?;
                    return Err(error);
                }
            }
        }
        import.store().await?;
        Ok(import.imported)
    }

    /// Copies everything that another inbox has into this one, which may receive and work meanwhile. Nobody may receive or work
    /// with the other one.
    ///
    /// An entry that is in both is one that was delivered again: what is done there is done here, and what is dead there is dead
    /// here, unless a handler had it here already. Bodies that are missing here are added. For the rest, it is as an
    /// [`import`](Self::import). If orders may be missing in the other ledger, so they may here.
    ///
    /// If this inbox was [begun](crate::SqliteStore::begin_salvage) in place of a damaged one, its workers are paused until such a
    /// copy is complete, and what it does not find is not ordered. The copy ends both, unless claims are paused in the other inbox,
    /// or orders may be missing there.
    ///
    /// A copy that the store interrupts is repeated.
    ///
    /// ```
    /// use article_webhook_inbox::{Inbox, State};
    /// use article_webhook::{Sink, fixture};
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let (from, to) = (Inbox::memory(), Inbox::memory());
    ///     from.accept(fixture::complete().delivery()?).await;
    ///     from.worker(|_| async { Ok(()) }).run_until_idle().await?;
    ///     to.accept(fixture::complete().delivery()?).await;
    ///     assert_eq!(to.counts().await?.of(State::Waiting), 1, "it would be handled again");
    ///
    ///     assert_eq!(to.copy_from(&from).await?.present, 1);
    ///     assert_eq!(to.counts().await?.of(State::Done), 1);
    ///     from.close().await?;
    ///     assert!(to.copy_from(&from).await.is_err(), "it is closed");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// One of the stores failed. What was copied until then stays, and the copy can be repeated.
    pub async fn copy_from(&self, from: &Self) -> Result<Imported, Error> {
        self.copy_with(from, &Progress::default()).await
    }

    /// As [`copy_from`](Self::copy_from), and says how far it is.
    ///
    /// # Errors
    ///
    /// As [`copy_from`](Self::copy_from).
    #[doc(hidden)]
    pub async fn copy_with(&self, from: &Self, progress: &Progress) -> Result<Imported, Error> {
        let is_paused = from.0.store.paused_since().await?.is_some();
        let ledger = from.0.store.ledger_counts().await?;
        let whole = from.counts().await?.total() + ledger.states.iter().sum::<u64>();
        let has_gaps = ledger.gaps_since.is_some();
        if has_gaps {
            self.0.store.note_gaps().await?;
        }
        let mut import = Import::new(self, Rule::Merge);
        let (mut parts, mut done) = (Parts::all(from), 0);
        while let Some((part, lines)) = parts.next().await? {
            if matches!(part, Export::RemovedJobs(_)) && import.rule == Rule::Merge {
                import.store().await?;
                import.rule = Rule::MergeRemovedJobs;
            }
            done += lines.len() as u64;
            for line in lines {
                let bytes = line.bytes();
                import.push(line, bytes).await?;
            }
            progress.set(done, whole);
        }
        import.store().await?;
        self.0.store.merge(Merge::End { is_paused, has_gaps }).await?;
        self.wake();
        Ok(import.imported)
    }
}

/// Reads an export to its end.
///
/// # Errors
///
/// It is not as it was written.
async fn ensure_whole(export: impl AsyncBufRead + Unpin) -> Result<(), Error> {
    let (mut lines, mut sum) = (Lines::new(export), Sum::default());
    let end = loop {
        match lines.next().await {
            Ok(Some(Line::End(end))) => break end,
            Ok(Some(Line::Row(line))) => {
                sum.count(&line);
                sum.hash(&lines.bytes);
            }
            Ok(Some(Line::Empty)) => sum.hash(&lines.bytes),
            Err(error) if !lines.is_cut(&error) => return Err(error),
            Ok(None) | Err(_) => {
                return Err(Error::invalid(format!(
                    "the export was cut off at line {}, because its last line, with counts and a hash, is missing: {WAY_OUT}",
                    lines.number
                )));
            }
        }
    };
    let (number, found) = (lines.number, sum.end());
    if found.counts != end.counts {
        return Err(Error::invalid(format!(
            "line {number} says that the export has {}, and it has {}: {WAY_OUT}",
            end.counts, found.counts
        )));
    }
    if found != end {
        return Err(Error::invalid(format!(
            "the lines before line {number} are not those that were exported, because they have another SHA-256: {WAY_OUT}"
        )));
    }
    match lines.next().await? {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "line {} comes after the end of the export: import each export by itself",
            lines.number
        ))),
    }
}

/// An import that goes on.
struct Import<'a> {
    inbox: &'a Inbox,
    rule: Rule,
    imported: Imported,
    page: Vec<ExportLine>,
    bytes: usize,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Add,
    Merge,
    MergeRemovedJobs,
}

impl<'a> Import<'a> {
    fn new(inbox: &'a Inbox, rule: Rule) -> Self {
        Self { inbox, rule, imported: Imported::default(), page: Vec::new(), bytes: 0 }
    }

    /// Adds a line to the page, and stores the page if it is full.
    async fn push(&mut self, line: ExportLine, bytes: usize) -> Result<(), Error> {
        self.page.push(line);
        self.bytes += bytes;
        if self.page.len() >= LINES_PER_TRANSACTION || self.bytes >= BYTES_PER_TRANSACTION {
            self.store().await?;
        }
        Ok(())
    }

    async fn store(&mut self) -> Result<(), Error> {
        if self.page.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let (store, page) = (&self.inbox.0.store, std::mem::take(&mut self.page));
        let imported = match self.rule {
            Rule::Add => store.import(page).await?,
            Rule::Merge => store.merge(Merge::Lines(page)).await?,
            Rule::MergeRemovedJobs => store.merge(Merge::RemovedJobs(page)).await?,
        };
        if imported.added > 0 {
            self.inbox.0.workers.wake();
        }
        self.imported += imported;
        Ok(())
    }
}

/// The lines of an export.
struct Lines<R> {
    export: R,
    /// The number of the last line.
    number: u64,
    /// The bytes of the last line, with its end.
    bytes: Vec<u8>,
}

/// What a line holds.
#[expect(clippy::large_enum_variant, reason = "all but the last hold a row")]
enum Line {
    Row(ExportLine),
    End(End),
    Empty,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    fn new(export: R) -> Self {
        Self { export, number: 0, bytes: Vec::new() }
    }

    /// Reads the next line.
    async fn next(&mut self) -> Result<Option<Line>, Error> {
        // A reader that never waits lets other tasks run.
        coop::consume_budget().await;
        self.bytes.clear();
        let number = self.number + 1;
        let length = self.export.read_until(b'\n', &mut self.bytes).await.map_err(|error| {
            Error::unavailable(format!("line {number} cannot be read")).because(error)
        })?;
        if length == 0 {
            return Ok(None);
        }
        self.number = number;
        let text = std::str::from_utf8(&self.bytes)
            .map_err(|_| Error::invalid(format!("line {number} is not UTF-8 text")))?;
        parse(text, number).map(Some)
    }

    /// Whether the last line is refused for this because it was cut off: it does not end as a line does. A failure of the
    /// reader says nothing about the line.
    fn is_cut(&self, error: &Error) -> bool {
        error.is_invalid() && self.bytes.last().is_some_and(|byte| *byte != b'\n')
    }
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

fn parse(text: &str, number: u64) -> Result<Line, Error> {
    if text.trim().is_empty() {
        return Ok(Line::Empty);
    }
    let refuse = |what: &str, why| Error::invalid(format!("line {number} is no {what}: {why}"));
    let Kind { kind } = decode(text).map_err(|why| refuse("line of an export", why))?;
    let line = match kind.as_str() {
        "entry" => decode(text).map(ExportLine::Entry),
        "job" => decode(text).map(ExportLine::Job),
        "intent" => decode(text).map(ExportLine::Intent),
        "bucket" => decode(text).map(ExportLine::Bucket),
        "end" => return decode(text).map(Line::End).map_err(|why| refuse("end", why)),
        // It is not quoted: it may be part of a body.
        _ => return Err(refuse("line of an export", "its kind is not known".to_owned())),
    };
    let line = line.and_then(|line| line.validate().map(|()| line));
    line.map(Line::Row).map_err(|why| refuse(&kind, why))
}

/// What a line says, or why it cannot be parsed. The parser's error about a wrong value is not used where it quotes the value,
/// which may be a body.
fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let why = error.to_string().replace(" at line 1 column ", " before column ");
        let is_ours =
            ["missing field", "not a", "a job id"].iter().any(|start| why.starts_with(start));
        if error.is_data() && !is_ours {
            return format!("another kind of value than expected before column {}", error.column());
        }
        why
    })
}
