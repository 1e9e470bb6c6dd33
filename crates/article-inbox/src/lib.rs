#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod clock;
mod digest;
mod entry;
mod error;
mod inbox;
mod rules;
pub mod store;
mod telemetry;
mod worker;

pub use clock::Clock;
pub use digest::Digest;
pub use entry::{BODIES, Body, Entry, Key, Source, State};
pub use error::Error;
pub use inbox::{Health, Imported, Inbox};
pub use rules::retention::Retention;
pub use store::{Completion, Counts, Filter, MemoryStore, Page, Store};
#[cfg(feature = "sqlite")]
pub use store::{SqliteSettings, SqliteStore};
#[cfg(feature = "metrics")]
pub use telemetry::metric;
pub use worker::{Failed, Job, Worker};
