//! Whether a write-ahead log belongs to the database beside it, and whether its last run ended in order.
//!
//! A restored backup may stand beside the log of another time. SQLite would apply that log and mix pages of two databases.
//! So the first commit of each log writes a random number into the database, and a start compares the numbers.

use rusqlite::{Connection, OptionalExtension, params};

use super::{connection::write_first_page, fault::Fault};

/// The number of the log. The first commit of each log writes it …
const NUMBER: &str = "log";
/// … and that of the log before.
const EARLIER: &str = "earlier_log";
/// How many frames the log had after the last commit of an orderly stop, or 0.
const FRAMES_AT_STOP: &str = "frames_at_stop";
/// Is there after a check that found damage, until a start.
const FOUND_DAMAGE: &str = "found_damage";

const READ: &str = "SELECT value FROM article_inbox_meta WHERE name = ?1";
const WRITE: &str = "INSERT OR REPLACE INTO article_inbox_meta (name, value) VALUES (?1, ?2)";

/// Which log was written last, as a database says.
///
/// A log is restarted only when all of it is in the database. So the file of a database, read without its log, has the
/// number of the log or of the log before. If it has another number, it is a copy from another time.
///
/// `VACUUM INTO` copies the number to the backup as well, so that a backup made while this log was written has the
/// right one. But it also raises the backup's `schema_version` by one. The file under a log has at most the
/// `schema_version` that the log leads to, because both rise only by commits to the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WalIdentity {
    number: Option<i64>,
    earlier: Option<i64>,
    schema_changes: i64,
}

impl WalIdentity {
    /// The numbers in this view of a database, which has tables of the inbox.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let (number, earlier) = (value(connection, NUMBER)?, value(connection, EARLIER)?);
        let schema_changes = connection.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
        Ok(Self { number, earlier, schema_changes })
    }

    /// Whether a database with its log can have this file. `file` are the numbers in the file alone.
    pub(super) fn can_rest_on(&self, file: &Self) -> bool {
        let is_of_its_time =
            file.number.is_none() || file.number == self.number || file.number == self.earlier;
        is_of_its_time && file.schema_changes <= self.schema_changes
    }
}

/// Gives the log a number. It must be in the first commit to a log, or in one to a log of which all is in the database.
pub(super) fn number_wal(tx: &Connection) -> Result<(), Fault> {
    if let Some(earlier) = value(tx, NUMBER)? {
        set(tx, EARLIER, earlier)?;
    }
    set(tx, NUMBER, fastrand::i64(1..))?;
    // The first page holds the count of changes to the schema.
    Ok(write_first_page(tx)?)
}

/// Takes the mark of an orderly stop away.
pub(super) fn unmark_stop(tx: &Connection) -> Result<(), Fault> {
    set(tx, FRAMES_AT_STOP, 0)
}

/// Marks that all commits in the log are on disk. `frames` is how many frames the log has with this change.
pub(super) fn mark_stop(tx: &Connection, frames: i64) -> Result<(), Fault> {
    set(tx, FRAMES_AT_STOP, frames)
}

/// Records that a check found damage. The program that works on the file may not have met the damage, and then stops in order.
pub(super) fn note_damage(tx: &Connection) -> Result<(), Fault> {
    set(tx, FOUND_DAMAGE, 1)
}

/// Erases that record, once a start has checked the file.
pub(super) fn erase_damage_record(tx: &Connection) -> Result<(), Fault> {
    tx.execute("DELETE FROM article_inbox_meta WHERE name = ?1", [FOUND_DAMAGE])?;
    Ok(())
}

/// Whether the last stop was an orderly one, and no damage was met or found. Only a commit of the inbox takes the mark away.
pub(super) fn was_stopped(connection: &Connection) -> Result<bool, Fault> {
    let is_marked = value(connection, FRAMES_AT_STOP)?.is_some_and(|frames| frames > 0);
    Ok(is_marked && value(connection, FOUND_DAMAGE)?.is_none())
}

/// Whether a log with this number of frames holds nothing that was committed after an orderly stop.
pub(super) fn is_trusted(connection: &Connection, frames: i64) -> Result<bool, Fault> {
    Ok(value(connection, FRAMES_AT_STOP)? == Some(frames))
}

fn value(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    connection.prepare_cached(READ)?.query_row([name], |row| row.get(0)).optional()
}

fn set(tx: &Connection, name: &str, value: i64) -> Result<(), Fault> {
    tx.prepare_cached(WRITE)?.execute(params![name, value])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_rests_on_the_file_of_its_own_time_or_of_the_log_before() {
        let file = |number| WalIdentity { number, earlier: Some(1), schema_changes: 7 };
        let log = WalIdentity { number: Some(5), earlier: Some(4), schema_changes: 7 };
        assert!([None, Some(5), Some(4)].into_iter().all(|number| log.can_rest_on(&file(number))));
        assert!(!log.can_rest_on(&file(Some(3))));
        assert!(log.can_rest_on(&WalIdentity { schema_changes: 6, ..file(Some(5)) }));
        assert!(!log.can_rest_on(&WalIdentity { schema_changes: 8, ..file(Some(5)) }));
    }
}
