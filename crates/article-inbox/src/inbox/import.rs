use std::io::BufRead;

use super::{Inbox, export_line::ExportLine};
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
}

impl Inbox {
    /// Adds the entries that another inbox exported. An entry that this inbox has already stays as it is. An entry
    /// that was leased there waits here. Lines before an invalid one are added.
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
            let bad = |what: String| Error::invalid(format!("line {number} is no entry: {what}"));
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
