use std::{collections::HashMap, time::SystemTime};

use article_webhook_inbox::{
    Body, EntryKey, State,
    store::{Arrival, BodyWrite, KnownBody, Recorded, Recording, Row},
};

use super::rows::{self, KnownIn, StoredRow};
use crate::{connection::Transaction, fault::Fault};

/// An entry and its bodies, as they were read without a lock.
#[derive(Clone)]
pub(super) struct Known {
    stored: StoredRow,
    bodies: Vec<KnownIn>,
}

/// What became of a body, and the state of its entry.
pub(super) struct Told {
    pub(super) recorded: Recorded,
    pub(super) entry: State,
    /// The entry or its bodies are others now.
    pub(super) is_changed: bool,
}

impl Known {
    /// The entries of these keys that are there.
    pub(super) async fn all(
        tx: &Transaction<'_>,
        keys: &[&EntryKey],
    ) -> Result<HashMap<EntryKey, Self>, Fault> {
        let entries = rows::find_all(tx, keys).await?;
        let ids: Vec<_> = entries.iter().map(|stored| stored.id).collect();
        let mut bodies = rows::known_bodies(tx, &ids).await?;
        let known = |stored: StoredRow| {
            let bodies = bodies.remove(&stored.id).unwrap_or_default();
            (stored.key.clone(), Self { stored, bodies })
        };
        Ok(entries.into_iter().map(known).collect())
    }
}

/// Stores a body under its key, as [`Store::record`](article_webhook_inbox::store::Store::record) says, and nothing else. Also
/// returns the state of the entry.
pub(super) async fn record_body(
    tx: &Transaction<'_>,
    arrival: &Arrival,
) -> Result<(Recorded, State), Fault> {
    let known = Known::all(tx, &[&arrival.key]).await?;
    let now = tx.now().await?;
    if let Some(read) = known.get(&arrival.key) {
        let told = record_known(tx, arrival, read, now).await?.ok_or(Fault::Vanished)?;
        return Ok((told.recorded, told.entry));
    }
    let row = Row::new(now);
    // Another transaction has added it meanwhile.
    let id = rows::add(tx, &arrival.key, now, 1, &row).await?.ok_or(Fault::Vanished)?;
    rows::put_body(tx, id, 0, &rows::new_body(arrival, now)).await?;
    Ok((Recorded::Stored, row.state))
}

/// Stores a body of an entry that was read without a lock. It is locked only to be changed: an application's transaction
/// that completes it keeps no duplicate waiting. `None`: another transaction holds it, and other calls share this one.
pub(super) async fn record_known(
    tx: &Transaction<'_>,
    arrival: &Arrival,
    read: &Known,
    now: SystemTime,
) -> Result<Option<Told>, Fault> {
    let told = |recording: &Recording, entry, is_changed| {
        Some(Told { recorded: recording.recorded, entry, is_changed })
    };
    let Decided { recording, stored, .. } = decide(read.clone(), arrival, now);
    if recording.write == BodyWrite::Nothing && !recording.changes_row() {
        return Ok(told(&recording, stored.row.state, false));
    }

    let locked = if tx.is_shared() {
        match rows::lock_free_key(tx, &arrival.key).await? {
            Some(locked) => locked,
            None => return Ok(None),
        }
    } else {
        // It was there a moment ago: retention or an operator has removed it.
        rows::lock_key(tx, &arrival.key).await?.ok_or(Fault::Vanished)?
    };
    let id = locked.id;
    let bodies = rows::known_bodies(tx, &[id]).await?.remove(&id).unwrap_or_default();
    let locked = Known { stored: locked, bodies };
    let Decided { stored, bodies, recording, body } = decide(locked, arrival, tx.now().await?);
    match recording.write {
        BodyWrite::Nothing => {}
        BodyWrite::Append => {
            let slot = bodies.last().map_or(0, |last| last.slot + 1);
            rows::put_body(tx, id, slot, &body).await?;
        }
        BodyWrite::Replace(index) => {
            let KnownIn { slot, intent, .. } = &bodies[index];
            let intent = body.intent.clone().or_else(|| intent.clone());
            rows::put_body(tx, id, *slot, &Body { intent, ..body }).await?;
        }
        BodyWrite::Intent(index) => {
            rows::put_intent(tx, id, bodies[index].slot, arrival.intent.as_deref()).await?;
        }
    }
    if recording.changes_row() {
        rows::save(tx, &stored).await?;
    }
    Ok(told(&recording, stored.row.state, true))
}

/// What the rule says about a body of an entry that is there.
struct Decided {
    stored: StoredRow,
    bodies: Vec<KnownIn>,
    recording: Recording,
    body: Body,
}

fn decide(Known { mut stored, bodies }: Known, arrival: &Arrival, now: SystemTime) -> Decided {
    let known: Vec<_> = bodies.iter().map(|body| body.known).collect();
    let new = KnownBody::from(arrival);
    let recording = if arrival.key.is_failure() {
        stored.row.record_failure(new, &known, now)
    } else {
        stored.row.record(new, &known, now)
    };
    Decided { stored, bodies, recording, body: rows::new_body(arrival, now) }
}
