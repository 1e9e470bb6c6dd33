//! What the calls of the ledger take and return: ordered jobs, intents, polls and the token bucket.

mod bucket;
mod intent;
mod job;
mod list;
mod poll;

pub use bucket::{BucketEvent, BucketSettings, Pause, PauseReason};
pub use intent::{CallRefused, Intended, Intent, IntentLease, IntentState, Topic};
pub use job::{Expect, ExpectedJob, JobState, Missing, Reason};
pub use list::{DELIVERY_PERIOD, JobFilter, LedgerCounts, LedgerPruned, OVERDUE_AFTER};
pub use poll::{ApiAnswer, Poll, PollClaim, PollLease, PollOutcome, PollSettled, Polls};
