use rusqlite::Connection;

use super::required_settings::set;
use crate::store::sqlite::fault::Fault;

/// Copies the write-ahead log into the database, as far as readers allow. Returns how many bytes are left to copy.
pub(crate) fn checkpoint(connection: &Connection, mode: Checkpoint) -> Result<u64, Fault> {
    let mode = match mode {
        Checkpoint::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Checkpoint::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    let (is_busy, log, copied) = connection.query_row(mode, [], |row| {
        Ok((row.get::<_, i64>(0)? != 0, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    })?;
    let left = (log - copied).max(i64::from(is_busy));
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok((left * page).unsigned_abs())
}

/// How a checkpoint treats readers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Checkpoint {
    /// Waits for no reader.
    Passive,
    /// Waits for readers, and leaves an empty log.
    Truncate,
}

/// Copies the whole log into the database, syncs the database, and restarts the log.
///
/// The log may hold commits that are not on disk: their sync failed, or the process was killed before it. SQLite reads
/// them as if they were safe, and their duplicates would be acknowledged. Another sync of the log is not enough,
/// because after a failed sync the kernel treats the pages as written. The commit at the end restarts the log, so that
/// SQLite never reads an old part of it instead of the copied pages. It waits for programs that still read the old log.
pub(super) fn renew_log(connection: &Connection) -> rusqlite::Result<()> {
    let is_busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0))?;
    if is_busy != 0 {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, None));
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // The value belongs to the application and stays. Setting it makes the transaction write something.
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    set(connection, "user_version", &version.to_string())?;
    connection.execute_batch("COMMIT")
}
