#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod digest;
mod error;
mod timestamp;

#[macro_use]
mod named;

mod clock;
mod progress;

mod codec;

mod entry;

mod call;

mod rules;

mod script;

mod telemetry;

#[doc(hidden)]
pub mod store;

mod worker;

mod inbox;

pub use article_webhook::{ArticleResult, Event, JobId};
pub use call::{
    CauseCount, Completion, Counts, ExpectedJob, Filter, Finding, HourCount, Imported, Intent,
    IntentState, JobFilter, JobState, LedgerCounts, LedgerPruned, ListOrder, Missing,
    OVERDUE_AFTER, Page, Pause, PauseReason, Prune, Pruned, Reason, Since, StoreHealth, Topic,
};
pub use clock::Clock;
pub use digest::Digest;
pub use entry::{
    Body, Entry, EntryKey, Failure, MAX_BODIES_PER_ENTRY, MAX_FAILURES_PER_ENTRY, Source, State,
    cause_group,
};
pub use error::Error;
#[cfg(feature = "signal")]
pub use inbox::stop_signal;
pub use inbox::{Health, Inbox, LedgerHealth, Requeued, UNCLAIMED_AFTER};
pub use store::memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use store::sqlite::{Backup, Restored, Salvaged, SqliteLocation, SqliteSettings, SqliteStore};
#[cfg(feature = "metrics")]
pub use telemetry::metric;
pub use worker::{
    Failed, Job, JobFailure, JobKind, Retention, StuckHandler, Worker, WorkerFailure, Workers,
};
