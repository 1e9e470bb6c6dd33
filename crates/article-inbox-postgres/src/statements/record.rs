use std::collections::HashSet;

use article_inbox::{
    Body,
    store::{Arrival, BodyWrite, KnownBody, Recorded, Recording},
};
use tokio_postgres::types::Type;

use super::{
    rows::{self, KnownIn, StoredRow},
    sql,
};
use crate::{
    connection::{Transaction, Work},
    fault::Fault,
};

/// Stores a batch of bodies, as [`Store::record`](article_inbox::store::Store::record) says of each, and answers in the
/// order of the batch.
pub(crate) fn record<'t>(
    tx: &'t Transaction<'t>,
    arrivals: &'t [Arrival],
) -> Work<'t, Vec<Recorded>> {
    Box::pin(async move {
        // Two nodes that store the same keys take them in the same order, and so do not wait for each other.
        let mut order: Vec<usize> = (0..arrivals.len()).collect();
        order.sort_by_key(|index| key(&arrivals[*index]));
        let mut seen = HashSet::new();
        let (firsts, others): (Vec<_>, Vec<_>) =
            order.into_iter().partition(|index| seen.insert(key(&arrivals[*index])));

        let mut recorded = vec![Recorded::Stored; arrivals.len()];
        let added = add_new(tx, arrivals, &firsts).await?;
        let known = firsts.into_iter().filter(|index| !added.contains(index));
        let mut is_unsafe = false;
        for index in known.chain(others) {
            let answer = record_known(tx, &arrivals[index]).await?;
            is_unsafe |= answer == Recorded::Duplicate;
            recorded[index] = answer;
        }
        if is_unsafe {
            // What it is a duplicate of is visible here before it is safe on a standby. So this waits for it.
            tx.query(sql::WRITE_LOG, &[]).await?;
        }
        Ok(recorded)
    })
}

fn key(arrival: &Arrival) -> (&str, &str) {
    (arrival.key.job_id.as_str(), arrival.key.event.as_str())
}

/// Adds the entries that are not there. Returns which.
async fn add_new(
    tx: &Transaction<'_>,
    arrivals: &[Arrival],
    firsts: &[usize],
) -> Result<HashSet<usize>, Fault> {
    let of = |index: &usize| &arrivals[*index];
    let column = |text: fn(&Arrival) -> &str| -> Vec<&str> {
        firsts.iter().map(|index| text(of(index))).collect()
    };
    let job_ids = column(|arrival| arrival.key.job_id.as_str());
    let events = column(|arrival| arrival.key.event.as_str());
    let sources = column(|arrival| arrival.source.as_str());
    let targets = column(|arrival| &arrival.target);
    let intents: Vec<_> = firsts.iter().map(|index| of(index).intent.as_deref()).collect();
    let digests: Vec<_> = firsts.iter().map(|index| &of(index).digest.as_bytes()[..]).collect();
    let bodies: Vec<&[u8]> = firsts.iter().map(|index| &*of(index).bytes).collect();
    let parameters = [
        (&tx.given_time() as _, Type::INT8),
        (&job_ids as _, Type::TEXT_ARRAY),
        (&events as _, Type::TEXT_ARRAY),
        (&sources as _, Type::TEXT_ARRAY),
        (&targets as _, Type::TEXT_ARRAY),
        (&intents as _, Type::TEXT_ARRAY),
        (&digests as _, Type::BYTEA_ARRAY),
        (&bodies as _, Type::BYTEA_ARRAY),
    ];
    let mut added = HashSet::new();
    for row in tx.query(sql::RECORD_NEW, &parameters).await? {
        let number = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
        added.extend(number.checked_sub(1).and_then(|number| firsts.get(number)));
    }
    Ok(added)
}

/// Stores a body of an entry that is there. The entry is locked only to be changed: an application's transaction that
/// completes it keeps no duplicate waiting.
async fn record_known(tx: &Transaction<'_>, arrival: &Arrival) -> Result<Recorded, Fault> {
    let read = rows::find(tx, &arrival.key).await?;
    let Decided { recording, .. } = decide(tx, read, arrival).await?;
    if recording.write == BodyWrite::Nothing && !recording.changes_row() {
        return Ok(recording.recorded);
    }

    let locked = rows::lock_key(tx, &arrival.key).await?;
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
    Ok(recording.recorded)
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
    stored: Option<StoredRow>,
    arrival: &Arrival,
) -> Result<Decided, Fault> {
    // It was there a moment ago: retention or an operator has removed it.
    let mut stored = stored.ok_or(Fault::Vanished)?;
    let bodies = rows::known_bodies(tx, stored.id).await?;
    let now = tx.now().await?;
    let known: Vec<_> = bodies.iter().map(|body| body.known).collect();
    let recording = stored.row.record(KnownBody::from(arrival), &known, now);
    Ok(Decided { stored, bodies, recording, body: rows::new_body(arrival, now) })
}
