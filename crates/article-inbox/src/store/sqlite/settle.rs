use rusqlite::{Connection, OptionalExtension, params};

use super::{
    fault::Fault,
    rows::{self, later},
    sql,
};
use crate::{
    Key, State,
    store::{Lease, Outcome, Settled},
};

/// Says what became of an attempt, as [`Store::settle`](crate::Store::settle) says.
pub(super) fn settle(
    tx: &Connection,
    now: i64,
    lease: Lease,
    outcome: &Outcome,
) -> Result<Settled, Fault> {
    let standing = tx.prepare_cached(sql::STANDING)?.query_row([lease.id], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    });
    let Some((state, fence, at)) = standing.optional()? else {
        return Ok(Settled::LostLease);
    };
    match rows::state(lease.id, &state)? {
        State::Done if fence == lease.fence => return Ok(Settled::AlreadyDone),
        State::Leased if fence == lease.fence && at > now => {}
        _ => return Ok(Settled::LostLease),
    }
    let id = lease.id;
    match outcome {
        Outcome::Done => turn(tx, id, State::Done, now, None, 0)?,
        Outcome::Dead { cause } => turn(tx, id, State::Dead, now, Some(cause), 0)?,
        Outcome::Retry { after, cause } => {
            turn(tx, id, State::Waiting, later(now, *after), Some(cause), 0)?;
        }
        Outcome::Unhandled { seen, cause } => reject(tx, id, State::Unhandled, now, *seen, cause)?,
        Outcome::Corrupt { seen, cause } => reject(tx, id, State::Corrupt, now, *seen, cause)?,
        Outcome::Released => {
            tx.prepare_cached(sql::RELEASE)?.execute([id, now])?;
        }
    }
    Ok(Settled::Settled)
}

/// Begins an entry anew that is dead, unhandled or corrupt.
pub(super) fn requeue(tx: &Connection, now: i64, key: &Key) -> Result<bool, Fault> {
    let parameters = params![key.job_id.as_str(), key.event.as_str(), now];
    Ok(tx.prepare_cached(sql::REQUEUE)?.execute(parameters)? > 0)
}

/// Gives an entry up that is waiting, unhandled or corrupt.
pub(super) fn bury(tx: &Connection, now: i64, key: &Key, cause: &str) -> Result<bool, Fault> {
    let parameters = params![key.job_id.as_str(), key.event.as_str(), now, cause];
    Ok(tx.prepare_cached(sql::BURY)?.execute(parameters)? > 0)
}

/// None of the bodies that were looked at will do. One that came meanwhile may.
fn reject(
    tx: &Connection,
    id: i64,
    state: State,
    now: i64,
    seen: usize,
    cause: &str,
) -> Result<(), Fault> {
    let bodies: i64 = tx.prepare_cached(sql::COUNT_BODIES)?.query_row([id], |row| row.get(0))?;
    if bodies > i64::try_from(seen).unwrap_or(i64::MAX) {
        return turn(tx, id, State::Waiting, now, None, 1);
    }
    turn(tx, id, state, now, Some(cause), 1)
}

/// Changes the state, and takes attempts back that do not count.
fn turn(
    tx: &Connection,
    id: i64,
    state: State,
    at: i64,
    cause: Option<&str>,
    attempts: i64,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::TURN)?.execute(params![id, state.as_str(), at, cause, attempts])?;
    Ok(())
}
