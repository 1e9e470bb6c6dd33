use article_inbox::{
    Body, State,
    store::{Arrival, BodyWrite, KnownBody, Recorded, Recording, Row},
};

use super::rows::{self, KnownIn, StoredRow};
use crate::{connection::Transaction, fault::Fault};

/// Stores a body under its key, as [`Store::record`](article_inbox::store::Store::record) says, and nothing else. Also
/// returns the state of the entry.
pub(super) async fn record_body(
    tx: &Transaction<'_>,
    arrival: &Arrival,
) -> Result<(Recorded, State), Fault> {
    if let Some(stored) = rows::find(tx, &arrival.key).await? {
        return record_known(tx, arrival, stored).await;
    }
    let now = tx.now().await?;
    let row = Row::new(now);
    // Another transaction has added it meanwhile.
    let id = rows::add(tx, &arrival.key, now, 1, &row).await?.ok_or(Fault::Vanished)?;
    rows::put_body(tx, id, 0, &rows::new_body(arrival, now)).await?;
    Ok((Recorded::Stored, row.state))
}

/// Stores a body of an entry that was read without a lock. It is locked only to be changed: an application's transaction
/// that completes it keeps no duplicate waiting.
pub(super) async fn record_known(
    tx: &Transaction<'_>,
    arrival: &Arrival,
    read: StoredRow,
) -> Result<(Recorded, State), Fault> {
    let Decided { recording, stored, .. } = decide(tx, read, arrival).await?;
    if recording.write == BodyWrite::Nothing && !recording.changes_row() {
        return Ok((recording.recorded, stored.row.state));
    }

    // It was there a moment ago: retention or an operator has removed it.
    let locked = rows::lock_key(tx, &arrival.key).await?.ok_or(Fault::Vanished)?;
    let Decided { stored, bodies, recording, body } = decide(tx, locked, arrival).await?;
    let id = stored.id;
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
    Ok((recording.recorded, stored.row.state))
}

/// What the rule says about a body of an entry that is there.
struct Decided {
    stored: StoredRow,
    bodies: Vec<KnownIn>,
    recording: Recording,
    body: Body,
}

async fn decide(
    tx: &Transaction<'_>,
    mut stored: StoredRow,
    arrival: &Arrival,
) -> Result<Decided, Fault> {
    let bodies = rows::known_bodies(tx, stored.id).await?;
    let now = tx.now().await?;
    let known: Vec<_> = bodies.iter().map(|body| body.known).collect();
    let new = KnownBody::from(arrival);
    let recording = if arrival.key.is_failure() {
        stored.row.record_failure(new, &known, now)
    } else {
        stored.row.record(new, &known, now)
    };
    Ok(Decided { stored, bodies, recording, body: rows::new_body(arrival, now) })
}
