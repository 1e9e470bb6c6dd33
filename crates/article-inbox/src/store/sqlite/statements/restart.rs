mod clock;

use std::{path::Path, time::SystemTime};

use rusqlite::{Connection, Params};

use super::{
    rows::{self, StoredRow},
    sql,
};
use crate::{
    Error,
    store::sqlite::{connection::refused, fault::Fault},
    timestamp::to_millis,
};

pub(crate) use self::clock::{follow, store_clock, stored_clock};

/// Frees the leases of the previous process, and shortens waits that a wrong clock made too long. Only
/// for the process with exclusive access, at start, while no worker runs.
pub(crate) fn free_leases(
    connection: &Connection,
    path: &Path,
    now: SystemTime,
) -> Result<(), Error> {
    let free = || -> Result<(), Fault> {
        let tx = connection.unchecked_transaction()?;
        let mut entries = select(&tx, sql::LEASED, [])?;
        entries.extend(select(&tx, sql::DUE_LATER, [to_millis(now)])?);
        for mut stored in entries {
            if stored.row.restart(now) {
                rows::save(&tx, &stored)?;
            }
        }
        Ok(tx.commit()?)
    };
    free().map_err(|fault| match fault {
        Fault::Sql(error) => refused(path, &error),
        Fault::Ours(error) => error,
    })
}

fn select(
    tx: &Connection,
    statement: &str,
    parameters: impl Params,
) -> Result<Vec<StoredRow>, Fault> {
    let mut statement = tx.prepare(statement)?;
    let mut found = statement.query(parameters)?;
    let mut entries = Vec::new();
    while let Some(found) = found.next()? {
        // A damaged row does not prevent the start. It is left as it is.
        entries.extend(rows::stored(found).ok());
    }
    Ok(entries)
}
