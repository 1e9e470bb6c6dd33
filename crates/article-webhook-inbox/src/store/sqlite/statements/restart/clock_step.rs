use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension};

use super::timed;

use crate::{
    ClockStep,
    store::sqlite::{
        damage::Tx,
        fault::Fault,
        statements::{
            ledger,
            rows::{self, LiveRange},
            sql,
        },
    },
    timestamp::{from_millis, to_millis},
};

/// Moves the times of all entries that wait or are leased, and of all open jobs of the ledger, by a step of the clock.
/// Returns how many were moved.
///
/// Entries that are due stay as they are when the clock is set ahead: there may be many, and they are due either way.
pub(crate) fn follow(tx: &Tx<'_>, step: ClockStep) -> Result<u64, Fault> {
    let after = match step {
        ClockStep::Forward(_) => to_millis(tx.now()),
        ClockStep::Back(_) => -1,
    };
    let mut moved = 0;
    for range in LiveRange::ALL {
        for id in timed(tx, range, after)? {
            let Some(mut stored) = rows::load(tx, id)? else { continue };
            if stored.row.shift_times(step) {
                rows::save(tx, &stored)?;
                moved += 1;
            }
        }
    }
    Ok(moved + ledger::follow_ledger(tx, step)?)
}

/// The time of the store's clock that was stored last; `None` before the first.
pub(crate) fn stored_clock(tx: &Connection) -> Result<Option<SystemTime>, Fault> {
    let stored = tx.prepare_cached(sql::CLOCK)?.query_row([], |row| row.get::<_, i64>(0));
    Ok(stored.optional()?.filter(|millis| *millis > 0).map(from_millis))
}

/// Stores the time of the store's clock.
pub(crate) fn store_clock(tx: &Connection, now: SystemTime) -> Result<(), Fault> {
    tx.prepare_cached(sql::STORE_CLOCK)?.execute([to_millis(now)])?;
    Ok(())
}
