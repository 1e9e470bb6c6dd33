use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Params, params};

use super::{
    ledger,
    operator::remove,
    rows::{self, StoredRow},
    sql,
};
use crate::{
    State,
    call::{Prune, Pruned},
    rules::Row,
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
    },
    timestamp::{rounded, to_millis},
};

/// How many bytes of bodies one call removes: each page that is freed is written once more, as zeros.
pub(crate) const PRUNE_BYTES: usize = 8 << 20;

/// How many free pages one call returns to the file system.
const VACUUM_PAGES: u32 = 2048;

/// Removes a batch of old data, as [`Store::prune`](crate::store::Store::prune) says.
pub(crate) fn prune(tx: &Tx<'_>, prune: &Prune) -> Result<Pruned, Fault> {
    let limit = prune.limit as usize;
    let mut pruned = Pruned::default();

    let mut bodies = old_bodies(tx, prune)?;
    let mut bytes = 0;
    let fitting = bodies.iter().take_while(|body| {
        bytes += body.length;
        bytes <= PRUNE_BYTES as i64
    });
    let taken = fitting.count().max(1).min(limit);
    pruned.more |= bodies.len() > taken;
    bodies.truncate(taken);
    for OldBody { slot, .. } in &bodies {
        match tx.prepare_cached(sql::EMPTY_BODY)?.execute([slot]).map_err(Fault::from) {
            // A value of another type: the row is damaged, and nothing needs the rest of it.
            Err(fault) if fault.is_constraint() => drop(tx.execute(sql::REMOVE_BODY, [slot])?),
            emptied => drop(emptied?),
        }
        pruned.bodies += 1;
    }
    bodies.dedup_by_key(|body| body.id);
    for OldBody { id, .. } in &bodies {
        rows::count_held(tx, *id)?;
    }

    let mut entries = BTreeMap::new();
    for (state, before) in [
        (State::Done, Some(prune.entries_before)),
        (State::Unhandled, Some(prune.entries_before)),
        (State::Dead, prune.dead_before),
    ] {
        let Some(before) = before else { continue };
        let parameters = params![state.as_str(), to_millis(before), one_more(prune.limit)];
        for id in ids(tx, sql::OLD_ENTRIES, parameters)? {
            let old = old(tx, id, |row| prune.removes_entry(row))?;
            entries.extend(old.map(|stored| ((stored.row.at, id), stored)));
        }
    }
    pruned.more |= entries.len() > limit;
    for stored in entries.into_values().take(limit) {
        ledger::add_pruned(tx, &stored)?;
        remove(tx, stored.id)?;
        pruned.entries += 1;
    }

    free_pages(tx)?;
    Ok(pruned)
}

/// Returns free pages to the file system, a bounded number per call. The statement returns a row for each page, and
/// stops when no further row is read.
pub(super) fn free_pages(tx: &Connection) -> Result<(), Fault> {
    let mut statement = tx.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// One more than the limit shows whether there is more to remove.
fn one_more(limit: u32) -> i64 {
    i64::from(limit) + 1
}

/// An entry to which an index led, if it is old in the table. A damaged row is isolated, and kept.
fn old(
    tx: &Tx<'_>,
    id: i64,
    is_old: impl FnOnce(&Row) -> bool,
) -> Result<Option<StoredRow>, Fault> {
    match rows::read(tx, id)? {
        Some(Ok(stored)) if is_old(&stored.row) => return Ok(Some(stored)),
        Some(Err(damaged)) => drop(damaged.isolate(tx)?),
        _ if tx.may_build_again() => return Err(index_differs()),
        _ => {}
    }
    Ok(None)
}

fn ids(tx: &Tx<'_>, statement: &str, parameters: impl Params) -> Result<Vec<i64>, Fault> {
    let mut statement = tx.prepare_cached(statement)?;
    let ids = statement.query_map(parameters, |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

struct OldBody {
    /// The entry.
    id: i64,
    slot: i64,
    length: i64,
}

fn old_bodies(tx: &Tx<'_>, prune: &Prune) -> Result<Vec<OldBody>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_BODIES)?;
    let parameters = [to_millis(prune.bodies_before), one_more(prune.limit)];
    let found = statement.query_map(parameters, |row| {
        Ok(OldBody { id: row.get(0)?, slot: row.get(1)?, length: row.get(2)? })
    })?;
    let mut bodies = found.collect::<Result<Vec<_>, _>>()?;
    let mut entries = BTreeSet::new();
    for id in bodies.iter().map(|body| body.id).collect::<BTreeSet<_>>() {
        // The statement has compared the time of the body.
        let is_old = |row: &Row| prune.removes_bytes(row, rounded(prune.bodies_before));
        entries.extend(old(tx, id, is_old)?.map(|stored| stored.id));
    }
    bodies.retain(|body| entries.contains(&body.id));
    Ok(bodies)
}
