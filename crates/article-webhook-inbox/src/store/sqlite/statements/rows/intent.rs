use std::time::SystemTime;

use article_webhook::JobId;
use rusqlite::{Connection, Row as SqlRow, types::ValueRef};

use super::{
    bit_repair::restored,
    checksum::checksum,
    value::{
        Damaged, cause, columns, execute, integer_in, optional_text, optional_text_in, text,
        text_in, verify,
    },
};
use crate::{
    Digest,
    call::IntentState,
    rules::IntentRow,
    store::sqlite::{damage::Tx, fault::Fault, statements::sql::ledger as sql},
    timestamp::{from_millis, to_millis},
};

/// An intent as it is stored. The rules change the row, and the rest stays.
#[derive(Debug, Clone)]
pub(in super::super) struct StoredIntent {
    pub(in super::super) id: i64,
    pub(in super::super) name: Box<str>,
    pub(in super::super) row: IntentRow,
}

/// An intent whose row is damaged.
pub(in super::super) struct DamagedIntent {
    pub(in super::super) id: i64,
    /// As much as can be read, if the name can: it is what the row is from now on.
    pub(in super::super) readable: Option<StoredIntent>,
    pub(in super::super) cause: String,
}

/// How many columns are in the checksum.
const COLUMNS: usize = 8;

type Columns<'a> = [ValueRef<'a>; COLUMNS];

/// Reads the row of an intent.
pub(in super::super) fn read_intent(
    tx: &Tx<'_>,
    id: i64,
) -> Result<Option<Result<StoredIntent, DamagedIntent>>, Fault> {
    let mut statement = tx.prepare_cached(sql::LOAD_INTENT)?;
    let mut found = statement.query([id])?;
    found.next()?.map(|row| stored(row, tx.now())).transpose()
}

/// The ids of an intent, as the index says. There is one, unless the index let in another.
pub(in super::super) fn intent_ids(tx: &Connection, name: &str) -> Result<Vec<i64>, Fault> {
    let mut statement = tx.prepare_cached(sql::FIND_INTENT)?;
    let ids = statement.query_map([name], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Adds an intent.
pub(in super::super) fn add_intent(
    tx: &Connection,
    name: &str,
    row: IntentRow,
) -> Result<StoredIntent, Fault> {
    let id = tx.prepare_cached(sql::NEXT_ID)?.query_row([], |row| row.get(0))?;
    let stored = StoredIntent { id, name: name.into(), row };
    write(tx, sql::ADD_INTENT, &stored)?;
    Ok(stored)
}

/// Writes the row of an intent back.
pub(in super::super) fn save_intent(tx: &Connection, stored: &StoredIntent) -> Result<(), Fault> {
    write(tx, sql::SAVE_INTENT, stored)
}

/// Writes a damaged row anew.
pub(in super::super) fn write_intent_anew(
    tx: &Connection,
    stored: &StoredIntent,
) -> Result<(), Fault> {
    write(tx, sql::MEND_INTENT, stored)
}

fn write(tx: &Connection, statement: &str, stored: &StoredIntent) -> Result<(), Fault> {
    let StoredIntent { id, name, row } = stored;
    let forgotten: Vec<u8> = row.forgotten.iter().flat_map(|job| *job.as_bytes()).collect();
    let columns: Columns<'_> = [
        ValueRef::Integer(*id),
        text(name),
        text(row.state.as_str()),
        ValueRef::Integer(to_millis(row.created_at)),
        ValueRef::Integer(to_millis(row.at)),
        ValueRef::Integer(row.fence),
        optional_text(row.job_id.as_ref().map(JobId::as_str)),
        if forgotten.is_empty() { ValueRef::Null } else { ValueRef::Blob(&forgotten) },
    ];
    let checksum = ValueRef::Integer(checksum(columns));
    execute(tx, statement, columns.into_iter().chain([checksum]))
}

/// The intent in the columns of `sql::intent!`, or what can be read of it.
fn stored(
    found: &SqlRow<'_>,
    now: SystemTime,
) -> Result<Result<StoredIntent, DamagedIntent>, Fault> {
    let (id, columns, checksum) = (found.get(0)?, columns(found)?, found.get_ref(COLUMNS)?);
    let sound = sound(id, &columns).and_then(|stored| verify(columns, checksum).map(|()| stored));
    Ok(sound.map_err(|damaged| DamagedIntent {
        id,
        readable: restored(&columns, checksum, |columns| self::sound(id, columns).ok())
            .or_else(|| readable(id, &columns, now)),
        cause: cause(damaged),
    }))
}

/// Whether [`read_intent`] would find the row sound. A row whose checksum matches is as it was written.
pub(in super::super) fn is_intent_sound(found: &SqlRow<'_>) -> Result<bool, Fault> {
    let columns: Columns<'_> = columns(found)?;
    Ok(match found.get_ref(COLUMNS)? {
        ValueRef::Null => sound(found.get(0)?, &columns).is_ok(),
        checksum => verify(columns, checksum).is_ok(),
    })
}

fn sound(id: i64, columns: &Columns<'_>) -> Result<StoredIntent, Damaged> {
    let [_, name, state, created_at, at, fence, job_id, forgotten] = *columns;
    let state = IntentState::from_name(text_in(state, "state")?);
    let row = IntentRow {
        state: state.filter(|state| *state != IntentState::Unknown).ok_or("state")?,
        created_at: from_millis(integer_in(created_at, "created_at")?),
        at: from_millis(integer_in(at, "at")?),
        fence: integer_in(fence, "fence")?,
        job_id: job_id_in(job_id)?,
        forgotten: forgotten_in(forgotten)?,
    };
    Ok(StoredIntent { id, name: text_in(name, "name")?.into(), row })
}

/// As much of a damaged row as can be read. If its state cannot, an intent with a job was ordered, and the outcome of
/// another is unknown: it is not ordered again unless the application says so.
fn readable(id: i64, columns: &Columns<'_>, now: SystemTime) -> Option<StoredIntent> {
    let [_, name, state, created_at, at, fence, job_id, forgotten] = *columns;
    let name = text_in(name, "name").ok()?.into();
    let time = |value| integer_in(value, "").ok().map(from_millis);
    let state = text_in(state, "").ok().and_then(IntentState::from_name);
    let job_id = job_id_in(job_id).unwrap_or_default();
    let unreadable = if job_id.is_some() { IntentState::Ordered } else { IntentState::Ordering };
    let row = IntentRow {
        state: state.filter(|state| *state != IntentState::Unknown).unwrap_or(unreadable),
        created_at: time(created_at).unwrap_or(now).min(now),
        at: time(at).unwrap_or(now).min(now),
        // Greater than that of any call, so that it is not the first one's.
        fence: integer_in(fence, "").unwrap_or_default().max(to_millis(now)).saturating_add(1),
        job_id,
        forgotten: forgotten_in(forgotten).unwrap_or_default(),
    };
    Some(StoredIntent { id, name, row })
}

fn job_id_in(value: ValueRef<'_>) -> Result<Option<JobId>, Damaged> {
    let job_id = optional_text_in(value, "job_id")?;
    job_id.map(str::parse).transpose().map_err(|_| "job_id")
}

/// The digests of forgotten jobs, one after the other.
fn forgotten_in(value: ValueRef<'_>) -> Result<Vec<Digest>, Damaged> {
    let bytes = value.as_blob_or_null().map_err(|_| "forgotten")?.unwrap_or_default();
    let (digests, rest) = bytes.as_chunks::<32>();
    if rest.is_empty() {
        Ok(digests.iter().copied().map(Digest::from).collect())
    } else {
        Err("forgotten")
    }
}
