use article_webhook_inbox::store::{Claim, Claimed, Claims, Events, Lease, from_millis};
use tokio_postgres::types::Type;

use super::{
    super::{rows, sql},
    ByKind, Found, HELD_MILLIS, Scan,
};
use crate::connection::{IDLE_MILLIS, Transaction, Work};

/// The longest lease of such a claim: a year. A rule limits when longer ones end.
const LONGEST_LEASE: i64 = 366 * 24 * 3600 * 1000;

/// The numbers of the columns after those of an entry.
const BODY: usize = 14;
const NOW: usize = 20;
const NEW_UP_TO: usize = 21;
const RETRY_UP_TO: usize = 22;
const NEXT_DUE: usize = 23;
const FAILURES_WAIT: usize = 24;
const READ: usize = 25;

/// Leases what most claims lease, by one statement that decides by itself: articles that wait, were not interrupted and have an
/// attempt left. `None`: it has leased nothing, because something else is due or the claim is unusual, and
/// [`claim`](super::claim) decides.
pub(crate) fn claim_fast<'t>(
    tx: &'t Transaction<'t>,
    (claim, scan): &'t (Claim, Scan),
) -> Work<'t, Option<(Claims, Found)>> {
    Box::pin(async move {
        let lease = i64::try_from(claim.lease.as_millis()).unwrap_or(i64::MAX);
        let Ok(limit) = i32::try_from(claim.limit) else { return Ok(None) };
        if lease > LONGEST_LEASE {
            return Ok(None);
        }
        let (attempts, takes_failures) = (i64::from(claim.attempts), claim.events == Events::All);
        let (floor, reads_all) = scan.bounds();
        let parameters = [
            (&tx.given_time() as _, Type::INT8),
            (&limit as _, Type::INT4),
            (&lease as _, Type::INT8),
            (&attempts as _, Type::INT8),
            (&takes_failures as _, Type::BOOL),
            (&claim.retries_first as _, Type::BOOL),
            (&floor.new as _, Type::INT8),
            (&floor.retry as _, Type::INT8),
            (&reads_all as _, Type::BOOL),
        ];
        let statement = sql::claim(tx.schema(), tx.lock_millis(), IDLE_MILLIS);
        let rows = tx.at_once(&statement, &parameters).await?;
        let Some((end, rows)) = rows.split_last() else { return Ok(None) };

        let now: i64 = end.try_get(NOW)?;
        let Some(read) = end.try_get(READ)? else {
            return Ok(Some((Claims::default(), Found::paused(now))));
        };
        // A list that was not searched has no time.
        let up_to = |column| end.try_get(column).map(|at: Option<i64>| at.unwrap_or(i64::MIN));
        let up_to = ByKind { new: up_to(NEW_UP_TO)?, retry: up_to(RETRY_UP_TO)? };
        let mut found = Found { now, read, up_to, ..Found::default() };
        let mut claims = Claims::default();
        let (mut taken, mut last) = (0, None);
        for row in rows {
            let stored = rows::stored(row)?;
            let lease = Lease { id: stored.id, fence: stored.row.fence };
            let body = match row.try_get::<_, Option<i64>>(BODY)? {
                Some(_) => Some(rows::body(row, BODY)?),
                None => None,
            };
            if last.replace(stored.id) == Some(stored.id) {
                let claimed = claims.claimed.last_mut().filter(|claimed| claimed.lease == lease);
                if let Some(claimed) = claimed {
                    claimed.bodies.extend(body);
                }
                continue;
            }
            taken += 1;
            // It is leased by now, and set aside next.
            if stored.damage.is_some() {
                found.damaged.push(stored.id);
                continue;
            }
            claims.claimed.push(Claimed {
                lease,
                key: stored.key,
                attempt: stored.row.attempts,
                received_at: stored.received_at,
                runs_alone: false,
                bodies: body.into_iter().collect(),
            });
        }
        // What is due besides is left, or else it is held by another transaction.
        let is_full = taken >= limit;
        let next_due: Option<i64> = end.try_get(NEXT_DUE)?;
        claims.next_due = next_due.map(|next_due| match next_due {
            held if !is_full && held <= now => from_millis(now + HELD_MILLIS),
            next_due => from_millis(next_due),
        });
        claims.failures_wait = !takes_failures && end.try_get(FAILURES_WAIT)?;
        Ok(Some((claims, found)))
    })
}
