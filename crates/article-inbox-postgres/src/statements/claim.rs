use std::time::Duration;

use article_inbox::store::{
    Claim, ClaimDecision, Claimed, Claiming, Claims, Events, Lease, Outcome, from_millis, to_millis,
};
use tokio_postgres::types::Type;

use super::{
    rows::{self, Columns, StoredRow},
    settle::settle,
    sql,
};
use crate::{
    connection::{Transaction, Work, first},
    fault::Fault,
};

/// The number of the column after those of an entry.
const NOW: usize = 14;

/// Leases entries that are due, as [`Store::claim`](article_inbox::store::Store::claim) says. They are locked from the
/// statement that finds them until the commit, so that no other claim decides about them.
pub(crate) fn claim<'t>(tx: &'t Transaction<'t>, claim: &'t Claim) -> Work<'t, Claims> {
    Box::pin(async move {
        let takes_failures = claim.events == Events::All;
        let limit = i64::from(claim.limit);
        let parameters = [
            (&tx.given_time() as _, Type::INT8),
            (&limit as _, Type::INT8),
            (&takes_failures as _, Type::BOOL),
        ];
        let found = tx.query(sql::DUE, &parameters).await?;
        let now = from_millis(first(&found)?.try_get(NOW)?);
        let is_entry = |row: &&tokio_postgres::Row| matches!(row.try_get(0), Ok(Some(0i64..)));
        let mut due: Vec<_> =
            found.iter().filter(is_entry).map(rows::stored).collect::<Result<_, _>>()?;
        due.sort_unstable_by_key(|stored| (stored.row.at, stored.id));

        let (mut claims, mut claiming) = (Claims::default(), Claiming::new(*claim, now));
        let mut decided = Vec::new();
        for before in due {
            let mut stored = before.clone();
            let Some(decision) = claiming.decide(stored.id, &mut stored.row) else { break };
            claims.expired += u32::from(before.row.has_expired_lease(now));
            match decision {
                ClaimDecision::Buried => claims.buried.push(stored.key.clone()),
                ClaimDecision::Leased { lease, runs_alone } => claims.claimed.push(Claimed {
                    lease,
                    key: stored.key.clone(),
                    attempt: stored.row.attempts,
                    received_at: stored.received_at,
                    runs_alone,
                    bodies: Vec::new(),
                }),
            }
            decided.push(stored);
        }
        claims.alone_waits = claiming.alone_waits();

        let ids: Vec<_> = claims.claimed.iter().map(|claimed| claimed.lease.id).collect();
        if !decided.is_empty() {
            save_all(tx, &decided).await?;
        }
        if !ids.is_empty() {
            let mut bodies = rows::bodies(tx, &ids).await?;
            for claimed in &mut claims.claimed {
                claimed.bodies = bodies.remove(&claimed.lease.id).unwrap_or_default();
            }
        }
        let now = to_millis(now);
        let parameters = [
            (&ids as _, Type::INT8_ARRAY),
            (&takes_failures as _, Type::BOOL),
            (&now as _, Type::INT8),
        ];
        let next = tx.query(sql::NEXT, &parameters).await?;
        let next = first(&next)?;
        claims.next_due = next.try_get::<_, Option<i64>>(0)?.map(from_millis);
        claims.failures_wait = !takes_failures && next.try_get(1)?;
        Ok(claims)
    })
}

/// Writes rows that a claim has decided about.
async fn save_all(tx: &Transaction<'_>, stored: &[StoredRow]) -> Result<(), Fault> {
    let ids: Vec<_> = stored.iter().map(|stored| stored.id).collect();
    let columns: Vec<_> = stored.iter().map(|stored| Columns::of(&stored.row)).collect();
    let number = |of: fn(&Columns) -> i64| -> Vec<i64> { columns.iter().map(of).collect() };
    let states: Vec<_> = columns.iter().map(|columns| columns.state).collect();
    let causes: Vec<_> = columns.iter().map(|columns| columns.cause.as_deref()).collect();
    let failures: Vec<_> = columns.iter().map(|columns| columns.failures.as_deref()).collect();
    let numbers: [fn(&Columns) -> i64; 6] = [
        |columns| columns.attempts,
        |columns| columns.fence,
        |columns| columns.at,
        |columns| columns.lease_end,
        |columns| columns.since,
        |columns| columns.interrupted,
    ];
    let numbers = numbers.map(number);
    let mut parameters = vec![(&ids as _, Type::INT8_ARRAY), (&states as _, Type::TEXT_ARRAY)];
    parameters.extend(numbers.iter().map(|numbers| (numbers as _, Type::INT8_ARRAY)));
    parameters.extend([(&causes as _, Type::TEXT_ARRAY), (&failures as _, Type::TEXT_ARRAY)]);
    tx.execute(sql::SAVE_ALL, &parameters).await?;
    Ok(())
}

/// Extends leases that hold, as [`Store::extend`](article_inbox::store::Store::extend) says, and returns them. An entry
/// that an application's transaction holds is not extended, and its lease counts as held while it lasts.
pub(crate) fn extend<'t>(
    tx: &'t Transaction<'t>,
    (leases, by): &'t (Vec<Lease>, Duration),
) -> Work<'t, Vec<Lease>> {
    Box::pin(async move {
        let ids: Vec<_> = leases.iter().map(|lease| lease.id).collect();
        let ids = [(&ids as _, Type::INT8_ARRAY)];
        let locked = tx.query(sql::LOCK_LEASES, &ids).await?;
        let locked = locked.iter().map(rows::stored).collect::<Result<Vec<_>, _>>()?;
        let now = tx.now().await?;
        let (mut held, mut ends) = (Vec::new(), (Vec::new(), Vec::new()));
        for mut stored in locked {
            let of_entry = leases.iter().filter(|lease| lease.id == stored.id);
            for lease in of_entry {
                if stored.row.extend(*lease, *by, now) {
                    held.push(*lease);
                    ends.0.push(stored.id);
                    ends.1.push(to_millis(stored.row.at));
                }
            }
        }
        if held.len() < leases.len() {
            for row in tx.query(sql::LEASES, &ids).await? {
                let mut stored = rows::stored(&row)?;
                let others = leases.iter().filter(|lease| lease.id == stored.id);
                let others: Vec<_> = others.filter(|lease| !held.contains(lease)).collect();
                held.extend(
                    others.into_iter().filter(|lease| stored.row.extend(**lease, *by, now)),
                );
            }
        }
        if !ends.0.is_empty() {
            let parameters = [(&ends.0 as _, Type::INT8_ARRAY), (&ends.1 as _, Type::INT8_ARRAY)];
            tx.execute(sql::EXTEND, &parameters).await?;
        }
        Ok(held)
    })
}

/// Gives entries back, because the caller of a claim is gone.
pub(crate) fn release<'t>(tx: &'t Transaction<'t>, leases: &'t [Lease]) -> Work<'t, ()> {
    Box::pin(async move {
        for lease in leases {
            let release = (*lease, Outcome::Released);
            settle(tx, &release).await?;
        }
        Ok(())
    })
}
