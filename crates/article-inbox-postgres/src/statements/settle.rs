use std::time::SystemTime;

use article_inbox::{
    Completion, State,
    store::{Lease, Outcome, Settled, to_millis},
};
use tokio_postgres::types::Type;

use super::{ledger, rows};
use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

/// Stores the outcome of an attempt, as [`Store::settle`](article_inbox::store::Store::settle) says.
pub(crate) fn settle<'t>(
    tx: &'t Transaction<'t>,
    (lease, outcome): &'t (Lease, Outcome),
) -> Work<'t, Settled> {
    Box::pin(async move {
        let Some(mut stored) = rows::lock(tx, lease.id).await? else {
            return Ok(Settled::LostLease);
        };
        let bodies = match outcome {
            Outcome::Unhandled { .. } | Outcome::Corrupt { .. } => {
                count_bodies(tx, lease.id).await?
            }
            // The rule does not use the number of bodies for these.
            Outcome::Done
            | Outcome::Retry { .. }
            | Outcome::Dead { .. }
            | Outcome::Released
            | Outcome::Snoozed { .. } => 0,
        };
        let settled = stored.row.settle(*lease, outcome, bodies, tx.now().await?);
        if settled == Settled::Settled {
            rows::save(tx, &stored).await?;
            // The job of a leased entry had its article already, and loses it only so (`JobRow::follow_entry`).
            if matches!(stored.row.state, State::Unhandled | State::Corrupt) {
                ledger::follow(tx, &stored).await?;
            }
        }
        Ok(settled)
    })
}

async fn count_bodies(tx: &Transaction<'_>, id: i64) -> Result<usize, Fault> {
    let count = "SELECT count(*) FROM article_inbox_bodies WHERE entry = $1";
    let rows = tx.query(count, &[(&id, Type::INT8)]).await?;
    Ok(usize::try_from(first(&rows)?.try_get::<_, i64>(0)?).unwrap_or_default())
}

/// A statement that completes an entry in a transaction of the application. It decides by itself, and must agree with
/// [`Row::settle`](article_inbox::store::Row::settle) for `Outcome::Done`. It has nothing to tell the ledger: the job of a
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
