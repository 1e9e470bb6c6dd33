//! Entries that a filter selects, one page after the other.

use article_webhook_inbox::{Entry, Error, Filter, Inbox};

/// How many entries are read at once, and changed in one transaction, so that a receiver does not wait long for it.
const PAGE: u32 = 250;

/// The entries that pass one of the filters: the first of them, or all.
pub(crate) struct Selection {
    pub(crate) filters: Vec<Filter>,
    pub(crate) at_most: usize,
}

impl Selection {
    /// Calls `each` with each page.
    pub(crate) async fn pages<F: AsyncFnMut(Vec<Entry>) -> Result<(), E>, E: From<Error>>(
        &self,
        inbox: &Inbox,
        mut each: F,
    ) -> Result<(), E> {
        let mut left = self.at_most;
        for filter in &self.filters {
            let mut filter = Filter { limit: PAGE, ..filter.clone() };
            loop {
                let mut page = inbox.list(filter.clone()).await?;
                page.entries.truncate(left);
                left -= page.entries.len();
                if !page.entries.is_empty() {
                    each(page.entries).await?;
                }
                if left == 0 {
                    return Ok(());
                }
                // Entries are listed by ascending id, so none is visited twice.
                let Some(next) = page.next else { break };
                filter.after = next;
            }
        }
        Ok(())
    }

    /// Whether an entry passes one of the filters.
    pub(crate) fn accepts(&self, entry: &Entry) -> bool {
        self.filters.iter().any(|filter| filter.accepts(entry))
    }
}
