use std::time::SystemTime;

use rusqlite::Connection;

use super::{
    rows::{self, SLOTS},
    sql,
};
use crate::{
    Body, Digest, Source, State,
    call::{Arrival, Recorded},
    rules::{BodyWrite, KnownBody, Row},
    store::sqlite::{damage::Tx, fault::Fault},
};

/// Stores a body under its key, as [`Store::record`](crate::store::Store::record) says, and nothing else. Also returns the
/// state of the entry.
pub(super) fn record_body(tx: &Tx<'_>, arrival: &Arrival) -> Result<(Recorded, State), Fault> {
    let now = tx.now();
    let Some(mut stored) = rows::find(tx, &arrival.key)? else {
        let row = Row::new(now);
        let state = row.state;
        let id = rows::add(tx, &arrival.key, now, 1, row)?;
        rows::put_body(tx, id * SLOTS, &body(arrival, now))?;
        return Ok((Recorded::Stored, state));
    };
    let id = stored.id;
    let bodies = known_bodies(tx, id)?;
    let known: Vec<_> = bodies.iter().map(|body| body.known).collect();
    let new = KnownBody::from(arrival);
    let recording = if arrival.key.is_failure() {
        stored.row.record_failure(new, &known, now)
    } else {
        stored.row.record(new, &known, now)
    };
    match recording.write {
        BodyWrite::Nothing => {}
        BodyWrite::Append => {
            let slot = bodies.last().map_or(id * SLOTS, |last| last.slot + 1);
            rows::put_body(tx, slot, &body(arrival, now))?;
        }
        BodyWrite::Replace(index) => {
            let Known { slot, intent, .. } = &bodies[index];
            let body = body(arrival, now);
            let intent = body.intent.or_else(|| intent.as_deref().map(Into::into));
            rows::put_body(tx, *slot, &Body { intent, ..body })?;
        }
        BodyWrite::Intent(index) => {
            let intent = arrival.intent.as_deref().unwrap_or_default();
            rows::put_intent(tx, bodies[index].slot, intent)?;
        }
    }
    if recording.changes_row() {
        rows::save(tx, &stored)?;
    }
    if let BodyWrite::Append | BodyWrite::Replace(_) = recording.write {
        rows::count_held(tx, id)?;
    }
    Ok((recording.recorded, stored.row.state))
}

/// A body, as far as the rule and its replacement need to know it.
struct Known {
    slot: i64,
    known: KnownBody,
    intent: Option<String>,
}

fn known_bodies(tx: &Connection, id: i64) -> Result<Vec<Known>, Fault> {
    let mut statement = tx.prepare_cached(sql::KNOWN_BODIES)?;
    let found = statement.query_map([id], |row| {
        // No body has the digest of a damaged one.
        let digest = rows::digest(row.get_ref(1)?).unwrap_or(Digest::from([0; 32]));
        let intent = rows::lossy(row.get_ref(2)?);
        // A body is taken for a delivered one unless it is known to come from the API.
        let source = rows::lossy(row.get_ref(3)?).and_then(|source| Source::from_name(&source));
        let source = source.unwrap_or(Source::Webhook);
        let known = KnownBody { digest, source, has_intent: intent.is_some() };
        Ok(Known { slot: row.get(0)?, known, intent })
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
