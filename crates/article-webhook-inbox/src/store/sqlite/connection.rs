//! Connections to the database, and the settings that they must have.

mod checkpoint;
mod refusal;
mod required_settings;
mod sqlite_version;

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use self::required_settings::{JOURNAL_MODE, REQUIRED, set};
use super::{
    fault::{Fault, is_busy},
    files::{wal_bytes, with_suffix},
};
use crate::Error;

pub(super) use self::{
    checkpoint::{Checkpoint, checkpoint, empty_log, frames, is_copied, write_first_page},
    refusal::{
        another_database, behind, damaged, last_changes, log_of_another, refused, restore_advice,
    },
    required_settings::{settings, wrong_settings},
    sqlite_version::{SecondWriter, check_two_writers},
};

/// The longest wait for a lock.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// The page size of a new file. Larger pages hold a body in fewer pieces; smaller ones make a single delivery cheaper.
pub(super) const PAGE_BYTES: i64 = 8192;

/// A longer log is truncated to this size. Overwriting a log syncs faster than appending to it.
pub(super) const WAL_BYTES: i64 = 64 << 20;

/// The page cache of the connection that writes. The largest group must fit, so that no page is written twice in one
/// transaction.
const CACHE_KIB: i64 = 12 << 10;

/// How many prepared statements a connection keeps: more than there are.
const MAX_CACHED_STATEMENTS: usize = 128;

const WRITER: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// How a process opens a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// As the one process that receives and works. It copies the log into the database.
    Exclusive,
    /// As a tool, while another process has exclusive access.
    Shared,
}

/// Opens a connection that can write, with every setting that changes no file. Closing it leaves a log that was there
/// as it is.
pub(super) fn open(path: &Path, access: Access) -> Result<Connection, Error> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, WRITER)?;
        keep_statements(&connection)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        let log = with_suffix(path, "-wal");
        if access == Access::Shared || log.symlink_metadata().is_ok() {
            close_as(&connection, LogAtClose::Left)?;
        }
        for (name, value, _) in REQUIRED.iter().filter(|(name, ..)| *name != JOURNAL_MODE) {
            set(&connection, name, value)?;
        }
        set(&connection, "journal_size_limit", &WAL_BYTES.to_string())?;
        Ok(connection)
    };
    open().map_err(|error| refused(path, &error))
}

/// Opens a connection for the checks before a start. It leaves every file as it is: SQLite keeps the index of the log in
/// memory, and not in `-shm`. While another program has the database open, SQLite shares the index of that program.
pub(super) fn open_for_checks(path: &Path) -> Result<Connection, Error> {
    if wal_bytes(path) > 0 {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(path, WRITER)?;
            keep_statements(&connection)?;
            close_as(&connection, LogAtClose::Left)?;
            connection.busy_timeout(Duration::ZERO)?;
            set(&connection, "locking_mode", "EXCLUSIVE")?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        };
        match open() {
            Err(error) if is_busy(&error) => {}
            opened => return opened.map_err(|error| refused(path, &error)),
        }
    }
    open(path, Access::Exclusive)
}

/// Makes the file one whose commits are durable, and checks all settings.
pub(super) fn make_durable(
    connection: &Connection,
    path: &Path,
    access: Access,
) -> Result<(), Error> {
    let make = || -> rusqlite::Result<Vec<String>> {
        // A shared connection leaves the file as it is.
        if access == Access::Exclusive {
            let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            if pages == 0 {
                set(connection, "page_size", &PAGE_BYTES.to_string())?;
                set(connection, "auto_vacuum", "INCREMENTAL")?;
            }
            set(connection, JOURNAL_MODE, "WAL")?;
        }
        // SQLite opens the log when it first reads.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        // SQLite counts in pages, and knows their size only now.
        set(connection, "cache_size", &(-CACHE_KIB).to_string())?;
        wrong_settings(connection)
    };
    match make().map_err(|error| refused(path, &error))?.first() {
        None => Ok(()),
        Some(wrong) => Err(Error::unusable(format!(
            "{}: {wrong}: put the database on a disk of this machine, and close it in every other program",
            path.display()
        ))),
    }
}

/// Whether the last connection that closes leaves the log as it is, or copies it into the database and removes it.
pub(super) fn close_as(connection: &Connection, log: LogAtClose) -> rusqlite::Result<()> {
    let leave = matches!(log, LogAtClose::Left);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave).map(drop)
}

/// What becomes of the log when the last connection closes.
#[derive(Debug, Clone, Copy)]
pub(super) enum LogAtClose {
    Left,
    Copied,
}

/// Opens the database as it is in its file, without the log. Only while nothing writes to the file.
pub(super) fn open_without_log(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Connection::open_with_flags(uri + "?immutable=1", flags)
}

/// Opens a connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    keep_statements(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    set(&connection, "mmap_size", "0")?;
    set(&connection, "query_only", "ON")?;
    Ok(connection)
}

/// Prepares each statement once. Without the second setting SQLite prepares a statement again for each new parameter that
/// it compared with the condition of a partial index, which is more work than to run it.
pub(super) fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_the_settings_that_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::File::create(&path).unwrap();
        let connection = open(&path, Access::Exclusive).unwrap();
        make_durable(&connection, &path, Access::Exclusive).unwrap();
        assert_eq!(wrong_settings(&connection).unwrap(), [""; 0]);
        set(&connection, "synchronous", "NORMAL").unwrap();
        set(&connection, "journal_mode", "DELETE").unwrap();
        let wrong = [
            "the setting journal_mode is delete and must be wal",
            "the setting synchronous is 1 and must be 2",
        ];
        assert_eq!(wrong_settings(&connection).unwrap(), wrong);
    }
}
