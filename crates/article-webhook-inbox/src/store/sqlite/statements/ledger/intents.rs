use std::collections::BTreeSet;

use article_webhook::JobId;
use rusqlite::{Connection, Params};

use crate::store::sqlite::{
    damage::{Part, Tx, index_differs},
    fault::Fault,
    statements::{
        rows::{self, DamagedIntent, StoredIntent},
        sql::ledger as sql,
    },
};

/// Finds an intent by its name.
pub(super) fn find(tx: &Tx<'_>, name: &str) -> Result<Option<StoredIntent>, Fault> {
    let Some(id) = rows::intent_ids(tx, name)?.first().copied() else { return Ok(None) };
    match rows::read_intent(tx, id)? {
        Some(Ok(stored)) if *stored.name == *name => Ok(Some(stored)),
        Some(Err(damaged)) => Ok(mend(tx, damaged)?.filter(|stored| *stored.name == *name)),
        _ => Err(index_differs()),
    }
}

/// Loads an intent by its id. A damaged row is mended.
pub(super) fn get(tx: &Tx<'_>, id: i64) -> Result<Option<StoredIntent>, Fault> {
    match rows::read_intent(tx, id)? {
        Some(Ok(stored)) => Ok(Some(stored)),
        Some(Err(damaged)) => mend(tx, damaged),
        None => Ok(None),
    }
}

/// The intent became this job, unless its job is known. `false` if there is no such intent.
pub(super) fn resolve(tx: &Tx<'_>, intent: Option<&str>, job_id: &JobId) -> Result<bool, Fault> {
    let Some(name) = intent else { return Ok(false) };
    let Some(mut stored) = find(tx, name)? else { return Ok(false) };
    if stored.row.resolve(job_id, tx.now()) {
        rows::save_intent(tx, &stored)?;
    }
    Ok(true)
}

fn mend(tx: &Tx<'_>, damaged: DamagedIntent) -> Result<Option<StoredIntent>, Fault> {
    let DamagedIntent { id, readable, cause } = damaged;
    match &readable {
        Some(stored) => {
            rows::write_intent_anew(tx, stored)?;
            tell(tx, stored, &cause);
        }
        None => {
            remove(tx, id)?;
            let what = "it was removed; look at the service which of its orders has no intent";
            tx.found(Part::Ledger, format!("intent {id} of the ledger: {cause}; {what}"));
        }
    }
    Ok(readable)
}

/// Tells a damaged row.
pub(super) fn tell(tx: &Tx<'_>, stored: &StoredIntent, cause: &str) {
    let (id, name) = (stored.id, stored.name.escape_debug());
    let says = format!("{cause}; it is taken for {}", stored.row.state_at(tx.now()));
    tx.found(Part::Ledger, format!("intent {id} of the ledger, {name}: {says}"));
}

pub(super) fn remove(tx: &Connection, id: i64) -> Result<(), Fault> {
    tx.prepare_cached(sql::REMOVE_INTENT)?.execute([id])?;
    Ok(())
}

/// Erases the link of each intent to a job, which has this intent. No answer to an order brings the job back.
pub(super) fn forget(tx: &Tx<'_>, job_id: &JobId, intent: Option<&str>) -> Result<(), Fault> {
    let mut ids = ids(tx, sql::INTENTS_OF_JOB, [job_id.as_str()])?;
    ids.extend(match intent {
        Some(name) => rows::intent_ids(tx, name)?,
        None => self::ids(tx, sql::INTENTS_WITHOUT_JOB, [])?,
    });
    for id in ids.into_iter().collect::<BTreeSet<_>>() {
        let Some(mut stored) = get(tx, id)? else { continue };
        if !stored.row.may_have_ordered(&stored.name, job_id, intent) {
            return Err(index_differs());
        }
        stored.row.forget(job_id);
        rows::save_intent(tx, &stored)?;
    }
    Ok(())
}

/// All ids are read first: the indexes change while rows are written.
fn ids(tx: &Tx<'_>, statement: &str, parameters: impl Params) -> Result<Vec<i64>, Fault> {
    let mut statement = tx.prepare_cached(statement)?;
    let ids = statement.query_map(parameters, |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}
