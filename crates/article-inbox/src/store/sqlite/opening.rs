use std::{path::Path, sync::Arc};

use rusqlite::Connection;

use super::{
    connection::{self, Access},
    damage::{self, Findings, Integrity, Part},
    files::{self, Lock},
    log_number::LogNumber,
    reader::Reader,
    schema,
    writer::{Handle, WriteConnection},
};
use crate::{Clock, Error};

/// Opens a database with exclusive access, or creates it. A file is judged before anything in it, in its log or in
/// their metadata is changed, so that a start that is refused has done no harm.
pub(super) fn exclusive(path: &Path, clock: Clock) -> Result<Handle, Error> {
    let path = files::resolve(path)?;
    files::check_local(&path)?;
    files::judge(&path)?;
    let lock = Lock::take(&path)?;
    let findings = Arc::new(Findings::default());
    if let Some(unreadable) = damage::unreadable(&path) {
        findings.add(Part::Log, unreadable);
    }
    let connection = connection::open(&path, Access::Exclusive)?;
    let found = judge(&connection, &path)?;
    let is_searched = found.is_some();
    files::remove_rights_of_others(&path)?;
    connection::make_durable(&connection, &path, Access::Exclusive)?;

    let reader = Arc::new(Reader::new(path.clone()));
    let mut connection =
        WriteConnection::new(path.clone(), clock.clone(), connection, Some(lock), reader.clone());
    connection.mend_at_start((findings, found));
    match connection.make_ready() {
        // The writer goes on trying, and what is stored can be read meanwhile.
        Err(error) if !error.is_transient() => return Err(error),
        _ => {}
    }
    let handle = Handle::start(path, clock, reader, connection)?;
    if !is_searched {
        handle.inspect()?;
    }
    Ok(handle)
}

/// Refuses a database that is not ours to change.
fn judge(connection: &Connection, path: &Path) -> Result<Option<Integrity>, Error> {
    schema::judge(connection, path)?;
    if has_log_of_another(connection, path) {
        return Err(connection::log_of_another(path));
    }
    damage::judge(connection, path)
}

/// Whether the file is a sound database that cannot be the one under the log.
fn has_log_of_another(connection: &Connection, path: &Path) -> bool {
    let look = || -> rusqlite::Result<bool> {
        if files::log_bytes(path) == 0 || !schema::exists(connection)? {
            return Ok(false);
        }
        let file = connection::open_without_log(path)?;
        if !schema::exists(&file)? || LogNumber::of(connection)?.can_rest_on(&LogNumber::of(&file)?)
        {
            return Ok(false);
        }
        // While the log is copied the file alone is not sound.
        file.query_row("PRAGMA integrity_check(1)", [], |row| Ok(row.get::<_, String>(0)? == "ok"))
    };
    // A file that cannot be read without its log proves nothing.
    look().unwrap_or(false)
}

/// Opens a database while another process has exclusive access.
pub(super) fn shared(path: &Path) -> Result<Handle, Error> {
    connection::check_two_writers("a tool beside the receiver")?;
    let path = files::resolve(path)?;
    if !path.exists() {
        return Err(Error::unusable(format!(
            "{} does not exist: name the receiver's database, and start the receiver first",
            path.display()
        )));
    }
    files::check_local(&path)?;
    files::judge(&path)?;
    let connection = connection::open(&path, Access::Shared)?;
    connection::make_durable(&connection, &path, Access::Shared)?;
    schema::check_current(&connection, &path)?;
    let (clock, reader) = (Clock::system(), Arc::new(Reader::new(path.clone())));
    let connection =
        WriteConnection::new(path.clone(), clock.clone(), connection, None, reader.clone());
    Handle::start(path, clock, reader, connection)
}
