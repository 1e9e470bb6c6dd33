use super::rows::{self, SLOTS};
use crate::{
    Body, Entry, Error,
    rules::Row,
    store::sqlite::{damage::Tx, fault::Fault},
};

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
    if rows::find(tx, &entry.key)?.is_some() {
        return Ok(false);
    }
    let held = bodies.iter().filter(|body| body.bytes.is_some()).count();
    let id = rows::add(tx, &entry.key, entry.received_at, held, Row::import(entry, tx.now()))?;
    for (slot, body) in (id * SLOTS..).zip(bodies) {
        rows::put_body(tx, slot, body)?;
    }
    Ok(true)
}
