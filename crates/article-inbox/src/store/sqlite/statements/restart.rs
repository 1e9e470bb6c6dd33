mod clock;

use rusqlite::Params;

use super::{
    rows::{self, StoredRow},
    sql,
};
use crate::{
    store::sqlite::{damage::Tx, fault::Fault},
    timestamp::to_millis,
};

pub(crate) use self::clock::{follow, store_clock, stored_clock};

/// Frees the leases of the previous process, and shortens waits that a wrong clock made too long. Only
/// for the process with exclusive access, at start, while no worker runs.
pub(crate) fn free_leases(tx: &Tx<'_>) -> Result<(), Fault> {
    let now = tx.now();
    let mut entries = select(tx, sql::LEASED, [])?;
    entries.extend(select(tx, sql::DUE_LATER, [to_millis(now)])?);
    for mut stored in entries {
        if stored.row.restart(now) {
            rows::save(tx, &stored)?;
        }
    }
    Ok(())
}

fn select(tx: &Tx<'_>, statement: &str, parameters: impl Params) -> Result<Vec<StoredRow>, Fault> {
    let mut statement = tx.prepare(statement)?;
    let found = statement.query_and_then(parameters, rows::stored)?;
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let mut entries = Vec::new();
    for found in found {
        match found {
            Ok(stored) => entries.push(stored),
            // A damaged row does not prevent the start.
            Err(damaged) => drop(damaged.isolate(tx)?),
        }
    }
    Ok(entries)
}
