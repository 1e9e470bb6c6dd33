//! What the calls of the ledger take and return: ordered jobs, intents, asks and the token bucket.

mod ask;
mod bucket;
mod expect;
mod intent;
mod job;
mod list;

pub use ask::{ApiAnswer, Ask, AskClaim, AskLease, AskOutcome, AskSettled, Asks};
pub use bucket::{BucketEvent, BucketSettings, Pause, PauseReason};
pub use expect::Expect;
pub use intent::{Intended, Intent, IntentLease, IntentState};
pub use job::{ExpectedJob, JobState, Missing, Reason};
pub use list::{JobFilter, LAST_DELIVERY, LedgerCounts, LedgerPage, LedgerPruned, OVERDUE};
