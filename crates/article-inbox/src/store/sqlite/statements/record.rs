use std::time::SystemTime;

use rusqlite::{Connection, params};

use super::{
    rows::{self, SLOTS},
    sql,
};
use crate::{
    Body, Digest,
    call::{Arrival, Recorded},
    rules::{BodyWrite, Row},
    store::sqlite::{damage::Tx, fault::Fault},
};

/// Stores a body under its key, as [`Store::record`](crate::store::Store::record) says.
pub(crate) fn record(tx: &Tx<'_>, now: SystemTime, arrival: &Arrival) -> Result<Recorded, Fault> {
    let Some(mut stored) = rows::find(tx, &arrival.key)? else {
        let id = rows::add(tx, &arrival.key, now, 1, Row::new(now))?;
        rows::put_body(tx, id * SLOTS, &body(arrival, now))?;
        return Ok(Recorded::Stored);
    };
    let id = stored.id;
    let (slots, digests) = digests(tx, id)?;
    let recording = stored.row.record(arrival.digest, &digests, now);
    match recording.write {
        BodyWrite::Nothing => {}
        BodyWrite::Append => {
            let slot = slots.last().map_or(id * SLOTS, |last| last + 1);
            rows::put_body(tx, slot, &body(arrival, now))?;
        }
        BodyWrite::Replace(index) => rows::put_body(tx, slots[index], &body(arrival, now))?,
        BodyWrite::Repair(index) => {
            let parameters = params![slots[index], &arrival.bytes[..]];
            tx.prepare_cached(sql::REPAIR_BODY)?.execute(parameters)?;
        }
    }
    if recording.changes_row() {
        rows::save(tx, &stored)?;
    }
    if recording.write != BodyWrite::Nothing {
        rows::count_held(tx, id)?;
    }
    Ok(recording.recorded)
}

/// The slots of an entry's bodies and the digests in them.
fn digests(tx: &Connection, id: i64) -> Result<(Vec<i64>, Vec<Digest>), Fault> {
    let mut statement = tx.prepare_cached(sql::DIGESTS)?;
    let found = statement.query_map([id], |row| {
        // A damaged digest is that of no body.
        let digest = rows::digest(row.get_ref(1)?).unwrap_or(Digest::from([0; 32]));
        Ok((row.get::<_, i64>(0)?, digest))
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn body(arrival: &Arrival, now: SystemTime) -> Body {
    Body {
        received_at: now,
        source: arrival.source,
        target: arrival.target.clone(),
        intent: arrival.intent.clone(),
        digest: arrival.digest,
        bytes: Some(arrival.bytes.clone()),
    }
}
