use std::time::SystemTime;

use rusqlite::{Connection, params};

use super::{operator::remove, rows, sql};
use crate::{
    State,
    call::{Prune, Pruned},
    store::sqlite::fault::Fault,
    timestamp::to_millis,
};

/// How many bytes of bodies one call removes: each page that is freed is written once more, as zeros.
pub(crate) const PRUNE_BYTES: usize = 8 << 20;

/// How many free pages one call returns to the file system.
const VACUUM_PAGES: u32 = 2048;

/// Removes a batch of old data, as [`Store::prune`](crate::store::Store::prune) says.
pub(crate) fn prune(tx: &Connection, prune: &Prune) -> Result<Pruned, Fault> {
    let limit = prune.limit as usize;
    let mut pruned = Pruned::default();

    let mut bodies = old_bodies(tx, prune)?;
    let mut bytes = 0;
    let fitting = bodies.iter().take_while(|(_, _, length)| {
        bytes += length;
        bytes <= PRUNE_BYTES as i64
    });
    let taken = fitting.count().max(1).min(limit);
    pruned.more |= bodies.len() > taken;
    bodies.truncate(taken);
    for (_, slot, _) in &bodies {
        match tx.prepare_cached(sql::EMPTY_BODY)?.execute([slot]).map_err(Fault::from) {
            // A value of another type: the row is damaged, and nothing needs the rest of it.
            Err(fault) if fault.is_constraint() => drop(tx.execute(sql::REMOVE_BODY, [slot])?),
            emptied => drop(emptied?),
        }
        pruned.bodies += 1;
    }
    bodies.dedup_by_key(|(id, ..)| *id);
    for (id, ..) in &bodies {
        rows::count_held(tx, *id)?;
    }

    let mut entries = old_entries(tx, State::Done, prune.entries_before, prune.limit)?;
    entries.extend(old_entries(tx, State::Unhandled, prune.entries_before, prune.limit)?);
    if let Some(dead_before) = prune.dead_before {
        entries.extend(old_entries(tx, State::Dead, dead_before, prune.limit)?);
    }
    entries.sort_unstable();
    pruned.more |= entries.len() > limit;
    for (_, id) in entries.into_iter().take(limit) {
        remove(tx, id)?;
        pruned.entries += 1;
    }

    let mut hints = old_hints(tx, prune)?;
    pruned.more |= hints.len() > limit;
    hints.truncate(limit);
    for job_id in &hints {
        tx.prepare_cached(sql::REMOVE_HINT)?.execute([job_id])?;
        pruned.hints += 1;
    }

    free_pages(tx)?;
    Ok(pruned)
}

/// Returns free pages to the file system, a bounded number per call. The statement returns a row for each page, and
/// stops when no further row is read.
fn free_pages(tx: &Connection) -> Result<(), Fault> {
    let mut statement = tx.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// One more than the limit shows whether there is more to remove.
fn one_more(limit: u32) -> i64 {
    i64::from(limit) + 1
}

fn old_bodies(tx: &Connection, prune: &Prune) -> Result<Vec<(i64, i64, i64)>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_BODIES)?;
    let parameters = [to_millis(prune.bodies_before), one_more(prune.limit)];
    let bodies =
        statement.query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(bodies.collect::<Result<_, _>>()?)
}

fn old_entries(
    tx: &Connection,
    state: State,
    before: SystemTime,
    limit: u32,
) -> Result<Vec<(i64, i64)>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_ENTRIES)?;
    let parameters = params![state.as_str(), to_millis(before), one_more(limit)];
    let mut entries = statement.query(parameters)?;
    let mut old = Vec::new();
    while let Some(entry) = entries.next()? {
        // What is no time is isolated at the next start.
        old.extend(entry.get(1).ok().zip(Some(entry.get(0)?)));
    }
    Ok(old)
}

fn old_hints(tx: &Connection, prune: &Prune) -> Result<Vec<String>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_HINTS)?;
    let parameters = [to_millis(prune.entries_before), one_more(prune.limit)];
    let hints = statement.query_map(parameters, |row| Ok(row.get(0).ok()))?;
    // Those that cannot be read are removed at the next start.
    Ok(hints.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}
