use std::time::SystemTime;

use article_webhook::{Event, JobId};
use bytes::Bytes;
use rusqlite::{Connection, Row as SqlRow, params, types::ValueRef};

use super::value::{delete, index_differs, new_id, remove, text};
use crate::{
    Digest, EntryKey, State, codec,
    rules::{BodyBytes, BodyLine, BodyRow, Change, EntryRows, JobRows, Row, Tracked},
    script::LoadedBody,
    store::sqlite::{damage::Findings, fault::Fault},
    timestamp::{from_millis, to_millis},
};

/// The slot of a body is the id of its entry times this, plus its number in the entry.
const SLOTS_PER_ENTRY: i64 = 16;

macro_rules! entry_columns {
    () => {
        "entry.id, entry.event, entry.received_at, entry.state, entry.attempts, entry.fence, entry.at, entry.since, \
         entry.document, entry.checksum, entry.held, entry.job_id"
    };
}

macro_rules! body_columns {
    () => {
        "slot, received_at, digest, document, checksum, length(body)"
    };
}

/// The entries of a job with what is known of their bodies.
pub(super) fn load(
    connection: &Connection,
    job_id: &JobId,
    now: SystemTime,
    findings: &Findings,
) -> Result<Vec<EntryRows>, Fault> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        entry_columns!(),
        " FROM article_inbox_entries AS named CROSS JOIN article_inbox_entries AS entry NOT INDEXED ON entry.id = named.id \
         WHERE named.job_id = ?1"
    ))?;
    let mut rows = statement.query([job_id.as_str()])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let event = Event::from(text(row.get_ref(1)?).unwrap_or_default().as_str());
        let received_at = row.get_ref(2)?.as_i64().unwrap_or_default();
        let held = row.get_ref(10)?.as_i64().unwrap_or_default();
        let (stored, mut damage) = entry(job_id, row)?;
        if damage.is_some() && text(row.get_ref(11)?).as_deref() != Some(job_id.as_str()) {
            return Err(index_differs(findings));
        }
        let bodies = load_bodies(connection, id, findings)?;
        let has_bytes = |body: &Tracked<BodyRow>| body.get().is_some_and(BodyRow::has_bytes);
        if held > 0 && !bodies.iter().any(has_bytes) {
            damage.get_or_insert_with(|| "its body is missing".to_owned());
        }
        let mut row = Tracked::stored(id, stored);
        // What is done stays done, whatever became of its document.
        let stored = row.get_mut().filter(|row| damage.is_some() && row.state != State::Done);
        if let (Some(stored), Some(damage)) = (stored, &damage) {
            stored.mark_corrupt(damage.clone(), now);
        }
        if let Some(damage) = &damage {
            let job_id = job_id.as_str().escape_debug();
            let says =
                format!("entry {id} of {job_id}: {damage}; deliver or collect the job again");
            findings.add("entry", says);
        }
        let received_at = from_millis(received_at);
        entries.push(EntryRows { event, received_at, row, bodies, damage });
    }
    Ok(entries)
}

/// An entry by its id, as its table alone has it.
pub(in crate::store::sqlite) struct EntryAt {
    /// `None` if it cannot be read.
    pub(in crate::store::sqlite) key: Option<EntryKey>,
    pub(in crate::store::sqlite) received_at: SystemTime,
    pub(in crate::store::sqlite) row: Row,
    /// How many bodies it has with bytes.
    pub(in crate::store::sqlite) held: usize,
    pub(in crate::store::sqlite) damage: Option<String>,
}

/// The entry with this id.
pub(in crate::store::sqlite) fn entry_at(
    connection: &Connection,
    id: i64,
) -> Result<Option<EntryAt>, Fault> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        entry_columns!(),
        " FROM article_inbox_entries AS entry NOT INDEXED WHERE entry.id = ?1"
    ))?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let job_id: Option<JobId> = text(row.get_ref(11)?).and_then(|name| name.parse().ok());
    let (read, damage) = match &job_id {
        Some(job_id) => entry(job_id, row)?,
        None => (Row::new(from_millis(0)), Some("its job id cannot be read".to_owned())),
    };
    let event = text(row.get_ref(1)?).map(|event| Event::from(event.as_str()));
    let number = |index| row.get_ref(index).map(|value| value.as_i64().unwrap_or_default());
    Ok(Some(EntryAt {
        key: job_id.zip(event).map(|(job_id, event)| EntryKey { job_id, event }),
        received_at: from_millis(number(2)?),
        row: read,
        held: usize::try_from(number(10)?).unwrap_or_default(),
        damage,
    }))
}

/// The row of an entry, and what is damaged of it.
fn entry(job_id: &JobId, columns: &SqlRow<'_>) -> Result<(Row, Option<String>), Fault> {
    let mut damage = None;
    let mut number = |index, name: &str| -> rusqlite::Result<i64> {
        let found = columns.get_ref(index)?.as_i64().ok();
        if found.is_none() {
            damage.get_or_insert_with(|| format!("its {name} is damaged"));
        }
        Ok(found.unwrap_or_default())
    };
    let (id, received_at) = (number(0, "id")?, number(2, "received_at")?);
    let (attempts, fence) = (number(4, "attempts")?, number(5, "fence")?);
    let (at, since) = (number(6, "at")?, number(7, "since")?);
    let checksum = number(9, "checksum")?;
    let document = text(columns.get_ref(8)?).unwrap_or_default();
    let event = text(columns.get_ref(1)?).unwrap_or_default();
    let row = codec::row::<Row>(&document);
    if row.is_none()
        || checksum != self::checksum(id, job_id.as_str(), &event, received_at, &document)
    {
        damage.get_or_insert_with(|| "its checksum does not match".to_owned());
    }
    let state = text(columns.get_ref(3)?).and_then(|name| State::from_name(&name));
    if state.is_none() {
        damage.get_or_insert_with(|| "its state is damaged".to_owned());
    }
    if u32::try_from(attempts).is_err() {
        damage.get_or_insert_with(|| "its attempts is damaged".to_owned());
    }
    let row = Row::read(
        row.filter(|_| damage.is_none()),
        (state.unwrap_or_default(), u32::try_from(attempts).unwrap_or_default(), fence),
        (from_millis(at), from_millis(since)),
    );
    Ok((row, damage))
}

fn checksum(id: i64, job_id: &str, event: &str, received_at: i64, document: &str) -> i64 {
    let columns: [&[u8]; 4] =
        [&id.to_le_bytes(), job_id.as_bytes(), event.as_bytes(), &received_at.to_le_bytes()];
    codec::checksum(&columns, document)
}

/// Saves what has changed in the entries of a job, and in their bodies.
pub(super) fn save(connection: &Connection, job: &mut JobRows) -> Result<(), Fault> {
    for entry in &mut job.entries {
        let held = i64::try_from(entry.held()).unwrap_or(i64::MAX);
        let (received_at, target) = (to_millis(entry.received_at), entry.target());
        let search = entry.search_text(&job.job_id);
        let (job_id, event) = (job.job_id.as_str(), entry.event.as_str());
        match entry.row.change() {
            Change::Nothing => {
                if entry.bodies.iter().any(|body| !matches!(body.change(), Change::Nothing)) {
                    let save = "UPDATE article_inbox_entries SET held = ?2, target = ?3, search = ?4 WHERE id = ?1";
                    let parameters = params![entry.row.id, held, &*target, search];
                    connection.prepare_cached(save)?.execute(parameters)?;
                }
            }
            Change::Insert(row) => {
                let id = new_id(connection)?;
                let document = codec::document(row);
                let checksum = checksum(id, job_id, event, received_at, &document);
                connection
                    .prepare_cached(
                        "INSERT INTO article_inbox_entries (id, job_id, event, received_at, state, attempts, fence, at, \
                         since, held, target, search, cause_group, requeued_at, document, checksum) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                    )?
                    .execute(params![
                        id,
                        job_id,
                        event,
                        received_at,
                        row.state.as_str(),
                        row.attempts,
                        row.fence,
                        to_millis(row.at),
                        to_millis(row.since),
                        held,
                        &*target,
                        search,
                        row.group(),
                        row.requeued_at.map(to_millis),
                        document,
                        checksum
                    ])?;
                entry.row.id = id;
            }
            Change::Update(row) => {
                let document = codec::document(row);
                let checksum = checksum(entry.row.id, job_id, event, received_at, &document);
                connection
                    .prepare_cached(
                        "UPDATE article_inbox_entries SET received_at = ?2, state = ?3, attempts = ?4, fence = ?5, at = ?6, \
                         since = ?7, held = ?8, target = ?9, search = ?10, cause_group = ?11, requeued_at = ?12, \
                         document = ?13, checksum = ?14 WHERE id = ?1",
                    )?
                    .execute(params![
                        entry.row.id,
                        received_at,
                        row.state.as_str(),
                        row.attempts,
                        row.fence,
                        to_millis(row.at),
                        to_millis(row.since),
                        held,
                        &*target,
                        search,
                        row.group(),
                        row.requeued_at.map(to_millis),
                        document,
                        checksum
                    ])?;
            }
            Change::Delete => {
                remove(
                    connection,
                    "DELETE FROM article_inbox_entries WHERE id = ?1",
                    entry.row.id,
                )?;
                let bodies =
                    "DELETE FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15";
                delete(connection, bodies, entry.row.id)?;
                continue;
            }
        }
        save_bodies(connection, entry)?;
    }
    Ok(())
}

fn body_checksum(slot: i64, received_at: i64, digest: &[u8], document: &str) -> i64 {
    codec::checksum(&[&slot.to_le_bytes(), &received_at.to_le_bytes(), digest], document)
}

/// The row of a body, and what is damaged of it.
fn body(row: &SqlRow<'_>) -> Result<(BodyRow, Option<String>), Fault> {
    let slot: i64 = row.get(0)?;
    let received_at = row.get_ref(1)?.as_i64().unwrap_or_default();
    let digest = row.get_ref(2)?.as_blob().unwrap_or_default();
    let document = text(row.get_ref(3)?).unwrap_or_default();
    let checksum = row.get_ref(4)?.as_i64().ok();
    let length = row.get_ref(5)?.as_i64().ok().map(i64::unsigned_abs);
    let is_sound = checksum == Some(body_checksum(slot, received_at, digest, &document));
    let known = codec::row(&document).filter(|_| is_sound);
    Ok(BodyRow::read(known, from_millis(received_at), digest, length))
}

fn load_bodies(
    connection: &Connection,
    id: i64,
    findings: &Findings,
) -> Result<Vec<Tracked<BodyRow>>, Fault> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        body_columns!(),
        " FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot"
    ))?;
    let mut rows = statement.query([id])?;
    let mut bodies = Vec::new();
    while let Some(row) = rows.next()? {
        let (known, damage) = body(row)?;
        if let Some(damage) = damage {
            let number = bodies.len() + 1;
            findings.add("body", format!("body {number} of entry {id}: {damage}"));
        }
        bodies.push(Tracked::stored(row.get(0)?, known));
    }
    Ok(bodies)
}

/// The bodies of an entry with their bytes.
pub(super) fn bodies(connection: &Connection, id: i64) -> Result<Vec<LoadedBody>, Fault> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        body_columns!(),
        ", body FROM article_inbox_bodies WHERE slot BETWEEN ?1 * 16 AND ?1 * 16 + 15 ORDER BY slot"
    ))?;
    let mut rows = statement.query([id])?;
    let mut bodies = Vec::new();
    while let Some(row) = rows.next()? {
        bodies.push(loaded_body(row)?);
    }
    Ok(bodies)
}

fn loaded_body(row: &SqlRow<'_>) -> Result<LoadedBody, Fault> {
    let (known, damage) = body(row)?;
    Ok(LoadedBody { body: known.with_bytes(bytes(row)?), damage })
}

fn bytes(row: &SqlRow<'_>) -> Result<Option<Bytes>, Fault> {
    Ok(match row.get_ref(6)? {
        ValueRef::Blob(bytes) => Some(Bytes::copy_from_slice(bytes)),
        _ => None,
    })
}

/// The entry of a body.
pub(in crate::store::sqlite) fn entry_of_slot(slot: i64) -> i64 {
    slot.div_euclid(SLOTS_PER_ENTRY)
}

/// Each body of an entry, read by itself. `None` for one that is not what was received.
pub(in crate::store::sqlite) fn bodies_one_by_one(
    connection: &Connection,
    id: i64,
) -> Vec<Option<BodyLine>> {
    let read = |number| -> Result<_, Fault> {
        let mut statement = connection.prepare_cached(concat!(
            "SELECT ",
            body_columns!(),
            ", body FROM article_inbox_bodies WHERE slot = ?1"
        ))?;
        let mut rows =
            statement.query([id.saturating_mul(SLOTS_PER_ENTRY).saturating_add(number)])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let ((document, damage), bytes) = (body(row)?, bytes(row)?);
        let sha256 = document.digest;
        let is_intact = bytes.as_ref().is_none_or(|bytes| Digest::of(bytes) == sha256);
        let received_at = document.received_at;
        let line = BodyLine { received_at, sha256, document, body: bytes };
        Ok(Some(Some(line).filter(|_| damage.is_none() && is_intact)))
    };
    (0..SLOTS_PER_ENTRY).filter_map(|number| read(number).unwrap_or(Some(None))).collect()
}

fn save_bodies(connection: &Connection, entry: &EntryRows) -> Result<(), Fault> {
    for (number, body) in entry.bodies.iter().enumerate() {
        let (row, slot) = match body.change() {
            Change::Nothing => continue,
            Change::Delete => {
                delete(connection, "DELETE FROM article_inbox_bodies WHERE slot = ?1", body.id)?;
                continue;
            }
            Change::Insert(row) => {
                (row, entry.row.id * SLOTS_PER_ENTRY + i64::try_from(number).unwrap_or(i64::MAX))
            }
            Change::Update(row) => (row, body.id),
        };
        let received_at = to_millis(row.received_at);
        let document = codec::document(row);
        let digest = &row.digest.as_bytes()[..];
        let checksum = body_checksum(slot, received_at, digest, &document);
        let known = params![slot, received_at, digest, document, checksum];
        match &row.bytes {
            BodyBytes::New(bytes) => connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO article_inbox_bodies (slot, received_at, digest, document, checksum, body) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![slot, received_at, digest, document, checksum, &bytes[..]])?,
            BodyBytes::Stored(_) => connection
                .prepare_cached(
                    "UPDATE article_inbox_bodies SET received_at = ?2, digest = ?3, document = ?4, checksum = ?5 \
                     WHERE slot = ?1",
                )?
                .execute(known)?,
            BodyBytes::Removed => connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO article_inbox_bodies (slot, received_at, digest, document, checksum, body) \
                     VALUES (?1, ?2, ?3, ?4, ?5, NULL)",
                )?
                .execute(known)?,
        };
    }
    Ok(())
}
