//! What other processes and programs have in the file of an inbox.

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use rusqlite::{Connection, OpenFlags};

/// Whether another process has the lock beside the file, which a receiver and a worker hold.
pub(super) fn hold_the_lock(path: &Path) -> bool {
    let mut lock = path.as_os_str().to_owned();
    lock.push("-lock");
    File::open(lock).is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Whether the file of an open inbox has tables that are not the inbox's. A file that cannot be read has none.
pub(super) fn have_tables(path: &Path) -> bool {
    let look = || -> rusqlite::Result<bool> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let tables = "SELECT TRUE FROM sqlite_schema WHERE type = 'table' \
            AND lower(name) NOT GLOB 'article_inbox_*' AND name NOT GLOB 'sqlite_*'";
        Connection::open_with_flags(path, flags)?.prepare(tables)?.exists([])
    };
    look().unwrap_or(false)
}
