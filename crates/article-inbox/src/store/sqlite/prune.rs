use article_webhook::JobId;
use rusqlite::{Connection, params};

use super::{
    connection::{PRUNE_BYTES, VACUUM_PAGES},
    fault::Fault,
    rows::millis,
    sql,
};
use crate::{
    State,
    store::{Prune, Pruned},
};

/// Removes what is older than it need be, as [`Store::prune`](crate::Store::prune) says: the oldest first.
pub(super) fn prune(tx: &Connection, prune: &Prune) -> Result<Pruned, Fault> {
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
        tx.prepare_cached(sql::EMPTY_BODY)?.execute([slot])?;
        pruned.bodies += 1;
    }
    bodies.dedup_by_key(|(id, ..)| *id);
    for (id, ..) in &bodies {
        tx.prepare_cached(sql::COUNT_HELD)?.execute([id])?;
    }

    let mut entries = old_entries(tx, prune, State::Done)?;
    entries.extend(old_entries(tx, prune, State::Unhandled)?);
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

    give_back(tx)?;
    Ok(pruned)
}

/// Removes everything about a job. How many entries there were.
pub(super) fn forget(tx: &Connection, job_id: &JobId) -> Result<u64, Fault> {
    let mut statement = tx.prepare_cached(sql::OF_JOB)?;
    let ids = statement.query_map([job_id.as_str()], |row| row.get(0))?;
    let ids = ids.collect::<Result<Vec<i64>, _>>()?;
    for id in &ids {
        remove(tx, *id)?;
    }
    tx.prepare_cached(sql::REMOVE_HINT)?.execute([job_id.as_str()])?;
    Ok(ids.len() as u64)
}

fn remove(tx: &Connection, id: i64) -> Result<(), Fault> {
    tx.prepare_cached(sql::REMOVE_BODIES)?.execute([id])?;
    tx.prepare_cached(sql::REMOVE_ENTRY)?.execute([id])?;
    Ok(())
}

/// Hands pages that are free back to the file system, a bounded number at a time. The statement gives a row for
/// each page, and does nothing more once it is not asked for the next.
fn give_back(tx: &Connection) -> Result<(), Fault> {
    let mut statement = tx.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// One more than the limit tells whether there is more to do.
fn one_more(limit: u32) -> i64 {
    i64::from(limit) + 1
}

fn old_bodies(tx: &Connection, prune: &Prune) -> Result<Vec<(i64, i64, i64)>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_BODIES)?;
    let parameters = [millis(prune.bodies_before), one_more(prune.limit)];
    let bodies =
        statement.query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(bodies.collect::<Result<_, _>>()?)
}

fn old_entries(tx: &Connection, prune: &Prune, state: State) -> Result<Vec<(i64, i64)>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_ENTRIES)?;
    let parameters = params![state.as_str(), millis(prune.entries_before), one_more(prune.limit)];
    let entries = statement.query_map(parameters, |row| Ok((row.get(1)?, row.get(0)?)))?;
    Ok(entries.collect::<Result<_, _>>()?)
}

fn old_hints(tx: &Connection, prune: &Prune) -> Result<Vec<String>, Fault> {
    let mut statement = tx.prepare_cached(sql::OLD_HINTS)?;
    let parameters = [millis(prune.entries_before), one_more(prune.limit)];
    let hints = statement.query_map(parameters, |row| row.get(0))?;
    Ok(hints.collect::<Result<_, _>>()?)
}
