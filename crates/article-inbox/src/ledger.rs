//! What the ledger keeps, and what its calls take and return: ordered jobs, intents, asks and the token bucket.
//!
//! The same rule as for the types of a [`call`](crate::call) holds: they are exhaustive on purpose.

mod ask;
mod bucket;
mod expect;
mod intent;
mod job;
mod list;

pub use ask::{Answer, Ask, AskClaim, AskLease, AskOutcome, AskSettled, Asks};
pub use bucket::{BucketEvent, BucketSettings, OrderTurn, Pause, PauseReason};
pub use expect::Expect;
pub use intent::{Intended, Intent, IntentLease, IntentState};
pub use job::{ExpectedJob, JobState, Missing, Reason};
pub use list::{JobFilter, LedgerCounts, LedgerPage, LedgerPruned};
#[cfg(feature = "sqlite")]
pub(crate) use list::{LAST_DELIVERY, OVERDUE};
