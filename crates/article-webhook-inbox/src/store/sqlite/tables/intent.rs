use std::{collections::BTreeMap, time::SystemTime};

use rusqlite::{Connection, Row as SqlRow, ToSql, params};

use super::value::{new_id, remove, text};
use crate::{
    IntentState, codec,
    rules::{Change, IntentRow, Tracked},
    script::{IntentRows, Intents},
    store::sqlite::{damage::Findings, fault::Fault},
    timestamp::{from_millis, to_millis},
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, state, created_at, at, fence, job_id, document, checksum FROM article_inbox_intents ",
            $rest
        )
    };
}

/// The intents that are selected.
pub(in crate::store::sqlite) fn load(
    connection: &Connection,
    which: &Intents,
    now: SystemTime,
    findings: &Findings,
) -> Result<Vec<IntentRows>, Fault> {
    let all = |statement: &str, parameters: &[&dyn ToSql]| {
        let mut statement = connection.prepare_cached(statement)?;
        let mut rows = statement.query(parameters)?;
        let mut intents = Vec::new();
        while let Some(row) = rows.next()? {
            intents.push(intent(row, now, findings)?);
        }
        Ok(intents)
    };
    match which {
        Intents::Named(names) => {
            let named = |name: &str| {
                let found = all(select!("WHERE name = ?1"), &[&name])?.pop();
                let none = || IntentRows { name: name.into(), row: Tracked::none() };
                Ok(found.unwrap_or_else(none))
            };
            names.iter().map(|name| named(name)).collect()
        }
        Intents::Of(id) => all(select!("WHERE id = ?1"), &[id]),
        Intents::MayHaveOrdered(jobs) => {
            let unknown = all(select!("WHERE state = 'ordering' OR state = 'abandoned'"), &[])?;
            let mut found: BTreeMap<_, _> =
                unknown.into_iter().map(|intent| (intent.row.id, intent)).collect();
            for (job_id, intent) in jobs {
                let named: [&dyn ToSql; 2] = [&job_id.as_str(), &intent.as_deref()];
                let of_job = all(select!("WHERE job_id = ?1 OR name = ?2"), &named)?;
                found.extend(of_job.into_iter().map(|intent| (intent.row.id, intent)));
            }
            Ok(found.into_values().collect())
        }
        Intents::Ordering => all(select!("WHERE state = 'ordering' ORDER BY id"), &[]),
        Intents::Listed { state: None, after, limit } => {
            all(select!("WHERE id > ?1 ORDER BY id LIMIT ?2"), &[after, limit])
        }
        Intents::Listed { state: Some(state), after, limit } => {
            let stored = match state {
                IntentState::Unknown => IntentState::Ordering,
                state => *state,
            };
            // The outcome of an order is unknown once its deadline has passed.
            let (first, last) = match state {
                IntentState::Ordering => (to_millis(now) + 1, i64::MAX),
                IntentState::Unknown => (i64::MIN, to_millis(now)),
                _ => (i64::MIN, i64::MAX),
            };
            all(
                select!(
                    "WHERE id > ?1 AND state = ?3 AND at BETWEEN ?4 AND ?5 ORDER BY id LIMIT ?2"
                ),
                &[after, limit, &stored.as_str(), &first, &last],
            )
        }
    }
}

fn intent(row: &SqlRow<'_>, now: SystemTime, findings: &Findings) -> Result<IntentRows, Fault> {
    let id = row.get(0)?;
    let number =
        |index| -> rusqlite::Result<i64> { Ok(row.get_ref(index)?.as_i64().unwrap_or_default()) };
    let name = text(row.get_ref(1)?).unwrap_or_default();
    let state = text(row.get_ref(2)?).and_then(|name| IntentState::from_name(&name));
    let job_id = text(row.get_ref(6)?);
    let document = text(row.get_ref(7)?).unwrap_or_default();
    let created_at = number(3)?;
    let known = codec::row::<IntentRow>(&document);
    let is_sound = state.is_some()
        && known.is_some()
        && number(8)? == checksum(id, &name, created_at, &document);
    let at = from_millis(number(4)?);
    if !is_sound {
        findings.add("ledger", format!(
            "the intent {}: its checksum does not match; the outcome of its order is treated as unknown",
            name.escape_debug()
        ));
    }
    let row = IntentRow {
        // An order that cannot be read may have been taken: it is never made again by itself.
        state: state.unwrap_or_default(),
        created_at: from_millis(created_at),
        at: if is_sound { at } else { at.min(now) },
        fence: number(5)?,
        job_id: job_id.and_then(|job_id| job_id.parse().ok()),
        ..known.unwrap_or_else(IntentRow::unread)
    };
    Ok(IntentRows { name: name.into(), row: Tracked::stored(id, row) })
}

fn checksum(id: i64, name: &str, created_at: i64, document: &str) -> i64 {
    codec::checksum(&[&id.to_le_bytes(), name.as_bytes(), &created_at.to_le_bytes()], document)
}

/// Saves what has changed in an intent.
pub(super) fn save(connection: &Connection, intent: &mut IntentRows) -> Result<(), Fault> {
    let (id, row) = match intent.row.change() {
        Change::Nothing => return Ok(()),
        Change::Delete => {
            let statement = "DELETE FROM article_inbox_intents WHERE id = ?1";
            return remove(connection, statement, intent.row.id);
        }
        Change::Insert(row) => (new_id(connection)?, row),
        Change::Update(row) => (intent.row.id, row),
    };
    let (document, created_at) = (codec::document(row), to_millis(row.created_at));
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO article_inbox_intents (id, name, state, created_at, at, fence, job_id, document, \
             checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            id,
            &*intent.name,
            row.state.as_str(),
            created_at,
            to_millis(row.at),
            row.fence,
            row.job_id.as_ref().map(|job_id| job_id.as_str()),
            document,
            checksum(id, &intent.name, created_at, &document)
        ])?;
    intent.row.id = id;
    Ok(())
}
