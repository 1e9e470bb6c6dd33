#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod fault;
mod log;

mod settings;

mod objects;

mod connection;

mod notifications;

mod schema;

mod tables;

mod probe;

mod batches;

mod store;

#[doc(hidden)]
pub use schema::Inboxes;
pub use settings::{PostgresSettings, Protection};
pub use store::{PostgresStore, connect};
