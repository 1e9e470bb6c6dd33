use std::time::Duration;

use rusqlite::{Connection, params};

use super::{
    fault::Fault,
    rows::{self, later},
    sql,
};
use crate::{
    Key, State,
    store::{Claim, Claimed, Claims, Lease},
};

struct Due {
    at: i64,
    id: i64,
    key: Key,
    attempts: i64,
    fence: i64,
    received_at: i64,
}

/// Leases what is due, as [`Store::claim`](crate::Store::claim) says.
pub(super) fn claim(tx: &Connection, now: i64, claim: &Claim) -> Result<Claims, Fault> {
    let mut due = due(tx, State::Waiting, now, claim.limit)?;
    let ended = self::due(tx, State::Leased, now, claim.limit)?;
    let ended_ids: Vec<i64> = ended.iter().map(|due| due.id).collect();
    due.extend(ended);
    due.sort_unstable_by_key(|due| (due.at, due.id));
    due.truncate(claim.limit as usize);

    let mut claims = Claims::default();
    let until = later(now, claim.lease);
    for Due { id, key, attempts, fence, received_at, .. } in due {
        claims.expired += u32::from(ended_ids.contains(&id));
        if attempts >= i64::from(claim.attempts) {
            tx.prepare_cached(sql::GIVE_UP)?.execute([id, now])?;
            claims.buried.push(key);
            continue;
        }
        let bodies = match rows::bodies(tx, id) {
            // One entry that cannot be read does not hold up all others.
            Err(Fault::Ours(error)) if error.is_damage() => {
                let (state, cause) = (State::Corrupt.as_str(), error.to_string());
                tx.prepare_cached(sql::TURN)?.execute(params![id, state, now, cause, 0])?;
                continue;
            }
            bodies => bodies?,
        };
        // Counted before the handler runs, so that an article that kills the process runs out of attempts.
        tx.prepare_cached(sql::LEASE)?.execute([id, until])?;
        claims.claimed.push(Claimed {
            lease: Lease { id, fence: fence + 1 },
            key,
            attempt: rows::count(attempts + 1),
            received_at: rows::time(received_at),
            bodies,
        });
    }
    claims.next_due = next_due(tx, &claims.claimed)?.map(rows::time);
    Ok(claims)
}

/// Lets leases that hold last from now on, and returns them.
pub(super) fn extend(
    tx: &Connection,
    now: i64,
    leases: &[Lease],
    by: Duration,
) -> Result<Vec<Lease>, Fault> {
    let mut statement = tx.prepare_cached(sql::EXTEND)?;
    let mut held = Vec::with_capacity(leases.len());
    for lease in leases {
        if statement.execute([lease.id, lease.fence, now, later(now, by)])? > 0 {
            held.push(*lease);
        }
    }
    Ok(held)
}

fn due(tx: &Connection, state: State, now: i64, limit: u32) -> Result<Vec<Due>, Fault> {
    let mut statement = tx.prepare_cached(sql::DUE)?;
    let due = statement.query_and_then(params![state.as_str(), now, i64::from(limit)], |row| {
        let id = row.get(0)?;
        Ok(Due {
            id,
            key: rows::key(id, rows::text(row, 1)?, rows::text(row, 2)?)?,
            attempts: row.get(3)?,
            fence: row.get(4)?,
            received_at: row.get(5)?,
            at: row.get(6)?,
        })
    })?;
    due.collect()
}

/// The smallest time among those waiting or leased, but for those claimed just now.
fn next_due(tx: &Connection, claimed: &[Claimed]) -> Result<Option<i64>, Fault> {
    let mut next = None;
    for state in [State::Waiting, State::Leased] {
        // One more than were claimed: at least one of them is another.
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
