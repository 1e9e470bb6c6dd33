use std::collections::HashSet;

use article_inbox::{
    State,
    store::{Arrival, Recorded},
};
use tokio_postgres::types::Type;

use super::{ledger::Jobs, record_body::record_known, rows, sql};
use crate::{
    connection::{Transaction, Work},
    fault::Fault,
};

/// Stores a batch of bodies, as [`Store::record`](article_inbox::store::Store::record) says of each, tells the ledger of
/// copies of articles, and answers in the order of the batch.
pub(crate) fn record<'t>(
    tx: &'t Transaction<'t>,
    arrivals: &'t [Arrival],
) -> Work<'t, Vec<Recorded>> {
    Box::pin(async move {
        // Two nodes that store the same keys take them in the same order, and so do not wait for each other.
        let mut order: Vec<usize> = (0..arrivals.len()).collect();
        order.sort_by_key(|index| key(&arrivals[*index]));
        let mut seen = HashSet::new();
        let firsts: Vec<_> =
            order.iter().copied().filter(|index| seen.insert(key(&arrivals[*index]))).collect();

        // Sent together: the jobs are locked first, as wherever a job and an entry change together.
        let (jobs, added) =
            tokio::try_join!(Jobs::lock(tx, arrivals), add_new(tx, arrivals, &firsts))?;
        let mut jobs = jobs;
        let mut recorded = vec![Recorded::Stored; arrivals.len()];
        let mut is_unsafe = false;
        for index in order {
            let arrival = &arrivals[index];
            let (body, entry) = if added.contains(&index) {
                (Recorded::Stored, Some(State::Waiting))
            } else if let Some(stored) = rows::find(tx, &arrival.key).await? {
                let (body, entry) = record_known(tx, arrival, stored).await?;
                (body, Some(entry))
            } else if jobs.is_tombstone(&arrival.key) {
                (Recorded::Duplicate, None)
            } else {
                // It was there a moment ago: retention or an operator has removed it.
                return Err(Fault::Vanished);
            };
            is_unsafe |= body == Recorded::Duplicate;
            recorded[index] = jobs.note(tx, arrival, body, entry).await?;
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
