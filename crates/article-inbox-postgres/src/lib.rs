#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod fault;

mod settings;

mod connection;

mod schema;

mod statements;

mod recorder;

mod store;

pub use settings::PostgresSettings;
pub use store::{PostgresStore, connect};
