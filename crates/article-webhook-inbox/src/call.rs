//! What the calls of a store take and return.
//!
//! What only stores and the collector use is exhaustive: one that leaves out a field or a variant must not compile. What an
//! application reads can grow.

mod arrival;
mod claim;
mod completion;
mod finding;
mod import;
mod ledger;
mod list;
mod prune;
mod quarantine;
mod settle;
mod store_health;

pub use arrival::{Arrival, Recorded};
pub use claim::{Claim, Claimed, Claims, Events, Lease, Since};
pub use completion::Completion;
pub use finding::Finding;
pub use import::Imported;
pub use ledger::{
    ApiAnswer, BucketEvent, BucketSettings, CallRefused, DELIVERY_PERIOD, Expect, ExpectedJob,
    Intended, Intent, IntentLease, IntentState, JobFilter, JobState, LedgerCounts, LedgerPruned,
    Missing, OVERDUE_AFTER, Pause, PauseReason, Poll, PollClaim, PollLease, PollOutcome,
    PollSettled, Polls, Reason, Topic,
};
pub(crate) use list::search_text;
pub use list::{CauseCount, Counts, Filter, HourCount, ListOrder, MILLIS_PER_HOUR, Page};
pub use prune::{Prune, Pruned};
pub use quarantine::{Quarantine, Quarantined};
pub use settle::{Outcome, Settled};
pub use store_health::StoreHealth;
