//! The transitions of the ledger: of a job, of its asks, of an intent and of the token bucket.

mod article_entry;
mod ask;
mod bucket;
mod clock_step;
mod entry_sync;
mod forget;
mod import;
mod intent;
mod job;
mod refused_key;

pub use article_entry::ArticleEntry;
pub use ask::AskLane;
pub use bucket::Bucket;
pub(crate) use bucket::LEAST as LEAST_SHARE;
#[cfg(feature = "sqlite")]
pub(crate) use import::LONGEST_WAIT;
pub use intent::{IntentRow, NotOrdered};
pub use job::JobRow;
pub use refused_key::RefusedKey;
