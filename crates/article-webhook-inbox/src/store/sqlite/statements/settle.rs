use std::time::SystemTime;

use rusqlite::Connection;

use super::{
    ledger,
    rows::{self, StoredRow},
    sql,
};
use crate::{
    State,
    call::{Completion, Lease, Outcome, Settled},
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
    },
    timestamp::to_millis,
};

/// Stores the outcome of an attempt, as [`Store::settle`](crate::store::Store::settle) says.
pub(crate) fn settle(tx: &Tx<'_>, lease: Lease, outcome: &Outcome) -> Result<Settled, Fault> {
    let Some(mut stored) = rows::load(tx, lease.id)? else {
        return Ok(Settled::LostLease);
    };
    let bodies = match outcome {
        Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => count_bodies(tx, lease.id)?,
        // The rule does not use the number of bodies for these.
        Outcome::Done
        | Outcome::Retry { .. }
        | Outcome::Dead { .. }
        | Outcome::Released
        | Outcome::Snoozed { .. } => 0,
    };
    let settled = stored.row.settle(lease, outcome, bodies, tx.now());
    if settled == Settled::Settled {
        if let Outcome::Corrupt { .. } = outcome {
            let StoredRow { id, key, .. } = &stored;
            let key = key.to_string();
            let key = key.escape_debug();
            tx.found(
                Part::Body,
                format!("entry {id}, {key}, is corrupt: a body is not what was received; deliver or collect the job again"),
            );
        }
        rows::save(tx, &stored)?;
        // The job of a leased entry had its article already, and loses it only so (`JobRow::sync_with_entry`).
        if matches!(stored.row.state, State::Unhandled | State::Corrupt) {
            ledger::sync_with_entry(tx, &stored)?;
        }
    }
    Ok(settled)
}

/// A statement that completes an entry in a transaction of the application. It has nothing to tell the ledger: the job of a
/// leased entry had its article already.
pub(crate) fn completion(lease: Lease, now: SystemTime) -> Completion {
    Completion::new(sql::COMPLETE, [lease.id, lease.fence, to_millis(now)])
}

fn count_bodies(tx: &Connection, id: i64) -> Result<usize, Fault> {
    let bodies: i64 = tx.prepare_cached(sql::COUNT_BODIES)?.query_row([id], |row| row.get(0))?;
    Ok(usize::try_from(bodies).unwrap_or_default())
}
