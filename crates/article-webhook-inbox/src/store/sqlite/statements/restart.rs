mod clock_step;

use rusqlite::{Connection, params};

use super::{
    ledger,
    rows::{self, LiveRange},
    sql,
};
use crate::{
    State,
    store::sqlite::{damage::Tx, fault::Fault},
    timestamp::to_millis,
};

pub(crate) use self::clock_step::{follow, store_clock, stored_clock};

/// Frees the leases of the previous process, and shortens waits that a wrong clock made too long. Only
/// for the process with exclusive access, at start, while no worker runs.
pub(crate) fn free_leases(tx: &Tx<'_>) -> Result<(), Fault> {
    let now = tx.now();
    for range in LiveRange::ALL {
        let after = if range.state == State::Leased { -1 } else { to_millis(now) };
        for id in timed(tx, range, after)? {
            // A damaged row does not prevent the start.
            let Some(mut stored) = rows::load(tx, id)? else { continue };
            if stored.row.restart(now) {
                rows::save(tx, &stored)?;
            }
        }
    }
    ledger::restart_ledger(tx)
}

/// The entries of a range after a time. All ids are read first: the index by time changes while entries are moved.
fn timed(tx: &Connection, range: LiveRange, after: i64) -> Result<Vec<i64>, Fault> {
    let LiveRange { state, kind } = range;
    let mut timed = tx.prepare_cached(sql::TIMED)?;
    let timed = timed.query_map(params![state.as_str(), kind, after], |row| row.get(0))?;
    Ok(timed.collect::<Result<_, _>>()?)
}
