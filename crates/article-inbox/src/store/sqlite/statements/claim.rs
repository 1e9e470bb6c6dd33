use std::time::{Duration, SystemTime};

use rusqlite::{Connection, params};

use super::{rows, sql};
use crate::{
    EntryKey, State,
    call::{Claim, Claimed, Claims, Lease},
    rules::{ClaimDecision, Row},
    store::sqlite::fault::Fault,
    timestamp::{from_millis, to_millis},
};

/// An entry that is due.
struct Due {
    id: i64,
    key: EntryKey,
    received_at: SystemTime,
    row: Row,
}

/// Leases entries that are due, as [`Store::claim`](crate::store::Store::claim) says.
pub(crate) fn claim(tx: &Connection, now: SystemTime, claim: &Claim) -> Result<Claims, Fault> {
    let mut due = due(tx, State::Waiting, now, claim.limit)?;
    due.extend(self::due(tx, State::Leased, now, claim.limit)?);
    due.sort_unstable_by_key(|due| (due.row.at, due.id));
    due.truncate(claim.limit as usize);

    let mut claims = Claims::default();
    for Due { id, key, received_at, row: mut before } in due {
        claims.expired += u32::from(before.has_expired_lease(now));
        let mut row = before.clone();
        let lease = match row.claim(id, claim, now) {
            ClaimDecision::Leased(lease) => lease,
            ClaimDecision::Buried => {
                rows::save(tx, id, &row)?;
                claims.buried.push(key);
                continue;
            }
        };
        let bodies = match rows::bodies(tx, id) {
            // An entry that cannot be read must not block the others.
            Err(Fault::Ours(error)) if error.is_damage() => {
                before.find_damaged(error.to_string(), now);
                rows::save(tx, id, &before)?;
                continue;
            }
            bodies => bodies?,
        };
        rows::save(tx, id, &row)?;
        claims.claimed.push(Claimed { lease, key, attempt: row.attempts, received_at, bodies });
    }
    claims.next_due = next_due(tx, &claims.claimed)?.map(from_millis);
    Ok(claims)
}

/// Extends leases that hold, as [`Store::extend`](crate::store::Store::extend) says, and returns them.
pub(crate) fn extend(
    tx: &Connection,
    now: SystemTime,
    leases: &[Lease],
    by: Duration,
) -> Result<Vec<Lease>, Fault> {
    let mut held = Vec::with_capacity(leases.len());
    for lease in leases {
        let Some((id, mut row)) = rows::load(tx, sql::LOAD, [lease.id])? else { continue };
        if row.extend(*lease, by, now) {
            rows::save(tx, id, &row)?;
            held.push(*lease);
        }
    }
    Ok(held)
}

fn due(tx: &Connection, state: State, now: SystemTime, limit: u32) -> Result<Vec<Due>, Fault> {
    let mut statement = tx.prepare_cached(sql::DUE)?;
    let parameters = params![state.as_str(), to_millis(now), limit];
    let due = statement.query_and_then(parameters, |found| {
        let id = found.get(0)?;
        Ok(Due {
            id,
            key: rows::key(id, rows::text(found, 1)?, rows::text(found, 2)?)?,
            received_at: from_millis(found.get(3)?),
            row: rows::row(found, id, 4)?,
        })
    })?;
    due.collect()
}

/// The smallest time of all waiting and leased entries that this claim did not return.
fn next_due(tx: &Connection, claimed: &[Claimed]) -> Result<Option<i64>, Fault> {
    let mut next = None;
    for state in [State::Waiting, State::Leased] {
        // One row more than was claimed, so that at least one is of another entry.
        let limit = i64::try_from(claimed.len() + 1).unwrap_or(i64::MAX);
        let mut statement = tx.prepare_cached(sql::NEXT)?;
        let mut rows = statement.query(params![state.as_str(), limit])?;
        while let Some(row) = rows.next()? {
            let (id, at): (i64, i64) = (row.get(0)?, row.get(1)?);
            if claimed.iter().any(|claimed| claimed.lease.id == id) {
                continue;
            }
            next = Some(next.map_or(at, |next: i64| next.min(at)));
            break;
        }
    }
    Ok(next)
}
