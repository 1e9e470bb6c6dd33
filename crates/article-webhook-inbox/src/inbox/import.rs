use std::{
    collections::HashMap,
    io::{BufRead, ErrorKind},
};

use serde::Deserialize;

use super::{
    Inbox,
    export_line::ExportLine,
    ledger_line::{LedgerLine, LedgerRow},
};
use crate::{EntryKey, Error, call::ExpectedJob};

/// The result of an import.
///
/// ```
/// use article_webhook_inbox::Inbox;
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (from, to) = (Inbox::memory(), Inbox::memory());
///     from.accept(fixture::complete().delivery()?).await;
///
///     let mut lines = Vec::new();
///     assert_eq!(from.export(&mut lines).await?, 1);
///     let imported = to.import(&lines[..]).await?;
///     assert_eq!((imported.added, imported.present), (1, 0));
///     let imported = to.import(&lines[..]).await?;
///     assert_eq!((imported.added, imported.present), (0, 1));
///
///     let error = to.import(&b"{}"[..]).await.unwrap_err();
///     assert!(error.to_string().starts_with("line 1 is no entry: missing field `job_id`"));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be counted
pub struct Imported {
    /// Entries that were added.
    pub added: u64,
    /// Entries that this inbox had already. They stayed as they were.
    pub present: u64,
    /// Jobs and intents of the ledger that were added.
    pub ledger_added: u64,
    /// Jobs and intents of the ledger that this inbox had already. Only what became of an intent was taken over, if this inbox
    /// did not know it.
    pub ledger_present: u64,
}

/// Jobs that are not imported before the entries that they rely on. In an export of this version these come first, so that
/// none is kept. One of a version that wrote all jobs before the entries costs some hundred bytes for each job that has ended.
type Kept = HashMap<EntryKey, ExpectedJob>;

/// What a line is about: an entry has none, as in exports of versions without a ledger.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Inbox {
    /// Adds the entries and the ledger that another inbox exported. What this inbox has already stays as it is, except an
    /// intent that became a job there and is open here: it is not ordered again. An entry that was leased there waits here,
    /// and a job that was asked for there is due. The bucket of asks allows no more than either inbox's. An article that was
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
        let (mut imported, mut kept) = (Imported::default(), Kept::new());
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.map_err(|error| match error.kind() {
                ErrorKind::InvalidData => Error::invalid(format!("line {number} is no text")),
                _ => Error::unavailable(format!("line {number} cannot be read")).because(error),
            })?;
            if line.is_empty() {
                continue;
            }
            let no = |kind: &'static str| {
                move |what: String| Error::invalid(format!("line {number} is no {kind}: {what}"))
            };
            let bad = no("entry");
            let Kind { kind } =
                serde_json::from_str(&line).map_err(|error| bad(unreadable(&error)))?;
            if let Some(kind) = kind {
                let bad = no("row of the ledger");
                let line: LedgerLine =
                    serde_json::from_str(&line).map_err(|error| bad(unreadable(&error)))?;
                self.import_row(line.into_row(&kind).map_err(bad)?, &mut imported, &mut kept)
                    .await?;
                continue;
            }
            let line: ExportLine =
                serde_json::from_str(&line).map_err(|error| bad(unreadable(&error)))?;
            let (entry, bodies) = line.into_entry().map_err(bad)?;
            let key = entry.key.clone();
            if self.0.store.import(entry, bodies).await? {
                self.0.workers.wake();
                imported.added += 1;
            } else {
                imported.present += 1;
            }
            if let Some(job) = kept.remove(&key) {
                self.import_row(LedgerRow::Removed(job), &mut imported, &mut kept).await?;
            }
        }
        for job in std::mem::take(&mut kept).into_values() {
            self.import_row(LedgerRow::Removed(job), &mut imported, &mut kept).await?;
        }
        Ok(imported)
    }

    async fn import_row(
        &self,
        row: LedgerRow,
        imported: &mut Imported,
        kept: &mut Kept,
    ) -> Result<(), Error> {
        let store = &self.0.store;
        let is_new = match row {
            LedgerRow::Job(job) => {
                if let Some(key) = job.relies_on()
                    && !self.has_entry(&key).await?
                {
                    kept.insert(key, job);
                    return Ok(());
                }
                store.import_job(job).await?
            }
            LedgerRow::Removed(job) => store.import_job(job).await?,
            LedgerRow::Intent(intent) => store.import_intent(intent).await?,
            LedgerRow::Bucket(bucket) => return store.import_bucket(bucket).await,
        };
        match is_new {
            true => imported.ledger_added += 1,
            false => imported.ledger_present += 1,
        }
        Ok(())
    }
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
