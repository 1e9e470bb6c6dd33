//! The files of a database: the file itself, its log, the memory that connections share, and the lock.
//!
//! They are validated by their metadata. None that SQLite uses is closed here: that would release the locks that
//! SQLite holds on it in this process.

mod database_file;
mod file_system;

mod identity;
mod validate;

mod register;
mod sync_handle;

mod acknowledged;
mod location;
mod lock_file;
mod notes;
pub(super) mod positioned;

pub use self::location::SqliteLocation;
pub(super) use self::{
    acknowledged::Acknowledged,
    database_file::{private, remove_rights_of_others, resolve, wal_bytes, with_suffix},
    file_system::{check_local, easily_lost},
    identity::{Change, FilesInUse},
    lock_file::{Lock, ReadLock, acknowledged_beside, in_use},
    notes::{Note, Notes},
    sync_handle::sync_handle,
    validate::validate,
};
