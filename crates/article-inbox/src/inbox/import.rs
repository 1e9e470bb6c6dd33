use std::io::BufRead;

use serde::Deserialize;

use super::{
    Inbox,
    export_line::ExportLine,
    ledger_line::{LedgerLine, LedgerRow},
};
use crate::Error;

/// The result of an import.
///
/// ```
/// use article_inbox::Inbox;
/// use article_webhook::{Sink, fixture::DeliveryRequest};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (from, to) = (Inbox::memory(), Inbox::memory());
///     from.accept(DeliveryRequest::complete().delivery()?).await;
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

/// What a line is about: an entry has none, as in exports of versions without a ledger.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Inbox {
    /// Adds the entries and the ledger that another inbox exported. What this inbox has already stays as it is, except an
    /// intent that became a job there and is open here: it is not ordered again. An entry that was leased there waits here,
    /// and a job that was asked for there is due. The bucket of asks allows no more than either inbox's. Lines before an
    /// invalid one are added.
    ///
    /// # Errors
    ///
    /// A line is not an entry, or contains a body that differs from its digest: the error names the line. The store or
    /// the reader failed.
    pub async fn import(&self, lines: impl BufRead) -> Result<Imported, Error> {
        let mut imported = Imported::default();
        for (number, line) in (1..).zip(lines.lines()) {
            let line = line.map_err(|error| {
                Error::unavailable(format!("line {number} cannot be read")).because(error)
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
                self.import_row(line.into_row(&kind).map_err(bad)?, &mut imported).await?;
                continue;
            }
            let line: ExportLine =
                serde_json::from_str(&line).map_err(|error| bad(unreadable(&error)))?;
            let (entry, bodies) = line.into_entry().map_err(bad)?;
            if self.0.store.import(entry, bodies).await? {
                self.0.wake.wake();
                imported.added += 1;
            } else {
                imported.present += 1;
            }
        }
        Ok(imported)
    }

    async fn import_row(&self, row: LedgerRow, imported: &mut Imported) -> Result<(), Error> {
        let store = &self.0.store;
        let is_new = match row {
            LedgerRow::Job(job) => store.import_job(job).await?,
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
