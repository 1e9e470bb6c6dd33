/// What a store reports about itself, for a status page or an alarm.
///
/// ```
/// use article_inbox::{MemoryStore, store::{Store, StoreHealth}};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), article_inbox::Error> {
///     let health = MemoryStore::default().health().await?;
///     assert_eq!(health, StoreHealth::default());
///     assert_eq!((health.log_bytes, health.blocked), (0, None));
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive] // more may be reported
pub struct StoreHealth {
    /// The size of the write-ahead log beside the database, in bytes. Up to 64 MiB are kept for reuse. A log that
    /// becomes larger is held by a program that reads for long.
    pub log_bytes: u64,
    /// Why nothing can be committed now, and what to do. The store goes on by itself once the cause has ended.
    pub blocked: Option<String>,
}
