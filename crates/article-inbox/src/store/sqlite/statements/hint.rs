use rusqlite::{Connection, params};

use super::{rows, sql};
use crate::{
    Error,
    call::Hint,
    store::sqlite::fault::Fault,
    timestamp::{from_millis, to_millis},
};

/// Stores a hint, unless the job has one.
pub(crate) fn hint(tx: &Connection, hint: &Hint) -> Result<(), Fault> {
    let parameters = params![hint.job_id.as_str(), to_millis(hint.at), &*hint.code];
    tx.prepare_cached(sql::HINT)?.execute(parameters)?;
    Ok(())
}

/// The oldest hints.
pub(crate) fn hints(tx: &Connection, limit: u32) -> Result<Vec<Hint>, Fault> {
    let mut statement = tx.prepare_cached(sql::HINTS)?;
    let hints = statement.query_and_then([i64::from(limit)], |row| {
        let job_id = rows::text_in(row, 0)?.parse();
        let job_id = job_id.map_err(|_| Error::damaged("a hint's job_id is none: run a check"))?;
        Ok(Hint { job_id, at: from_millis(row.get(1)?), code: rows::text_in(row, 2)?.into() })
    })?;
    hints.collect()
}
