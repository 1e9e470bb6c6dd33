use std::io::{self, Write};

use super::{Inbox, export_line::ExportLine};
use crate::{Error, call::Filter};

impl Inbox {
    /// Writes all entries with their bodies as lines of JSON, oldest first, and returns the number of
    /// entries. An entry that changes during the export is written as it was before or after.
    ///
    /// # Errors
    ///
    /// The store or the writer failed.
    pub async fn export(&self, mut out: impl Write) -> Result<u64, Error> {
        let unwritten =
            |error: io::Error| Error::unavailable("the export cannot be written").because(error);
        let (mut written, mut filter) = (0, Filter::default());
        loop {
            let page = self.list(filter.clone()).await?;
            for entry in page.entries {
                // `None`: it was erased since the page was read.
                let Some((entry, bodies)) = self.show(entry.key).await? else { continue };
                let line = serde_json::to_string(&ExportLine::new(entry, bodies));
                let line = line.map_err(|error| unwritten(error.into()))?;
                writeln!(out, "{line}").map_err(unwritten)?;
                written += 1;
            }
            let Some(next) = page.next else { break };
            filter.after = next;
        }
        out.flush().map_err(unwritten)?;
        Ok(written)
    }
}
