use article_webhook::JobId;
use rusqlite::Connection;

use super::{
    ledger,
    rows::{self, SLOTS},
    sql,
};
use crate::{
    Body, Entry, EntryKey, Error, State,
    rules::Row,
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
    },
};

/// Requeues an entry, as [`Store::requeue`](crate::store::Store::requeue) says.
pub(crate) fn requeue(tx: &Tx<'_>, key: &EntryKey, from: Option<State>) -> Result<bool, Fault> {
    let Some(mut stored) = rows::find(tx, key)? else {
        return Ok(false);
    };
    let held: i64 = tx.prepare_cached(sql::HELD)?.query_row([stored.id], |row| row.get(0))?;
    let requeued = stored.row.requeue(from, usize::try_from(held).unwrap_or_default(), tx.now());
    if requeued {
        rows::save(tx, &stored)?;
        ledger::sync_with_entry(tx, &stored)?;
    }
    Ok(requeued)
}

/// Makes a waiting, unhandled or corrupt entry dead.
pub(crate) fn bury(tx: &Tx<'_>, key: &EntryKey, cause: &str) -> Result<bool, Fault> {
    let Some(mut stored) = rows::find(tx, key)? else {
        return Ok(false);
    };
    let buried = stored.row.bury(cause, tx.now());
    if buried {
        rows::save(tx, &stored)?;
        ledger::sync_with_entry(tx, &stored)?;
    }
    Ok(buried)
}

/// Removes everything about a job, and returns how many entries there were.
pub(crate) fn forget(tx: &Tx<'_>, job_id: &JobId) -> Result<u64, Fault> {
    let mut statement = tx.prepare_cached(sql::OF_JOB)?;
    let ids = statement.query_map([job_id.as_str()], |row| row.get(0))?;
    let ids = ids.collect::<Result<Vec<i64>, _>>()?;
    for id in &ids {
        if rows::load(tx, *id)?.is_none_or(|stored| stored.key.job_id != *job_id) {
            return Err(index_differs());
        }
        remove(tx, *id)?;
    }
    ledger::forget(tx, job_id)?;
    Ok(ids.len() as u64)
}

/// Removes an entry with its bodies.
pub(super) fn remove(tx: &Connection, id: i64) -> Result<(), Fault> {
    tx.prepare_cached(sql::REMOVE_BODIES)?.execute([id])?;
    tx.prepare_cached(sql::REMOVE_ENTRY)?.execute([id])?;
    Ok(())
}

/// Adds an entry that another store exported, as [`Store::import`](crate::store::Store::import) says.
pub(crate) fn import(tx: &Tx<'_>, entry: &Entry, bodies: &[Body]) -> Result<bool, Fault> {
    if bodies.len() as i64 > SLOTS {
        return Err(Error::invalid(format!(
            "{} has {} bodies: at most {SLOTS} are taken",
            entry.key,
            bodies.len()
        ))
        .into());
    }
    if rows::find(tx, &entry.key)?.is_some() || ledger::is_tombstone(tx, &entry.key)? {
        return Ok(false);
    }
    let held = bodies.iter().filter(|body| body.bytes.is_some()).count();
    let id = rows::add(tx, &entry.key, entry.received_at, held, Row::import(entry, tx.now()))?;
    for (slot, body) in (id * SLOTS..).zip(bodies) {
        rows::put_body(tx, slot, body)?;
    }
    if let Some(stored) = rows::load(tx, id)? {
        ledger::sync_with_entry(tx, &stored)?;
    }
    Ok(true)
}

/// Writes something, to check whether the database can commit.
pub(crate) fn probe(tx: &Connection) -> Result<(), Fault> {
    tx.prepare_cached(sql::PROBE)?.execute([])?;
    Ok(())
}
