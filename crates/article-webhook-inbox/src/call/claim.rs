use std::time::{Duration, SystemTime};

use crate::{Body, EntryKey};

/// The right to work on an entry until a point in time. Each claim of the entry issues a new fence, so that a worker
/// with an older lease can change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an entry and a fence are the whole proof")]
pub struct Lease {
    /// The id of the entry.
    pub id: i64,
    /// The number of this claim. It grows with each claim of the entry, and is no smaller than the time in milliseconds, so that
    /// it does not come again where a store has lost the last claims.
    pub fence: i64,
}

/// The parameters of a worker's claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Claim {
    /// Maximum number of entries to claim, including those that are discarded.
    pub limit: u32,
    /// How long the leases last.
    pub lease: Duration,
    /// How many attempts an entry may have.
    pub attempts: u32,
    /// How many handlers of this worker run already.
    pub running: u32,
    /// Which entries the worker has a handler for.
    pub events: Events,
    /// Whether entries that had an attempt go before new ones. The rule is [`order`](Self::order).
    pub retries_first: bool,
}

impl Claim {
    /// While claims are paused, how soon the next one looks whether they still are. So every process goes on within a second.
    pub const PAUSED_INTERVAL: Duration = Duration::from_millis(500);
}

/// Which entries a claim takes, by their events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store obeys every variant")]
pub enum Events {
    /// Every entry, also those of events that no version knows: a worker reports that nothing handles them.
    All,
    /// Every entry but the [failures](EntryKey::failure) of jobs. They wait for a worker that has a handler for them.
    ExceptFailures,
}

impl Events {
    /// Whether a claim takes the entry of this key.
    #[must_use]
    pub fn includes(self, key: &EntryKey) -> bool {
        match self {
            Self::All => true,
            Self::ExceptFailures => !key.is_failure(),
        }
    }
}

/// The result of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Claims {
    /// The entries that were leased.
    pub claimed: Vec<Claimed>,
    /// The entries that were discarded, because they have no attempt left.
    pub discarded: Vec<EntryKey>,
    /// How many of these entries, leased or discarded, had an expired lease.
    pub expired: u32,
    /// A due entry must run alone and was left, because others run. Claim nothing more until they have ended.
    pub alone_waits: bool,
    /// When the next entry is due: the smallest `at` of all waiting and leased entries of the claim's events that were
    /// not claimed now. While claims are paused: when to look again whether they are.
    pub next_due: Option<SystemTime>,
    /// A failure is due, and the claim takes [none](Events::ExceptFailures).
    pub failures_wait: bool,
    /// Since when claims are paused, if they are: nothing was claimed.
    pub paused_since: Option<Since>,
}

/// A time since when something is so, and who made it so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be known
pub struct Since {
    /// The time.
    pub at: SystemTime,
    /// The name that was [given](crate::Inbox::pause). A salvage and an administrator's statement give none.
    pub by: Option<Box<str>>,
}

impl Since {
    #[doc(hidden)]
    #[must_use]
    pub fn new(at: SystemTime, by: Option<Box<str>>) -> Self {
        Self { at, by }
    }
}

/// An entry under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Claimed {
    /// The lease.
    pub lease: Lease,
    /// The job and the event.
    pub key: EntryKey,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// When the first body was stored.
    pub received_at: SystemTime,
    /// Whether the worker must run it alone, and claim nothing until it has ended.
    pub runs_alone: bool,
    /// The bodies in the order of their arrival.
    pub bodies: Vec<Body>,
}
