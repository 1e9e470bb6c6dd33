//! The transitions of the ledger: of a job, of its polls, of an intent and of the token bucket.

mod article_entry;
mod binding;
mod bucket;
mod entry_sync;
mod erase;
mod import;
mod intent;
mod job;
mod poll;

pub use article_entry::ArticleEntry;
pub use binding::Answered;
pub use bucket::Bucket;
pub(crate) use intent::MAX_CALL_TIME;
pub use intent::{IntentRow, NotOrdered};
pub use job::JobRow;
