use std::{
    collections::{HashMap, HashSet},
    time::SystemTime,
};

use article_webhook_inbox::{
    Completion, State,
    store::{Lease, Outcome, Settled, to_millis},
};
use tokio_postgres::types::Type;

use super::{ledger, rows, sql};
use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

/// Stores the outcome of an attempt, as [`Store::settle`](article_webhook_inbox::store::Store::settle) says.
pub(crate) fn settle<'t>(
    tx: &'t Transaction<'t>,
    (lease, outcome): &'t (Lease, Outcome),
) -> Work<'t, Settled> {
    Box::pin(async move {
        // The job of a leased entry had its article already, and loses it only so (`JobRow::sync_with_entry`).
        if matches!(outcome, Outcome::Unhandled { .. } | Outcome::Corrupt { .. }) {
            ledger::lock_of_entry(tx, lease.id).await?;
        }
        let Some(mut stored) = rows::lock(tx, lease.id).await? else {
            return Ok(Settled::LostLease);
        };
        // The rule does not use the number of bodies where only the row changes.
        let bodies = match changes_only_its_row(outcome) {
            true => 0,
            false => count_bodies(tx, lease.id).await?,
        };
        let settled = stored.row.settle(*lease, outcome, bodies, tx.now().await?);
        if settled == Settled::Settled {
            rows::save(tx, &stored).await?;
            if matches!(stored.row.state, State::Unhandled | State::Corrupt) {
                ledger::sync_with_entry(tx, &stored).await?;
            }
        }
        Ok(settled)
    })
}

/// Completes the entries of attempts that are done: most of them, by one statement. It decides as [`completion`] does. `None`:
/// the outcome is left to [`settle_all`].
pub(crate) fn complete<'t>(
    tx: &'t Transaction<'t>,
    outcomes: &'t [(Lease, Outcome)],
) -> Work<'t, Vec<Option<Settled>>> {
    Box::pin(async move {
        let mut settled = vec![None; outcomes.len()];
        let is_done = |place: &usize| outcomes[*place].1 == Outcome::Done;
        let done: Vec<usize> = (0..outcomes.len()).filter(is_done).collect();
        if done.is_empty() {
            return Ok(settled);
        }
        let of = |number: fn(&Lease) -> i64| -> Vec<i64> {
            done.iter().map(|place| number(&outcomes[*place].0)).collect()
        };
        let parameters = [
            (&tx.given_time() as _, Type::INT8),
            (&of(|lease| lease.id) as _, Type::INT8_ARRAY),
            (&of(|lease| lease.fence) as _, Type::INT8_ARRAY),
        ];
        let statement = sql::complete(tx.schema(), tx.lock_millis());
        for row in tx.whole(&statement, &parameters).await? {
            let number: i64 = row.try_get(0)?;
            let answer = if number > 0 { Settled::Settled } else { Settled::AlreadyDone };
            // Places are counted from one.
            if let Some(place) =
                usize::try_from(number.unsigned_abs()).ok().and_then(|n| done.get(n - 1))
            {
                settled[*place] = Some(answer);
            }
        }
        Ok(settled)
    })
}

/// Stores outcomes of attempts together, in the order in which they came. `None`: the outcome needs a transaction of its own,
/// because another one has locked the entry, or because of what else the outcome changes.
pub(crate) fn settle_all<'t>(
    tx: &'t Transaction<'t>,
    outcomes: &'t [(Lease, Outcome)],
) -> Work<'t, Vec<Option<Settled>>> {
    Box::pin(async move {
        let ids: Vec<_> = outcomes.iter().map(|(lease, _)| lease.id).collect();
        let ids = [(&ids as _, Type::INT8_ARRAY)];
        // An entry that a transaction of the application holds keeps the others not waiting.
        let (locked, now) =
            tokio::try_join!(biased; tx.begin_with(sql::LOCK_FREE, &ids), tx.now())?;
        let mut entries = HashMap::new();
        for found in &locked {
            let stored = rows::stored(found)?;
            entries.insert(stored.id, stored);
        }
        let (mut settled, mut changed) = (Vec::with_capacity(outcomes.len()), HashSet::new());
        for (lease, outcome) in outcomes {
            let entry = entries.get_mut(&lease.id).filter(|_| changes_only_its_row(outcome));
            let answer = entry.map(|stored| stored.row.settle(*lease, outcome, 0, now));
            if answer == Some(Settled::Settled) {
                changed.insert(lease.id);
            }
            settled.push(answer);
        }
        entries.retain(|id, _| changed.contains(id));
        let entries: Vec<_> = entries.into_values().collect();
        rows::save_all(tx, &entries).await?;
        Ok(settled)
    })
}

/// Whether an outcome is decided by the row of its entry, and changes nothing else.
fn changes_only_its_row(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done
        | Outcome::Retry { .. }
        | Outcome::Dead { .. }
        | Outcome::Released
        | Outcome::Snoozed { .. } => true,
        Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => false,
    }
}

async fn count_bodies(tx: &Transaction<'_>, id: i64) -> Result<usize, Fault> {
    let count = "SELECT count(*) FROM article_inbox_bodies WHERE entry = $1";
    let rows = tx.query(count, &[(&id, Type::INT8)]).await?;
    Ok(usize::try_from(first(&rows)?.try_get::<_, i64>(0)?).unwrap_or_default())
}

/// A statement that completes an entry in a transaction of the application. It decides by itself, and must agree with
/// [`Row::settle`](article_webhook_inbox::store::Row::settle) for `Outcome::Done`. It has nothing to tell the ledger: the job of a
/// leased entry had its article already. A test's clock is not the database's, so then
/// the statement has the time of this call.
pub(crate) fn completion(schema: &str, lease: Lease, given: Option<SystemTime>) -> Completion {
    let mut parameters = vec![lease.id, lease.fence];
    let now = match given {
        None => "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
        Some(now) => {
            parameters.push(to_millis(now));
            "$3"
        }
    };
    let sql = format!(
        "UPDATE {schema}.article_inbox_entries SET state = 'done', at = {now}, since = {now}, interrupted = 0, \
         cause = NULL WHERE id = $1 AND fence = $2 AND state = 'leased' AND lease_end > {now}"
    );
    Completion::new(sql, parameters)
}
