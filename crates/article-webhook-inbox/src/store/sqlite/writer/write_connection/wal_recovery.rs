use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::store::sqlite::{
    connection, fault::Fault, schema, wal_identity, writer::failure::log_in_use,
};

/// Whether the mark of an orderly stop counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// At a start it says how the last run ended.
    Counts,
    /// Later it is of no use.
    Ignored,
}

/// What the next commit must say about the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecoveredWal {
    /// It goes on, because the last run ended in order.
    Continued,
    /// It is begun anew.
    Renewed,
}

/// Lets commits rest on the log: everything in it is on disk, or it is copied into the database, and the next commit
/// begins it anew.
pub(super) fn make_safe(
    connection: &Connection,
    path: &Path,
    mark: Mark,
) -> Result<RecoveredWal, Fault> {
    let frames = connection::frames(connection)?;
    let is_trusted = match frames {
        Some(frames) if frames > 0 && mark == Mark::Counts && schema::exists(connection)? => {
            wal_identity::is_trusted(connection, frames)?
        }
        _ => false,
    };
    if is_trusted {
        return Ok(RecoveredWal::Continued);
    }
    if frames != Some(0) && !connection::empty_log(connection)? {
        return Err(log_in_use(path).into());
    }
    Ok(RecoveredWal::Renewed)
}

impl RecoveredWal {
    /// Writes it. The database has tables of the inbox.
    pub(super) fn write(self, tx: &Connection) -> Result<(), Fault> {
        wal_identity::unmark_stop(tx)?;
        match self {
            Self::Continued => Ok(()),
            Self::Renewed => wal_identity::number_wal(tx),
        }
    }
}

/// Marks that everything in the log is on disk. Each commit before this one was synced, or the connection would have
/// been closed. A commit after it changes the number of frames.
pub(super) fn mark_stop(connection: &Connection) -> Result<(), Fault> {
    if let Some(frames) = connection::frames(connection)? {
        let tx = begin(connection)?;
        // It changes one page.
        wal_identity::mark_stop(&tx, frames + 1)?;
        tx.commit()?;
    }
    Ok(())
}

pub(super) fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}
