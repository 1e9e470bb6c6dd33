use std::collections::BTreeSet;

use rusqlite::Params;

use super::{bucket, intents, jobs};
use crate::{
    ClockStep,
    rules::{AskLane, Bucket, LONGEST_WAIT},
    store::sqlite::{
        damage::Tx,
        fault::Fault,
        statements::{rows, sql::ledger as sql},
    },
    timestamp::{later, to_millis},
};

/// Frees the asks of the previous process, and shortens what a wrong clock made too long. Only for the process with
/// exclusive access, at start.
pub(in super::super) fn restart_ledger(tx: &Tx<'_>) -> Result<(), Fault> {
    let now = tx.now();
    let mut ids = ids(tx, sql::ASKING, [])?;
    for lane in AskLane::ALL.map(rows::lane_number) {
        ids.extend(self::ids(tx, sql::AHEAD, [lane, to_millis(later(now, LONGEST_WAIT))])?);
    }
    ids.extend(self::ids(tx, sql::EXPECTED_AHEAD, [to_millis(now)])?);
    for id in ids {
        // A damaged row does not prevent the start.
        let Some(mut job) = jobs::get(tx, id)? else { continue };
        if job.row.restart(now) {
            rows::save_job(tx, &job)?;
        }
    }
    for id in self::ids(tx, sql::ORDERING_AHEAD, [to_millis(now)])? {
        let Some(mut intent) = intents::get(tx, id)? else { continue };
        if intent.row.restart(now) {
            rows::save_intent(tx, &intent)?;
        }
    }
    match bucket::load(tx)? {
        Some(_) => bucket::change(tx, |bucket| bucket.restart(now)).map(|_| ()),
        None => Ok(()),
    }
}

/// Moves the times of the ledger by a step of the clock. Returns how many jobs were moved.
pub(in super::super) fn follow_ledger(tx: &Tx<'_>, step: ClockStep) -> Result<u64, Fault> {
    let mut open = BTreeSet::new();
    for lane in AskLane::ALL.map(rows::lane_number) {
        open.extend(ids(tx, sql::OPEN_JOBS, [lane])?);
    }
    let mut moved = 0;
    for id in open {
        let Some(mut job) = jobs::get(tx, id)? else { continue };
        if job.row.shift_times(step) {
            rows::save_job(tx, &job)?;
            moved += 1;
        }
    }
    for id in ids(tx, sql::ORDERING, [])? {
        let Some(mut intent) = intents::get(tx, id)? else { continue };
        if intent.row.shift_times(step) {
            rows::save_intent(tx, &intent)?;
        }
    }
    if bucket::load(tx)?.is_some() {
        bucket::change(tx, |bucket: &mut Bucket| bucket.shift_times(step))?;
    }
    Ok(moved)
}

/// All ids are read first: the indexes change while rows are moved.
fn ids(tx: &Tx<'_>, statement: &str, parameters: impl Params) -> Result<BTreeSet<i64>, Fault> {
    let mut statement = tx.prepare_cached(statement)?;
    let ids = statement.query_map(parameters, |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}
