//! Connections to the database, and the settings that they must have.

mod checkpoint;
mod refusal;
mod required_settings;
mod version;

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use self::{
    checkpoint::renew_log,
    required_settings::{REQUIRED, set},
};
use super::fault::Fault;
use crate::Error;

pub(super) use self::{
    checkpoint::{Checkpoint, checkpoint},
    refusal::{damaged, refused},
    required_settings::wrong_settings,
    version::check_two_writers,
};

/// The longest wait for a lock.
pub(super) const BUSY: Duration = Duration::from_secs(2);

/// The page size of a new file. Larger pages hold a body in fewer pieces; smaller ones make a single delivery cheaper.
pub(super) const PAGE_BYTES: i64 = 8192;

/// A longer log is truncated to this size. Overwriting a log syncs faster than appending to it.
const LOG_BYTES: i64 = 64 << 20;

/// The page cache of the connection that writes. The largest group must fit, so that no page is written twice in one
/// transaction.
const CACHE_KIB: i64 = 16 << 10;

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 64;

/// How a process opens a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// As the one process that receives and works. It copies the log into the database.
    Exclusive,
    /// As a tool, while another process has exclusive access.
    Shared,
}

/// Opens a connection that writes, with all required settings.
pub(super) fn open_writer(path: &Path, access: Access) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.busy_timeout(BUSY)?;
        if access == Access::Shared {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        if pages == 0 && access == Access::Exclusive {
            set(&connection, "page_size", &PAGE_BYTES.to_string())?;
            set(&connection, "auto_vacuum", "INCREMENTAL")?;
        }
        for (name, value, _) in REQUIRED {
            // A shared connection leaves the file as it is.
            if access == Access::Exclusive || name != "journal_mode" {
                set(&connection, name, value)?;
            }
        }
        set(&connection, "cache_size", &(-CACHE_KIB).to_string())?;
        set(&connection, "journal_size_limit", &LOG_BYTES.to_string())?;
        if pages > 0 && access == Access::Exclusive {
            renew_log(&connection)?;
        }
        Ok(connection)
    };
    let connection = open().map_err(|error| refused(path, &error))?;
    match wrong_settings(&connection).map_err(|error| refused(path, &error))?.first() {
        None => Ok(connection),
        Some(wrong) => Err(Error::unusable(format!(
            "{}: {wrong}: put the database on a disk of this machine, and close it in every other program",
            path.display()
        ))),
    }
}

/// Opens a connection that only reads.
pub(super) fn open_reader(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(BUSY)?;
    set(&connection, "mmap_size", "0")?;
    set(&connection, "query_only", "ON")?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_the_settings_that_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::File::create(&path).unwrap();
        let connection = open_writer(&path, Access::Exclusive).unwrap();
        assert_eq!(wrong_settings(&connection).unwrap(), [""; 0]);
        set(&connection, "synchronous", "NORMAL").unwrap();
        assert_eq!(
            wrong_settings(&connection).unwrap(),
            ["the setting synchronous is 1 and must be 2"]
        );
    }
}
