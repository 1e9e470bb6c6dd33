use std::path::Path;

use rusqlite::Connection;

use super::{
    rows::{self, SLOTS},
    sql,
};
use crate::{
    Digest, Error,
    store::sqlite::{connection, fault::Fault, schema},
};

/// Bodies read in one snapshot. Between two snapshots the log can be restarted.
const BATCH: i64 = 256;

/// Looks for damage in the schema, the pages and the bodies. It may take long, and uses a connection of its own.
pub(crate) fn check(path: &Path) -> Result<Vec<String>, Error> {
    let connection = connection::open_reader(path)?;
    let mut findings = schema::differences(&connection)?;
    findings.extend(pages(&connection)?);
    findings.extend(bodies(&connection)?);
    Ok(findings)
}

fn pages(connection: &Connection) -> Result<Option<String>, Fault> {
    let answer =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?;
    Ok((answer != "ok").then(|| "pages of the database are damaged: restore a backup".into()))
}

fn bodies(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut findings = Vec::new();
    let mut last = i64::MIN;
    loop {
        let mut statement = connection.prepare_cached(sql::BODIES_AFTER)?;
        let mut rows = statement.query([last, BATCH])?;
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            seen += 1;
            last = row.get(0)?;
            let digest = rows::digest(row.get_ref(1)?);
            let is_intact =
                rows::bytes(row.get_ref(2)?).is_none_or(|bytes| digest == Some(Digest::of(bytes)));
            if !is_intact {
                findings.push(damaged(connection, last)?);
            }
        }
        if seen < BATCH {
            return Ok(findings);
        }
    }
}

fn damaged(connection: &Connection, slot: i64) -> Result<String, Fault> {
    let (id, number) = (slot.div_euclid(SLOTS), slot.rem_euclid(SLOTS) + 1);
    let key = rows::key_text(connection, id)?.unwrap_or_else(|| "of no job".into());
    Ok(format!(
        "entry {id}, {key}: body {number} is not what was received, collect it again or restore a backup"
    ))
}
