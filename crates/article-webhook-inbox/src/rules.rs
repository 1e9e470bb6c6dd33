//! The transitions of a stored entry: each is one pure function on a [`Row`], and every store uses it.
//!
//! A store loads the row, calls the function with the event and the time, and writes the row back. Where one SQL
//! statement selects or changes many rows, its comment names the function that it must agree with, and the contract
//! suite tests that.

mod claim;
mod export_line;
mod import;
mod job_failure;
mod job_rows;
mod lease;
mod ledger;
mod operator;
mod prune;
mod quarantine;
mod record;
mod restart;
mod row;
mod settle;

pub use claim::{ClaimDecision, Claiming};
pub use export_line::{BodyLine, EntryLine, ExportLine, IntentLine, JobLine};
pub use job_rows::{BodyBytes, BodyRow, Change, EntryRows, JobRows, Tracked};
pub(crate) use job_rows::{MAX_BODY_BYTES, OF_ANOTHER_JOB};
pub(crate) use ledger::MAX_CALL_TIME;
pub use ledger::{Answered, ArticleEntry, Bucket, IntentRow, JobRow, NotOrdered};
pub use quarantine::MIN_QUARANTINE_COST;
pub(crate) use quarantine::{all_report_failure, decode_again, left_for};
pub use record::{BodyWrite, KnownBody, Recording};
pub use row::Row;
