mod counters;
mod isolate;
mod scan;

use super::{
    rows::{self, SLOTS},
    sql,
};
use crate::{
    Error, Filter, State,
    store::sqlite::{
        damage::{Tx, advice, integrity},
        fault::Fault,
        schema,
    },
};

pub(crate) use self::{
    isolate::{isolate, separate_twins},
    scan::{Suspects, scan},
};

/// Rows read in one snapshot. Between two snapshots the log can be restarted.
const BATCH: i64 = 256;

/// The most corrupt entries that are named.
const NAMED: u32 = 100;

/// Looks for damage in the schema, the pages, the indexes, the rows and the bodies. It may take long, and needs a
/// connection of its own.
pub(crate) fn check(tx: &Tx<'_>) -> Result<Vec<String>, Error> {
    let mut findings = schema::differences(tx)?;
    let found = integrity(tx)?;
    if found.needs_rebuilt_copy() {
        findings.push(advice(tx, &found)?.to_owned());
    } else {
        findings.extend(found.indexes.iter().map(|index| {
            format!("the index {index} differs from its table: start the receiver again, which builds it anew")
        }));
    }
    findings.extend(scan(tx)?.findings());
    findings.extend(corrupt(tx)?);
    findings.extend(bodies(tx)?);
    Ok(findings)
}

/// The entries that are corrupt.
fn corrupt(tx: &Tx<'_>) -> Result<Vec<String>, Fault> {
    let filter = Filter { state: Some(State::Corrupt), limit: NAMED, ..Filter::default() };
    let page = super::list(tx, &filter)?;
    let findings = page.entries.iter().map(|entry| {
        let (key, cause) = (entry.key.to_string(), entry.cause.as_deref().unwrap_or("damaged"));
        format!(
            "entry {}, {}, is corrupt, {cause}: deliver or collect the job again",
            entry.id,
            key.escape_debug()
        )
    });
    Ok(findings.collect())
}

/// The bodies that are not what was received.
fn bodies(tx: &Tx<'_>) -> Result<Vec<String>, Fault> {
    let mut findings = Vec::new();
    let mut last = i64::MIN;
    loop {
        let mut statement = tx.prepare_cached(sql::BODIES_AFTER)?;
        let mut rows = statement.query([last, BATCH])?;
        let mut seen = 0;
        while let Some(row) = rows.next()? {
            let stored = rows::stored_body(row)?;
            (seen, last) = (seen + 1, stored.slot);
            if stored.damage.is_none() && !stored.body.is_intact() {
                let (id, number) = (last.div_euclid(SLOTS), last.rem_euclid(SLOTS) + 1);
                let key = rows::key_text(tx, id)?;
                findings.push(format!(
                    "entry {id}, {key}: body {number} is not what was received, collect it again or restore a backup"
                ));
            }
        }
        if seen < BATCH {
            return Ok(findings);
        }
    }
}
