use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    ledger,
    rows::{self, DamagedEntry, LiveRange, StoredRow},
    settle::settle,
    sql,
};
use crate::{
    Body,
    call::{Claim, Claimed, Claims, Events, Lease, Outcome},
    rules::{ClaimDecision, Claiming},
    store::sqlite::{
        damage::{Part, Tx, Unreadable, index_differs},
        fault::Fault,
    },
    timestamp::{from_millis, to_millis},
};

/// Leases entries that are due, as [`Store::claim`](crate::store::Store::claim) says.
pub(crate) fn claim(tx: &Tx<'_>, claim: &Claim) -> Result<Claims, Fault> {
    let now = tx.now();
    let Due { rows: due, left } = due(tx, claim)?;

    let (mut claims, mut claiming) = (Claims::default(), Claiming::new(*claim, now));
    for before in due {
        // An entry that cannot be read must not block the others.
        let mut before = match before {
            Ok(before) => before,
            Err(damaged) => {
                damaged.isolate(tx)?;
                continue;
            }
        };
        let mut stored = before.clone();
        let Some(decision) = claiming.decide(stored.id, &mut stored.row) else { break };
        claims.expired += u32::from(before.row.has_expired_lease(now));
        let (lease, runs_alone) = match decision {
            ClaimDecision::Leased { lease, runs_alone } => (lease, runs_alone),
            ClaimDecision::Buried => {
                rows::save(tx, &stored)?;
                claims.buried.push(stored.key);
                continue;
            }
        };
        let bodies = match bodies(tx, stored.id)? {
            Ok(bodies) => bodies,
            Err(cause) => {
                before.row.mark_corrupt(cause, now);
                rows::save(tx, &before)?;
                ledger::sync_with_entry(tx, &before)?;
                continue;
            }
        };
        tell_flipped(tx, &stored, &bodies);
        rows::save(tx, &stored)?;
        let StoredRow { key, received_at, row, .. } = stored;
        claims.claimed.push(Claimed {
            lease,
            key,
            attempt: row.attempts,
            received_at,
            runs_alone,
            bodies,
        });
    }
    claims.alone_waits = claiming.alone_waits();
    let known = claims.claimed.iter().map(|claimed| claimed.lease.id).chain(left).collect();
    claims.next_due = next_due(tx, claim.events, &known)?.map(from_millis);
    let unwanted = LiveRange::ALL.into_iter().filter(|range| !range.is_among(claim.events));
    claims.failures_wait = oldest_due(tx, unwanted)?.is_some();
    Ok(claims)
}

/// Extends leases that hold, as [`Store::extend`](crate::store::Store::extend) says, and returns them.
pub(crate) fn extend(tx: &Tx<'_>, leases: &[Lease], by: Duration) -> Result<Vec<Lease>, Fault> {
    let mut held = Vec::with_capacity(leases.len());
    for lease in leases {
        let Some(mut stored) = rows::load(tx, lease.id)? else { continue };
        if stored.row.extend(*lease, by, tx.now()) {
            rows::save(tx, &stored)?;
            held.push(*lease);
        }
    }
    Ok(held)
}

/// Gives entries back, because the caller of a claim is gone.
pub(crate) fn release(tx: &Tx<'_>, claims: &Claims) -> Result<(), Fault> {
    let release = |claimed: &Claimed| settle(tx, claimed.lease, &Outcome::Released).map(drop);
    claims.claimed.iter().try_for_each(release)
}

/// Since when the oldest entry that is due has been due.
pub(crate) fn due_since(tx: &Tx<'_>) -> Result<Option<SystemTime>, Fault> {
    Ok(oldest_due(tx, LiveRange::ALL)?.map(from_millis))
}

/// The smallest time of all entries that are due in these ranges.
fn oldest_due(
    tx: &Tx<'_>,
    ranges: impl IntoIterator<Item = LiveRange>,
) -> Result<Option<i64>, Fault> {
    let (mut oldest, now) = (None, to_millis(tx.now()));
    for LiveRange { state, kind } in ranges {
        let mut statement = tx.prepare_cached(sql::DUE_SINCE)?;
        let parameters = params![state.as_str(), kind, now];
        // What is no time is found damaged when it is claimed.
        let at = statement.query_row(parameters, |row| Ok(row.get(0).ok())).optional()?;
        oldest = [oldest, at.flatten()].into_iter().flatten().min();
    }
    Ok(oldest)
}

/// What an index says is due.
#[derive(Default)]
struct Due {
    /// In their order.
    rows: Vec<Result<StoredRow, DamagedEntry>>,
    /// Entries that are not due, although the index says so. They are no reason to claim again.
    left: BTreeSet<i64>,
}

fn due(tx: &Tx<'_>, claim: &Claim) -> Result<Due, Fault> {
    let now = tx.now();
    let mut due = Due::default();
    let mut seen = BTreeSet::new();
    for range in LiveRange::ALL.into_iter().filter(|range| range.is_among(claim.events)) {
        let LiveRange { state, kind } = range;
        let mut statement = tx.prepare_cached(sql::DUE)?;
        let mut ids = statement.query(params![state.as_str(), kind, to_millis(now)])?;
        let mut found = 0;
        while found < claim.limit {
            let Some(id) = ids.next()?.map(|row| row.get(0)).transpose()? else { break };
            match read(tx, id)? {
                Some(row) if seen.insert(id) && is_due(&row, range, now) => due.rows.push(row),
                _ if tx.may_build_again() && !tx.is_unreadable(Unreadable::Entry(id)) => {
                    return Err(index_differs());
                }
                _ => {
                    due.left.insert(id);
                    continue;
                }
            }
            found += 1;
        }
    }
    due.rows.sort_unstable_by_key(|due| match due {
        Ok(due) => (due.row.at, due.id),
        Err(damaged) => damaged.order(),
    });
    Ok(due)
}

/// Reads a row. One on a page that cannot be read is left, so that the others go on.
fn read(tx: &Tx<'_>, id: i64) -> Result<Option<Result<StoredRow, DamagedEntry>>, Fault> {
    if !tx.is_unreadable(Unreadable::Entry(id)) {
        return rows::read(tx, id).map_err(|fault| tx.learn(Unreadable::Entry(id), fault));
    }
    tx.found(Part::Page, format!("entry {id} cannot be read, a page is damaged: restore a backup"));
    Ok(None)
}

/// Reads bodies, or says why not.
fn bodies(tx: &Tx<'_>, id: i64) -> Result<Result<Vec<Body>, String>, Fault> {
    if !tx.is_unreadable(Unreadable::Bodies(id)) {
        return rows::sound_bodies(tx, id).map_err(|fault| tx.learn(Unreadable::Bodies(id), fault));
    }
    let cause = "its bodies cannot be read, a page is damaged".to_owned();
    tx.found(Part::Page, format!("entry {id}: {cause}; restore a backup"));
    Ok(Err(cause))
}

/// Tells bodies with other bytes than were received. A worker checks bodies before it uses them, and settles an entry
/// without a sound one; it does not tell a damaged body beside a sound one.
fn tell_flipped(tx: &Tx<'_>, stored: &StoredRow, bodies: &[Body]) {
    if bodies.len() < 2 {
        return;
    }
    for (number, _) in bodies.iter().enumerate().filter(|(_, body)| !body.is_intact()) {
        let (id, key, number) = (stored.id, stored.key.to_string(), number + 1);
        let says =
            format!("body {number} is not what was received; deliver or collect the job again");
        tx.found(Part::Body, format!("entry {id}, {}: {says}", key.escape_debug()));
    }
}

/// Whether a row is due in this range. What a damaged one was is not known.
fn is_due(row: &Result<StoredRow, DamagedEntry>, range: LiveRange, now: SystemTime) -> bool {
    row.as_ref().map_or(true, |stored| range.contains(stored) && stored.row.is_due(now))
}

/// The smallest time of all waiting and leased entries of these events but those that are known.
fn next_due(tx: &Connection, events: Events, known: &BTreeSet<i64>) -> Result<Option<i64>, Fault> {
    let mut next = None;
    for range in LiveRange::ALL.into_iter().filter(|range| range.is_among(events)) {
        let LiveRange { state, kind } = range;
        // One row more than is known, so that at least one is of another entry.
        let limit = i64::try_from(known.len() + 1).unwrap_or(i64::MAX);
        let mut statement = tx.prepare_cached(sql::NEXT)?;
        let mut rows = statement.query(params![state.as_str(), kind, limit])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            // What is no time is found damaged when it is claimed.
            let Ok(at) = row.get(1) else { continue };
            if known.contains(&id) {
                continue;
            }
            next = Some(next.map_or(at, |next: i64| next.min(at)));
            break;
        }
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::StatementStatus;

    use super::*;
    use crate::store::sqlite::schema;

    /// How many instructions SQLite runs for what a claim without failures reads first.
    fn steps(failures: u32) -> i32 {
        let connection = Connection::open_in_memory().unwrap();
        schema::migrate(&connection, Path::new("/data/inbox.db")).unwrap();
        let add = "INSERT INTO article_inbox_entries (job_id, event, state, attempts, fence, at, received_at, \
            conflicts, held) VALUES (?1, ?2, 'waiting', 0, 0, 1, 1, 0, 1)";
        let mut add = connection.prepare(add).unwrap();
        for failure in 0..failures {
            add.execute(params![failure, "generation failed"]).unwrap();
        }
        add.execute(params!["last", "article.complete"]).unwrap();

        let mut steps = 0;
        for range in
            LiveRange::ALL.into_iter().filter(|range| range.is_among(Events::ExceptFailures))
        {
            let (state, kind) = (range.state.as_str(), range.kind);
            for (statement, last) in
                [(sql::DUE, i64::MAX), (sql::NEXT, 1), (sql::DUE_SINCE, i64::MAX)]
            {
                let mut statement = connection.prepare(statement).unwrap();
                statement.query(params![state, kind, last]).unwrap().next().unwrap();
                steps += statement.get_status(StatementStatus::VmStep);
            }
        }
        steps
    }

    #[test]
    fn a_claim_visits_no_failure_that_it_does_not_take() {
        assert_eq!(steps(1_000), steps(0));
    }
}
