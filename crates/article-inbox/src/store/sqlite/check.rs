use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::{connection, fault::Fault, rows, schema, sql};
use crate::{Digest, Error};

/// Bodies looked at in one snapshot, so that the log can be begun anew in between.
const BATCH: i64 = 256;

/// Looks for damage in the schema, the pages, and the bodies, on a connection of its own: it may take long.
pub(super) fn check(path: &Path) -> Result<Vec<String>, Error> {
    let connection = connection::reading(path)?;
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
    let (id, number) = (slot.div_euclid(16), slot.rem_euclid(16) + 1);
    let key = connection.prepare_cached(sql::KEY)?.query_row([id], |row| {
        Ok(format!("{} ({})", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let key = key.optional()?.unwrap_or_else(|| "of no job".into());
    Ok(format!(
        "entry {id}, {key}: body {number} is not what was received, collect it again or restore a backup"
    ))
}
