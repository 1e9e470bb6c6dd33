use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::{
    change_counter,
    connection::{self, Access, SecondWriter},
    damage::{self, LOG},
    fault::Fault,
    files::{self, Lock, acknowledged_beside},
    schema,
    wal_identity::{self, WalIdentity},
    writer::{Shared, WriteConnection, Writer, try_start},
};
use crate::{Clock, Error, telemetry, timestamp::rounded};

/// Opens a database with exclusive access, or creates it. A file is validated before anything in it, in its log or in
/// their metadata is changed, so that a start that is refused has done no harm. `None`: another process uses it.
pub(super) fn exclusive(path: &Path, clock: Clock) -> Result<Option<Writer>, Error> {
    let path = files::resolve(path)?;
    files::check_local(&path)?;
    files::validate(&path)?;
    validate_kind(&path)?;
    let Some(lock) = Lock::take(&path)? else { return Ok(None) };
    let recorded = lock.acknowledged();
    if files::wal_bytes(&path) == 0 {
        // SQLite would make an empty log.
        let file = connection::open_without_log(&path);
        let file = file.map_err(|error| connection::refused(&path, &error))?;
        change_counter::validate(&file, &path, recorded)?;
    }
    let mut connection = connection::open_for_checks(&path)?;
    change_counter::validate(&connection, &path, recorded)?;
    let shared = Shared::new(path.clone(), clock, lock.notes());
    if recorded.is_none() {
        if let Some(unreadable) = damage::unreadable(&path) {
            shared.findings.add(LOG, unreadable);
        }
        if was_in_use(&connection).map_err(|fault| refused(&path, fault))? {
            telemetry::nothing_recorded(&path);
        }
    }
    let mut found = validate(&connection, &path)?;
    let now = rounded(shared.clock.now());
    let mut trial = try_start(&mut connection, &path, &found, now);
    if found.is_empty() && trial.as_ref().is_err_and(Fault::is_damage) {
        found = damage::integrity(&connection).map_err(|fault| refused(&path, fault))?;
        trial = try_start(&mut connection, &path, &found, now);
    }
    unless_transient(trial.map_err(|fault| refused(&path, fault)))?;
    drop(connection);
    files::remove_rights_of_others(&path)?;
    let connection = connection::open(&path, Access::Exclusive)?;
    connection::make_durable(&connection, &path, Access::Exclusive)?;

    if let Some(why) = files::easily_lost(&path) {
        telemetry::easily_lost(&path, why);
    }

    let mut connection = WriteConnection::new(shared.clone(), connection, Some(lock), found);
    let started = connection.start().map_err(|fault| refused(&path, fault));
    shared.status.note(started.as_ref().map(drop));
    unless_transient(started)?;
    telemetry::opened(&path, schema::VERSION);
    Writer::start(shared, connection).map(Some)
}

/// Refuses a file that is no database before the lock is made beside it. One with a log or a journal may become one by it.
fn validate_kind(path: &Path) -> Result<(), Error> {
    if files::wal_bytes(path) > 0 || files::with_suffix(path, "-journal").exists() {
        return Ok(());
    }
    let look = || {
        let file = connection::open_without_log(path)?;
        file.query_row("PRAGMA schema_version", [], |_| Ok(()))
    };
    match look() {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(connection::refused(path, &error))
        }
        // Whatever else is wrong is found once the file is locked.
        _ => Ok(()),
    }
}

/// After a transient failure the writer goes on trying, and what is stored can be read meanwhile.
fn unless_transient(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(error) if error.is_transient() => Ok(()),
        outcome => outcome,
    }
}

/// The error of a start that is refused.
pub(super) fn refused(path: &Path, fault: Fault) -> Error {
    match fault {
        Fault::Sql(error) => connection::refused(path, &error),
        Fault::Ours(error) => error,
    }
}

/// Refuses a database that is not ours to change. Returns what SQLite's check of it finds. After a clean stop it checks the
/// intents alone.
fn validate(connection: &Connection, path: &Path) -> Result<Vec<String>, Error> {
    schema::validate(connection, path)?;
    if has_log_of_another(connection, path) {
        return Err(connection::log_of_another(path));
    }
    let look = || -> Result<Vec<String>, Fault> {
        if schema::exists(connection)? && wal_identity::was_stopped(connection)? {
            return damage::integrity_of_intents(connection);
        }
        damage::integrity(connection)
    };
    look().map_err(|fault| refused(path, fault))
}

/// Whether the inbox in this database was not closed in order.
fn was_in_use(connection: &Connection) -> Result<bool, Fault> {
    Ok(schema::exists(connection)? && !wal_identity::was_stopped(connection)?)
}

/// Whether the file is a sound database that cannot be the one under the log.
pub(super) fn has_log_of_another(connection: &Connection, path: &Path) -> bool {
    let look = || -> rusqlite::Result<bool> {
        if files::wal_bytes(path) == 0 || !schema::exists(connection)? {
            return Ok(false);
        }
        let file = connection::open_without_log(path)?;
        if !schema::exists(&file)?
            || WalIdentity::of(connection)?.can_rest_on(&WalIdentity::of(&file)?)
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
pub(super) fn shared(path: &Path) -> Result<Writer, Error> {
    connection::check_two_writers(SecondWriter {
        needs: "a tool beside the receiver",
        otherwise: "stop the receiver first, and open the file as the receiver does",
    })?;
    let path = files::resolve(path)?;
    if !path.exists() {
        return Err(Error::unusable(format!(
            "{} does not exist: name the receiver's database, and start the receiver first",
            path.display()
        )));
    }
    files::check_local(&path)?;
    files::validate(&path)?;
    let recorded = acknowledged_beside(&path);
    let connection = connection::open(&path, Access::Shared)?;
    schema::check_current(&connection, &path)?;
    // A commit is counted, and would hide from the next start that others are missing.
    change_counter::validate(&connection, &path, recorded)?;
    connection::make_durable(&connection, &path, Access::Shared)?;
    let shared = Shared::new(path, Clock::system(), None);
    let connection = WriteConnection::new(shared.clone(), connection, None, Vec::new());
    Writer::start(shared, connection)
}
