use std::time::SystemTime;

/// What may go, and how much of it in one call.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::SystemTime;
/// use article_inbox::{MemoryStore, Store, store::{Prune, Pruned}};
///
/// let now = SystemTime::now();
/// let prune = Prune { bodies_before: now, entries_before: now, limit: 500 };
/// assert_eq!(MemoryStore::default().prune(prune).await?, Pruned::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prune {
    /// Bytes of bodies that are older may go.
    pub bodies_before: SystemTime,
    /// Tombstones, unhandled entries and hints that are older may go.
    pub entries_before: SystemTime,
    /// At most so many of each kind.
    pub limit: u32,
}

/// What went.
///
/// ```
/// use article_inbox::store::Pruned;
///
/// let pruned = Pruned { entries: 500, more: true, ..Pruned::default() };
/// assert_eq!((pruned.bodies, pruned.more), (0, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Bodies whose bytes were removed.
    pub bodies: u32,
    /// Entries that were removed.
    pub entries: u32,
    /// Hints that were removed.
    pub hints: u32,
    /// Whether there is more to do: call again.
    pub more: bool,
}
