/// What a store knows about its own health.
///
/// ```
/// use article_inbox::{MemoryStore, store::{Store, StoreHealth}};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_inbox::Error> {
///     assert_eq!(MemoryStore::default().health().await?, StoreHealth::default());
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive] // more may be known
pub struct StoreHealth {
    /// Damage that was found since the store was opened, and what was done about it. Each finding is a sentence. The
    /// first 32 are kept; the log has all.
    pub findings: Vec<String>,
}
