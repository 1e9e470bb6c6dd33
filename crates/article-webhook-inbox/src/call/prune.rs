use std::time::SystemTime;

/// What retention may remove, and how much of it in one call.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{Prune, State, store::Row};
///
/// let (now, day) = (SystemTime::now(), Duration::from_secs(24 * 3600));
/// let prune = Prune { bodies_before: now - 7 * day, entries_before: now - 30 * day, dead_before: None, limit: 500 };
/// let done = |age| Row { state: State::Done, ..Row::new(now - age) };
/// assert!(prune.removes_entry(&done(31 * day)));
/// assert!(!prune.removes_entry(&done(29 * day)));
///
/// let dead = Row { state: State::Dead, ..Row::new(now - 365 * day) };
/// assert!(!prune.removes_entry(&dead));
/// assert!(Prune { dead_before: Some(now - 90 * day), ..prune }.removes_entry(&dead));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Prune {
    /// Bodies of entries that were done before this time lose their bytes.
    pub bodies_before: SystemTime,
    /// Done and unhandled entries from before this time are removed.
    pub entries_before: SystemTime,
    /// Entries that were dead before this time are removed; `None` keeps them.
    pub dead_before: Option<SystemTime>,
    /// Maximum number of bodies and of entries, each.
    pub limit: u32,
}

/// What retention removed.
///
/// ```
/// use article_webhook_inbox::Pruned;
///
/// let pruned = Pruned { entries: 500, more: true, ..Pruned::default() };
/// assert_eq!((pruned.bodies, pruned.more), (0, true));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Pruned {
    /// Bodies that lost their bytes.
    pub bodies: u32,
    /// Entries that were removed.
    pub entries: u32,
    /// Whether there is more to remove: call again.
    pub more: bool,
}
