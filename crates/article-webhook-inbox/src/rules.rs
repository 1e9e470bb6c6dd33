//! The transitions of a stored entry: each is one pure function on a [`Row`], and every store uses it.
//!
//! A store loads the row, calls the function with the event and the time, and writes the row back. Where one SQL
//! statement selects or changes many rows, its comment names the function that it must agree with, and the contract
//! suite tests that.

mod claim;
mod clock_step;
mod import;
mod job_failure;
mod lease;
mod ledger;
mod operator;
mod prune;
mod record;
mod restart;
mod row;
mod settle;

pub use claim::{ClaimDecision, Claiming};
pub(crate) use ledger::LEAST_SHARE;
#[cfg(feature = "sqlite")]
pub(crate) use ledger::LONGEST_WAIT;
pub use ledger::{ArticleEntry, AskLane, Bucket, IntentRow, JobRow, NotOrdered, RefusedKey};
pub use record::{BodyWrite, KnownBody, Recording};
pub use row::Row;
