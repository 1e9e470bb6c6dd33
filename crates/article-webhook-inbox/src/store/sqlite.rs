//! The store in one SQLite file.
//!
//! One thread owns the only connection that writes. It commits all waiting calls as one group, so that concurrent
//! deliveries share one sync of the disk.

mod fault;
mod files;

mod connection;

mod clock;
mod schema;

mod change_counter;
mod wal_identity;

mod damage;
mod tables;

mod reader;

mod writer;

mod opening;
mod settings;
mod writer_slot;

mod store;

mod folder;

mod backup;
mod salvage;

pub use backup::{Backup, Restored};
pub use files::SqliteLocation;
pub use salvage::Salvaged;
pub use settings::SqliteSettings;
pub use store::SqliteStore;
