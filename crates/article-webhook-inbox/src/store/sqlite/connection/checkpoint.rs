use rusqlite::Connection;

use super::required_settings::set;
use crate::store::sqlite::fault::Fault;

/// Copies the write-ahead log into the database, as far as readers allow. Returns how many bytes are left to copy.
pub(crate) fn checkpoint(connection: &Connection, mode: Checkpoint) -> Result<u64, Fault> {
    let (is_busy, log, copied) = run(connection, mode)?;
    let left = (log - copied).max(i64::from(is_busy));
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok((left * page).unsigned_abs())
}

/// How many frames the log has that are part of the database. Copies what it can. `None` if another connection copies
/// the log at the moment.
pub(crate) fn frames(connection: &Connection) -> Result<Option<i64>, Fault> {
    let (_, log, _) = run(connection, Checkpoint::Passive)?;
    Ok((log >= 0).then_some(log))
}

/// Whether the whole log is in the database, and the database is synced.
///
/// A checkpoint during which another connection commits ends without a sync, and does not say so. The next one that
/// finds nothing to copy shows that there was none.
pub(crate) fn is_copied(connection: &Connection) -> Result<bool, Fault> {
    let (before, after) =
        (run(connection, Checkpoint::Passive)?, run(connection, Checkpoint::Passive)?);
    let (is_busy, log, copied) = after;
    Ok(before == after && !is_busy && log == copied)
}

/// Copies the whole log into the database, and syncs the database, so that the next commit restarts the log. `false`
/// if another program uses the log.
///
/// The log may hold commits that are not on disk: their sync failed, or the process was killed before it. SQLite reads
/// them as if they were safe, and their duplicates would be acknowledged. Another sync of the log is not enough,
/// because after a failed sync the kernel treats the pages as written. A commit must follow. It restarts the log, so
/// that SQLite never reads an old part of it instead of the copied pages.
pub(crate) fn empty_log(connection: &Connection) -> Result<bool, Fault> {
    let (is_busy, ..) = run(connection, Checkpoint::Restart)?;
    Ok(!is_busy)
}

/// Writes the first page of the database, and changes nothing in it.
pub(crate) fn write_first_page(tx: &Connection) -> rusqlite::Result<()> {
    // The value belongs to the application and stays.
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    set(tx, "user_version", &version.to_string())
}

/// Whether a reader or writer was in the way, the frames of the log, and how many of them are copied.
fn run(connection: &Connection, mode: Checkpoint) -> Result<(bool, i64, i64), Fault> {
    let mode = match mode {
        Checkpoint::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Checkpoint::Restart => "PRAGMA wal_checkpoint(RESTART)",
        Checkpoint::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    let row = connection.query_row(mode, [], |row| {
        Ok((row.get::<_, i64>(0)? != 0, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    })?;
    Ok(row)
}

/// How a checkpoint treats readers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Checkpoint {
    /// Waits for no reader.
    Passive,
    /// Waits for readers, and lets the next commit restart the log.
    Restart,
    /// Waits for readers, and leaves an empty log.
    Truncate,
}
