use std::{
    collections::HashMap,
    io::{BufRead, ErrorKind},
};

use serde::Deserialize;

use super::{Inbox, export_line::ExportLine, ledger_line::LedgerLine};
use crate::{
    EntryKey, Error,
    call::{ExpectedJob, Imported},
    script::ImportRow,
};

/// How many lines are imported in one transaction, so that a delivery does not wait long for it.
const LINES_PER_TRANSACTION: usize = 250;

/// The same for their bytes. A longer line is a page.
const BYTES_PER_TRANSACTION: usize = 4 << 20;

/// What a line is about: an entry has none, as in exports of versions without a ledger.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// An import that goes on.
struct Import<'a> {
    inbox: &'a Inbox,
    imported: Imported,
    page: Vec<ImportRow>,
    bytes: usize,
    /// Jobs that wait for the entries that they rely on. In an export of this version these come first, so that none is kept.
    /// One of a version that wrote all jobs before the entries costs some hundred bytes for each job that has ended.
    early: HashMap<EntryKey, ExpectedJob>,
}

impl Inbox {
    /// Adds the entries and the ledger that another inbox exported. What this inbox has already stays as it is, except an
    /// intent that became a job there and is open here: it is not ordered again. An entry that was leased there waits here,
    /// and a job that was polled there is due. The bucket of polls allows no more than either inbox's. An article that was
    /// here, and whose entry retention removed, is not added.
    ///
    /// Lines before an invalid one are added, except jobs that rely on an entry which is not here: an inbox that takes an
    /// article for arrived drops each copy of it. The same import goes on where it stopped.
    ///
    /// # Errors
    ///
    /// A line is not an entry, or contains a body that differs from its digest: the error names the line. The store or
    /// the reader failed.
    pub async fn import(&self, lines: impl BufRead) -> Result<Imported, Error> {
        let (imported, page, early) = (Imported::default(), Vec::new(), HashMap::new());
        let mut import = Import { inbox: self, imported, page, bytes: 0, early };
        for (number, line) in (1..).zip(lines.lines()) {
            let row = line.map_err(|error| match error.kind() {
                ErrorKind::InvalidData => Error::invalid(format!("line {number} is no text")),
                _ => Error::unavailable(format!("line {number} cannot be read")).because(error),
            });
            let row = row.and_then(|line| Ok((line.len(), parse(&line, number)?)));
            match row {
                Ok((_, None)) => {}
                Ok((length, Some(row))) => import.push(row, length).await?,
                Err(error) => {
                    import.store().await?;
                    return Err(error);
                }
            }
        }
        import.store().await?;
        for job in std::mem::take(&mut import.early).into_values() {
            import.push(ImportRow::RemovedJob(job), 0).await?;
        }
        import.store().await?;
        Ok(import.imported)
    }
}

impl Import<'_> {
    /// Adds a row to the page, and stores the page if it is full.
    async fn push(&mut self, row: ImportRow, bytes: usize) -> Result<(), Error> {
        let job = match &row {
            ImportRow::Entry(entry, _) => self.early.remove(&entry.key),
            _ => None,
        };
        self.page.push(row);
        self.page.extend(job.map(ImportRow::RemovedJob));
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
        let (imported, early) = self.inbox.0.store.import(std::mem::take(&mut self.page)).await?;
        if imported.added > 0 {
            self.inbox.0.workers.wake();
        }
        self.imported += imported;
        self.early.extend(early.into_iter().filter_map(|job| Some((job.relies_on()?, job))));
        Ok(())
    }
}

/// What a line holds. An empty one holds nothing.
fn parse(line: &str, number: u64) -> Result<Option<ImportRow>, Error> {
    if line.is_empty() {
        return Ok(None);
    }
    let no = |kind: &'static str| {
        move |what: String| Error::invalid(format!("line {number} is no {kind}: {what}"))
    };
    let bad = no("entry");
    let Kind { kind } = serde_json::from_str(line).map_err(|error| bad(unreadable(&error)))?;
    if let Some(kind) = kind {
        let bad = no("row of the ledger");
        let line: LedgerLine =
            serde_json::from_str(line).map_err(|error| bad(unreadable(&error)))?;
        return line.into_row(&kind).map(Some).map_err(bad);
    }
    let line: ExportLine = serde_json::from_str(line).map_err(|error| bad(unreadable(&error)))?;
    let (entry, bodies) = line.into_entry().map_err(bad)?;
    Ok(Some(ImportRow::Entry(entry, bodies)))
}

/// Why a line cannot be parsed. The parser's error about a wrong type is not used, because it quotes the value, which
/// may be a body.
fn unreadable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if error.is_data() && !text.starts_with("missing field") {
        return format!("another kind of value than expected at column {}", error.column());
    }
    text
}
