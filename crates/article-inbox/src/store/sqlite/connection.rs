use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, OptionalExtension, config::DbConfig, types::Value};

use super::fault::{self, Fault};
use crate::{Error, rules::group::Limits};

/// How much may wait for the writer, and how much of it goes into one transaction.
pub(super) const LIMITS: Limits = Limits {
    waiting: 4096,
    waiting_bytes: 64 * MIB,
    group: 512,
    group_bytes: 8 * MIB,
    patience: BUSY,
};
/// The longest wait for a lock.
pub(super) const BUSY: Duration = Duration::from_secs(2);
/// The longest wait for readers before the log is emptied of what was forgotten: everybody else waits meanwhile.
pub(super) const ERASE: Duration = Duration::from_millis(500);
/// Of a new file. Larger pages hold a body in fewer pieces, smaller ones make a lone delivery cheaper.
const PAGE_BYTES: i64 = 8192;
/// The write-ahead log is copied into the database once it has grown by so much, after everybody was answered …
pub(super) const CHECKPOINT_BYTES: u64 = 4 * MIB as u64;
/// … or once nothing has come for so long.
pub(super) const IDLE: Duration = Duration::from_millis(250);
/// A log that was longer once is cut to this size: what is overwritten is synced faster than what is appended.
const LOG_BYTES: i64 = 64 * MIB as i64;
/// What a command writes besides its body: pages of entries, of their indexes, and of bodies.
pub(super) const COMMAND_BYTES: u64 = 4 * PAGE_BYTES as u64;
/// How many bytes of bodies a call of `prune` removes: each page that goes is written once more, as zeros.
pub(super) const PRUNE_BYTES: usize = 8 * MIB;
/// How many free pages a call of `prune` gives back to the file system.
pub(super) const VACUUM_PAGES: u32 = 2048;
/// Files up to this size are searched for damage at start.
const QUICK_CHECK_BYTES: u64 = 64 * MIB as u64;
/// Pages kept by the connection that writes: room for the largest group, so that none is written twice in one
/// transaction.
const CACHE_KIB: i64 = 16 << 10;
/// Statements kept ready.
const STATEMENTS: usize = 64;

const MIB: usize = 1 << 20;

/// Before it, two connections that write to one database in WAL mode can lose what was committed.
const TWO_WRITERS: (i32, &str) = (3_051_003, "3.51.3");

/// What a connection that writes is set to, and must then say of itself.
const SETTINGS: [(&str, &str, Setting); 9] = [
    ("busy_timeout", "2000", Setting::Number(2000)),
    ("mmap_size", "0", Setting::Number(0)),
    ("journal_mode", "WAL", Setting::Word("wal")),
    ("synchronous", "FULL", Setting::Number(2)),
    ("secure_delete", "ON", Setting::Number(1)),
    ("wal_autocheckpoint", "0", Setting::Number(0)),
    ("fullfsync", "ON", Setting::Number(1)),
    ("checkpoint_fullfsync", "ON", Setting::Number(1)),
    ("foreign_keys", "OFF", Setting::Number(0)),
];

#[derive(Debug, Clone, Copy)]
enum Setting {
    Number(i64),
    Word(&'static str),
}

/// Who opens a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The one process that receives and works, and copies the log into the database.
    Owner,
    /// A tool beside it.
    Guest,
}

/// Whether two connections may write to one database with the SQLite that is linked.
pub(super) fn two_writers(what: &str) -> Result<(), Error> {
    two_writers_with(what, rusqlite::version_number(), rusqlite::version())
}

fn two_writers_with(what: &str, number: i32, version: &str) -> Result<(), Error> {
    let (least, least_version) = TWO_WRITERS;
    if number >= least {
        return Ok(());
    }
    Err(Error::unusable(format!(
        "{what} needs SQLite {least_version}, and this program is linked to {version}, in which a second writer \
         can lose what the first has committed: update rusqlite",
    )))
}

/// A connection that writes, with every setting as it must be.
pub(super) fn writing(path: &Path, role: Role) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.busy_timeout(BUSY)?;
        if role == Role::Guest {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        if pages == 0 && role == Role::Owner {
            set(&connection, "page_size", &PAGE_BYTES.to_string())?;
            set(&connection, "auto_vacuum", "INCREMENTAL")?;
        }
        for (name, value, _) in SETTINGS {
            // A guest takes the file as it is.
            if role == Role::Owner || name != "journal_mode" {
                set(&connection, name, value)?;
            }
        }
        set(&connection, "cache_size", &(-CACHE_KIB).to_string())?;
        set(&connection, "journal_size_limit", &LOG_BYTES.to_string())?;
        if pages > 0 && role == Role::Owner {
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

/// Lets nothing rest on a log that may not be on disk. A commit whose sync failed, or never happened because the
/// process was killed, is in the log and is read as if it were safe: its duplicates would be acknowledged.
///
/// A sync of the log would not do: after one that failed, the kernel takes the log for written. So all of it is copied
/// into the database and synced there, and then a commit begins the log anew, so that no half of the old one is ever
/// read over what was copied. Whoever still reads in the old one is waited for, and keeps it from being begun anew.
fn renew_log(connection: &Connection) -> rusqlite::Result<()> {
    let is_busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get(0))?;
    if is_busy != 0 {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        return Err(rusqlite::Error::SqliteFailure(busy, None));
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // It may be the application's, and stays what it is; but to set it is to write something.
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    set(connection, "user_version", &version.to_string())?;
    connection.execute_batch("COMMIT")
}

/// A connection that only reads.
pub(super) fn reading(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(BUSY)?;
    set(&connection, "mmap_size", "0")?;
    set(&connection, "query_only", "ON")?;
    Ok(connection)
}

/// Settings that are not what they must be: each a sentence.
pub(super) fn wrong_settings(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for (name, _, expected) in SETTINGS {
        // The writer shortens this one for those who have waited already.
        if name == "busy_timeout" {
            continue;
        }
        let found = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        // A build without memory maps gives no answer.
        let found: Option<Value> = found.optional()?;
        wrong.extend(found.and_then(|found| mismatch(name, &found, expected)));
    }
    Ok(wrong)
}

fn mismatch(name: &str, found: &Value, expected: Setting) -> Option<String> {
    let (found, expected) = match (found, expected) {
        (Value::Integer(found), Setting::Number(expected)) => {
            (found.to_string(), expected.to_string())
        }
        (Value::Text(found), Setting::Word(expected)) => (found.clone(), expected.to_owned()),
        (_, Setting::Number(expected)) => ("of another type".into(), expected.to_string()),
        (_, Setting::Word(expected)) => ("of another type".into(), expected.into()),
    };
    (found != expected).then(|| format!("the setting {name} is {found} and must be {expected}"))
}

/// Sets a value; whatever the statement answers is not of interest, because all of them are read afterwards.
fn set(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA {name} = {value}"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Looks for damage in a file that is small enough for it.
pub(super) fn quick_check(connection: &Connection, path: &Path) -> Result<(), Error> {
    // Only its size is asked for: opening and closing it would end this process's locks on it.
    if path.metadata().map_or(0, |metadata| metadata.len()) > QUICK_CHECK_BYTES {
        return Ok(());
    }
    let answer = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match answer {
        Ok(answer) if answer == "ok" => Ok(()),
        Ok(_) => Err(damaged(path)),
        Err(error) => Err(refused(path, &error)),
    }
}

/// Copies the log into the database as far as readers allow. How many bytes are left to copy.
pub(super) fn checkpoint(connection: &Connection, mode: Checkpoint) -> Result<u64, Fault> {
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

#[derive(Debug, Clone, Copy)]
pub(super) enum Checkpoint {
    /// Waits for nobody.
    Passive,
    /// Leaves an empty log.
    Truncate,
}

/// Why a database cannot be used at start, and what to do.
pub(super) fn refused(path: &Path, error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode;

    let shown = path.display();
    let ours = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::damaged(format!(
            "{shown} is not a SQLite database: name another file, or restore a backup"
        )),
        Some(ErrorCode::DatabaseCorrupt) => damaged(path),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Error::unusable(format!(
                "{shown} cannot be opened and written to: let this process write to it and to its folder"
            ))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::unavailable(format!(
            "{shown} is locked by another program: end that program, or wait until it is done"
        )),
        Some(ErrorCode::SystemIoFailure) => Error::unavailable(format!(
            "{shown} cannot be read or written: look at the disk, and start again"
        )),
        _ => return fault::translated(error),
    };
    match fault::source(error) {
        Some(source) => ours.because(source),
        None => ours,
    }
}

pub(super) fn damaged(path: &Path) -> Error {
    Error::damaged(format!(
        "{} is damaged: restore a backup, or move it away with the files -wal and -shm beside it to begin anew",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_sqlite_may_not_have_two_writers() {
        assert!(two_writers_with("a completion", 3_051_003, "3.51.3").is_ok());
        let error = two_writers_with("a completion", 3_051_002, "3.51.2").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a completion needs SQLite 3.51.3, and this program is linked to 3.51.2, in which a second writer can \
             lose what the first has committed: update rusqlite"
        );
        assert!(!error.is_transient());
    }

    #[test]
    fn a_wrong_setting_is_told_with_what_it_must_be() {
        assert_eq!(mismatch("synchronous", &Value::Integer(2), Setting::Number(2)), None);
        assert_eq!(
            mismatch("journal_mode", &Value::Text("delete".into()), Setting::Word("wal")).unwrap(),
            "the setting journal_mode is delete and must be wal"
        );
    }

    #[test]
    fn a_connection_has_the_settings_that_it_was_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::File::create(&path).unwrap();
        let connection = writing(&path, Role::Owner).unwrap();
        assert_eq!(wrong_settings(&connection).unwrap(), [""; 0]);
        set(&connection, "synchronous", "NORMAL").unwrap();
        assert_eq!(
            wrong_settings(&connection).unwrap(),
            ["the setting synchronous is 1 and must be 2"]
        );
    }
}
