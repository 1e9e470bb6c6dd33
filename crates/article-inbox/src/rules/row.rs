use std::time::SystemTime;

use crate::{Entry, EntryKey, State};

/// The part of a stored entry that changes, and every transition of it as a pure function.
///
/// A store loads a row, calls a transition with the event and the time, and writes the row back. It keeps the rest
/// of the entry beside it: the id, the key, the time of the first body, and the bodies. The time passed to a
/// transition must be a whole millisecond, as [`from_millis`](crate::store::from_millis) returns it.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_inbox::{State, store::{Claim, ClaimDecision, Outcome, Row, Settled}};
///
/// let now = SystemTime::UNIX_EPOCH;
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 1 };
/// let mut entry = Row::new(now);
/// let ClaimDecision::Leased(lease) = entry.claim(7, &claim, now) else { panic!("an attempt is left") };
///
/// // The lease ends, and another worker finds that no attempt is left.
/// let later = now + claim.lease;
/// assert_eq!(entry.settle(lease, &Outcome::Done, 1, later), Settled::LostLease);
/// assert_eq!(entry.claim(7, &claim, later), ClaimDecision::Buried);
/// assert_eq!(entry.state, State::Dead);
///
/// // An operator requeues it.
/// assert!(entry.requeue(later));
/// assert!(matches!(entry.claim(7, &claim, later), ClaimDecision::Leased(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct Row {
    /// The state of the work on the entry.
    pub state: State,
    /// How many attempts began since it was stored or requeued.
    pub attempts: u32,
    /// The fence of the last claim; 0 before the first.
    pub fence: i64,
    /// Waiting: when it is due. Leased: when the lease ends. Otherwise: when it entered its state.
    pub at: SystemTime,
    /// How many bodies differed from all earlier ones, including those that were not kept.
    pub conflicts: u32,
    /// Why it waits again, or is dead, unhandled or corrupt.
    pub cause: Option<String>,
}

impl Row {
    /// The row of an entry whose first body is stored now.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self { state: State::Waiting, attempts: 0, fence: 0, at: now, conflicts: 0, cause: None }
    }

    /// The entry as the inbox shows it.
    #[must_use]
    pub fn into_entry(self, id: i64, key: EntryKey, received_at: SystemTime) -> Entry {
        let Self { state, attempts, fence: _, at, conflicts, cause } = self;
        Entry { id, key, state, attempts, received_at, at, conflicts, cause }
    }

    pub(super) fn wait_until(&mut self, at: SystemTime, cause: Option<String>) {
        self.enter(State::Waiting, at, cause);
    }

    pub(super) fn enter(&mut self, state: State, at: SystemTime, cause: Option<String>) {
        (self.state, self.at, self.cause) = (state, at, cause);
    }
}
