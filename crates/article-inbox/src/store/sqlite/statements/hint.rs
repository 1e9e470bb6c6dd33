use article_webhook::JobId;
use rusqlite::{Connection, Row as SqlRow, params};

use super::{rows, sql};
use crate::{
    call::Hint,
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
    },
    timestamp::{from_millis, to_millis},
};

/// Stores a hint, unless the job has one.
pub(crate) fn hint(tx: &Connection, hint: &Hint) -> Result<(), Fault> {
    let parameters = params![hint.job_id.as_str(), to_millis(hint.at), &*hint.code];
    tx.prepare_cached(sql::HINT)?.execute(parameters)?;
    Ok(())
}

/// The oldest hints. Damaged ones are left out, and removed at the next start.
pub(crate) fn hints(tx: &Tx<'_>, limit: u32) -> Result<Vec<Hint>, Fault> {
    let mut statement = tx.prepare_cached(sql::HINTS)?;
    let mut rows = statement.query([i64::from(limit)])?;
    let mut hints = Vec::new();
    while let Some(row) = rows.next()? {
        hints.extend(read(row));
    }
    Ok(hints)
}

/// All hints, and how many of them are damaged.
pub(super) struct AllHints {
    readable: Vec<Hint>,
    pub(super) unreadable: usize,
}

/// Reads the hints without an index.
pub(super) fn read_all(tx: &Connection) -> Result<AllHints, Fault> {
    let mut statement = tx.prepare_cached(sql::SCAN_HINTS)?;
    let mut rows = statement.query([])?;
    let mut all = AllHints { readable: Vec::new(), unreadable: 0 };
    while let Some(row) = rows.next()? {
        match read(row) {
            Some(hint) => all.readable.push(hint),
            None => all.unreadable += 1,
        }
    }
    Ok(all)
}

/// Writes all hints anew, which sorts them by their key again. Damaged ones are removed and told.
pub(crate) fn rewrite(tx: &Tx<'_>) -> Result<(), Fault> {
    let all = read_all(tx)?;
    // Without a condition the whole table is emptied, whatever its index says.
    tx.execute(sql::REMOVE_HINTS, [])?;
    all.readable.iter().try_for_each(|readable| hint(tx, readable))?;
    if all.unreadable > 0 {
        let finding = format!("{} hints could not be read, and were removed", all.unreadable);
        tx.found(Part::Hint, finding);
    }
    Ok(())
}

fn read(row: &SqlRow<'_>) -> Option<Hint> {
    let job_id: JobId = row.get_ref(0).ok()?.as_str().ok()?.parse().ok()?;
    let at = from_millis(row.get_ref(1).ok()?.as_i64().ok()?);
    Some(Hint { job_id, at, code: rows::lossy(row.get_ref(2).ok()?)?.into() })
}
