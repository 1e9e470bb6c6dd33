use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    fault::Fault,
    rows::{self, millis},
    sql,
};
use crate::{
    BODIES, Body, Entry, Error, State,
    store::{Arrival, Recorded},
};

/// Slots of bodies that belong to one entry: more than are ever kept.
const SLOTS: i64 = 16;

/// Stores a body under its key, as [`Store::record`](crate::Store::record) says.
pub(super) fn record(tx: &Connection, now: i64, arrival: &Arrival) -> Result<Recorded, Fault> {
    let (job_id, event) = (arrival.key.job_id.as_str(), arrival.key.event.as_str());
    let found = tx.prepare_cached(sql::FIND)?.query_row([job_id, event], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    });
    let Some((id, state, has_failed)) = found.optional()? else {
        let waiting = State::Waiting.as_str();
        let none = None::<&str>;
        tx.prepare_cached(sql::ADD)?
            .execute(params![job_id, event, waiting, 0, now, now, 0, 1, none])?;
        put(tx, tx.last_insert_rowid() * SLOTS, now, arrival)?;
        return Ok(Recorded::Stored);
    };
    let state = rows::state(id, &state)?;
    let slots = slots(tx, id)?;

    if let Some((slot, _)) = slots.iter().find(|(_, digest)| *digest == *arrival.digest.as_bytes())
    {
        if state != State::Corrupt {
            return Ok(Recorded::Duplicate);
        }
        tx.prepare_cached(sql::MEND_BODY)?.execute(params![slot, &arrival.bytes[..]])?;
        revive(tx, id, now, 0)?;
        return Ok(Recorded::Stored);
    }

    let is_full = slots.len() >= BODIES;
    let last = slots.last().map_or(id * SLOTS - 1, |(slot, _)| *slot);
    if let State::Unhandled | State::Corrupt = state {
        put(tx, if is_full { last } else { last + 1 }, now, arrival)?;
        revive(tx, id, now, 1)?;
        return Ok(Recorded::Stored);
    }
    // Known to decode: a worker has looked at the bodies, and found one that will do.
    let is_known = match state {
        State::Done | State::Dead => true,
        State::Waiting => has_failed,
        State::Leased | State::Unhandled | State::Corrupt => false,
    };
    if is_full && !is_known {
        return Ok(Recorded::Crowded);
    }
    if !is_full {
        put(tx, last + 1, now, arrival)?;
    }
    tx.prepare_cached(sql::CONFLICT)?.execute([id, i64::from(!is_full)])?;
    Ok(Recorded::Conflict { kept: !is_full })
}

/// Puts an entry here that another store has shown, as [`Store::import`](crate::Store::import) says.
pub(super) fn import(
    tx: &Connection,
    now: i64,
    entry: &Entry,
    bodies: &[Body],
) -> Result<bool, Fault> {
    let (job_id, event) = (entry.key.job_id.as_str(), entry.key.event.as_str());
    if bodies.len() as i64 > SLOTS {
        return Err(Error::invalid(format!(
            "{} has {} bodies: at most {SLOTS} are taken",
            entry.key,
            bodies.len()
        ))
        .into());
    }
    if tx.prepare_cached(sql::FIND)?.exists([job_id, event])? {
        return Ok(false);
    }
    let (state, at) = match entry.state {
        State::Leased => (State::Waiting, now),
        state => (state, millis(entry.at)),
    };
    let held = bodies.iter().filter(|body| body.bytes.is_some()).count() as i64;
    tx.prepare_cached(sql::ADD)?.execute(params![
        job_id,
        event,
        state.as_str(),
        i64::from(entry.attempts),
        at,
        millis(entry.received_at),
        i64::from(entry.conflicts),
        held,
        entry.cause.as_deref(),
    ])?;
    let first = tx.last_insert_rowid() * SLOTS;
    for (slot, body) in (first..).zip(bodies) {
        tx.prepare_cached(sql::PUT_BODY)?.execute(params![
            slot,
            millis(body.received_at),
            body.source.as_str(),
            &*body.target,
            body.intent.as_deref(),
            &body.digest.as_bytes()[..],
            body.bytes.as_deref(),
        ])?;
    }
    Ok(true)
}

/// What a command holds in memory while it waits.
pub(super) fn size(bytes: Option<&Bytes>) -> usize {
    const REST: usize = 512;
    REST + bytes.map_or(0, Bytes::len)
}

fn slots(tx: &Connection, id: i64) -> Result<Vec<(i64, [u8; 32])>, Fault> {
    let mut statement = tx.prepare_cached(sql::DIGESTS)?;
    let slots = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(slots.collect::<Result<_, _>>()?)
}

fn put(tx: &Connection, slot: i64, now: i64, arrival: &Arrival) -> Result<(), Fault> {
    tx.prepare_cached(sql::PUT_BODY)?.execute(params![
        slot,
        now,
        arrival.source.as_str(),
        &*arrival.target,
        arrival.intent.as_deref(),
        &arrival.digest.as_bytes()[..],
        &arrival.bytes[..],
    ])?;
    Ok(())
}

fn revive(tx: &Connection, id: i64, now: i64, conflicts: i64) -> Result<(), Fault> {
    tx.prepare_cached(sql::REVIVE)?.execute([id, now, conflicts])?;
    tx.prepare_cached(sql::COUNT_HELD)?.execute([id])?;
    Ok(())
}
