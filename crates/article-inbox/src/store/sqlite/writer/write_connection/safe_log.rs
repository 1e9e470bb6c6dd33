use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::store::sqlite::{
    connection, fault::Fault, log_number, schema, writer::failure::log_in_use,
};

/// Whether the mark of an orderly stop counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// At a start it says how the last run ended.
    Counts,
    /// Later it is of no use.
    Ignored,
}

/// Lets commits rest on the log: everything in it is on disk, or it is copied into the database and begun anew.
/// Returns whether the log has its number.
pub(super) fn make_safe(connection: &Connection, path: &Path, mark: Mark) -> Result<bool, Fault> {
    let is_ours = schema::exists(connection)?;
    let frames = connection::frames(connection)?;
    let is_trusted = match frames {
        Some(frames) if frames > 0 && is_ours && mark == Mark::Counts => {
            log_number::is_trusted(connection, frames)?
        }
        _ => false,
    };
    let is_renewed = !is_trusted && frames != Some(0);
    if is_renewed && !connection::empty_log(connection)? {
        return Err(log_in_use(path).into());
    }
    let tx = begin(connection)?;
    if is_ours {
        log_number::unmark_stop(&tx)?;
    }
    if is_ours && !is_trusted {
        log_number::number_log(&tx)?;
    } else if is_renewed {
        connection::write_first_page(&tx)?;
    }
    tx.commit()?;
    Ok(is_ours)
}

/// Marks that everything in the log is on disk. Each commit before this one was synced, or the connection would have
/// been closed. A commit after it changes the number of frames.
pub(super) fn mark_stop(connection: &Connection) -> Result<(), Fault> {
    if let Some(frames) = connection::frames(connection)? {
        let tx = begin(connection)?;
        // It changes one page.
        log_number::mark_stop(&tx, frames + 1)?;
        tx.commit()?;
    }
    Ok(())
}

pub(super) fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}
