use std::collections::HashSet;

use article_webhook_inbox::{
    State,
    store::{Arrival, Recorded},
};

use super::{
    ledger::{self, Jobs},
    record_body::{Known, record_known},
    rows::Batch,
    sql,
};
use crate::{
    connection::{Transaction, Work},
    fault::Fault,
};

/// Adds the entries of a batch that are new and of which the ledger knows nothing: most of them, by one statement. `None`:
/// the arrival is left to [`record`].
pub(crate) fn record_new<'t>(
    tx: &'t Transaction<'t>,
    arrivals: &'t [Arrival],
) -> Work<'t, Vec<Option<Recorded>>> {
    Box::pin(async move {
        let (rows, now) = (Batch::of(arrivals, &in_order(arrivals)), tx.given_time());
        let statement = sql::record_unknown(tx.schema(), tx.lock_millis());
        let added = rows.added(&tx.whole(&statement, &rows.parameters(&now)).await?)?;
        let is_added = |index| added.contains(&index).then_some(Recorded::Stored);
        Ok((0..arrivals.len()).map(is_added).collect())
    })
}

/// Stores a batch of bodies, as [`Store::record`](article_webhook_inbox::store::Store::record) says of each, tells the ledger of
/// copies of articles, and answers in the order of the batch. `None`: another transaction holds the entry, and the arrival is
/// left to [`record_one`].
pub(crate) fn record<'t>(
    tx: &'t Transaction<'t>,
    arrivals: &'t [Arrival],
) -> Work<'t, Vec<Option<Recorded>>> {
    Box::pin(async move {
        let order = in_order(arrivals);
        // Sent together: the jobs are locked first, as wherever a job and an entry change together.
        // The first error is the cause of those after it.
        let ((), jobs, added) = tokio::try_join!(
            biased;
            ledger::share(tx, arrivals.iter().map(|arrival| &arrival.key)),
            Jobs::lock(tx, arrivals),
            add_new(tx, arrivals, &order),
        )?;
        let mut jobs = jobs;
        let is_known = |index: &&usize| !added.contains(*index);
        let keys: Vec<_> = order.iter().filter(is_known).map(|i| &arrivals[*i].key).collect();
        let mut known = Known::all(tx, &keys).await?;
        let mut changed = HashSet::new();
        let now = tx.now().await?;
        let mut stored = Vec::with_capacity(order.len());
        let mut recorded = vec![None; arrivals.len()];
        let mut is_unsafe = false;
        for index in order {
            let arrival = &arrivals[index];
            if changed.remove(&arrival.key) {
                known.extend(Known::all(tx, &[&arrival.key]).await?);
            }
            let (body, entry) = if added.contains(&index) {
                (Recorded::Stored, Some(State::Waiting))
            } else if let Some(read) = known.get(&arrival.key) {
                let Some(told) = record_known(tx, arrival, read, now).await? else { continue };
                if told.is_changed {
                    changed.insert(&arrival.key);
                }
                (told.recorded, Some(told.entry))
            } else if jobs.is_tombstone(&arrival.key) {
                (Recorded::Duplicate, None)
            } else {
                // It was there a moment ago: retention or an operator has removed it.
                return Err(Fault::Vanished);
            };
            is_unsafe |= body == Recorded::Duplicate;
            stored.push((index, body, entry));
        }
        Jobs::lock_intents(tx, arrivals).await?;
        let now = tx.now().await?;
        for (index, body, entry) in stored {
            recorded[index] = Some(jobs.note(tx, &arrivals[index], body, entry, now).await?);
        }
        if is_unsafe {
            // What it is a duplicate of is visible here before it is safe on a standby. So this waits for it.
            tx.query(sql::WRITE_LOG, &[]).await?;
        }
        Ok(recorded)
    })
}

/// Stores a body by itself.
pub(crate) fn record_one<'t>(tx: &'t Transaction<'t>, arrival: &'t Arrival) -> Work<'t, Recorded> {
    Box::pin(async move {
        let recorded = record(tx, std::slice::from_ref(arrival)).await?;
        recorded.into_iter().next().flatten().ok_or(Fault::Vanished)
    })
}

/// The numbers of arrivals in the order of their keys: two nodes that store the same keys take them in the same order, and so
/// do not wait for each other.
fn in_order(arrivals: &[Arrival]) -> Vec<usize> {
    let key = |index: &usize| {
        let key = &arrivals[*index].key;
        (key.job_id.as_str(), key.event.as_str())
    };
    let mut order: Vec<usize> = (0..arrivals.len()).collect();
    order.sort_by(|one, other| key(one).cmp(&key(other)));
    order
}

/// Adds the entries that are not there. Returns which.
async fn add_new(
    tx: &Transaction<'_>,
    arrivals: &[Arrival],
    order: &[usize],
) -> Result<HashSet<usize>, Fault> {
    let (rows, now) = (Batch::of(arrivals, order), tx.given_time());
    let statement = sql::record_new(tx.schema());
    let added = tx.query(&statement, &rows.parameters(&now)).await?;
    for row in &added {
        if !row.try_get::<_, bool>(1)? {
            return Err(Fault::not_written());
        }
    }
    rows.added(&added)
}
