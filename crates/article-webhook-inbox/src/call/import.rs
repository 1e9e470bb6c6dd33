/// The result of an import.
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
///
///     let mut lines = Vec::new();
///     assert_eq!(from.export(&mut lines).await?, 1);
///     let imported = to.import(Cursor::new(&lines)).await?;
///     assert_eq!((imported.added, imported.present), (1, 0));
///     let imported = to.import(Cursor::new(&lines)).await?;
///     assert_eq!((imported.added, imported.present), (0, 1));
///
///     let error = to.import(Cursor::new("{}\n")).await.unwrap_err();
///     assert_eq!(
///         error.to_string(),
///         "line 1 is no line of an export: missing field `kind` before column 2"
///     );
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

impl std::ops::AddAssign for Imported {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.present += other.present;
        self.ledger_added += other.ledger_added;
        self.ledger_present += other.ledger_present;
    }
}
