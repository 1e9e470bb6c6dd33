use std::time::SystemTime;

use article_webhook::{Event, JobId};
use article_webhook_inbox::{
    Entry, EntryKey, Failure, State,
    store::{Row, from_millis, to_millis},
};
use serde_json::{Value, json};
use tokio_postgres::types::Type;

use super::super::sql;
use crate::{connection::Transaction, fault::Fault};

/// An entry as it is stored. The rules change the row, and the rest stays.
#[derive(Debug, Clone)]
pub(crate) struct StoredRow {
    pub(crate) id: i64,
    pub(crate) key: EntryKey,
    pub(crate) received_at: SystemTime,
    pub(crate) row: Row,
    /// The column whose value is none of its kind.
    pub(crate) damage: Option<Damage>,
}

/// The name of a column.
pub(crate) type Damage = &'static str;

/// The number of the first column after those of `sql::entry!`.
const AFTER_ENTRY: usize = 14;

/// The columns of a row that a rule may change, as the database keeps them.
pub(crate) struct Columns {
    pub(crate) state: &'static str,
    pub(crate) attempts: i64,
    pub(crate) fence: i64,
    /// A leased entry has its lease's beginning here, so that extending it changes no index.
    pub(crate) at: i64,
    pub(crate) lease_end: i64,
    pub(crate) since: i64,
    pub(crate) interrupted: i64,
    pub(crate) conflicts: i64,
    pub(crate) cause: Option<String>,
    pub(crate) failures: Option<String>,
}

impl Columns {
    pub(crate) fn of(row: &Row) -> Self {
        let (at, since) = (to_millis(row.at), to_millis(row.since));
        let at_column = if row.state == State::Leased { since } else { at };
        Self {
            state: row.state.as_str(),
            attempts: row.attempts.into(),
            fence: row.fence,
            at: at_column,
            lease_end: at,
            since,
            interrupted: row.interrupted.into(),
            conflicts: row.conflicts.into(),
            // The one character that a text in PostgreSQL cannot hold.
            cause: row.cause.as_ref().map(|cause| cause.replace('\0', "\u{FFFD}")),
            failures: failures_text(&row.failures),
        }
    }
}

/// The entry in the columns of `sql::entry!`. One that waits or is leased, and of which a column is damaged, is read as a
/// corrupt one, so that it keeps no other from being claimed, listed or settled.
pub(crate) fn stored(found: &tokio_postgres::Row) -> Result<StoredRow, Fault> {
    let id: i64 = found.try_get(0)?;
    let mut damage = None;
    let [attempts, interrupted, conflicts] =
        [(5, "attempts"), (10, "interrupted"), (11, "conflicts")]
            .map(|(column, name)| or_damaged(count_in(found, column), name, &mut damage));
    let failures = found.try_get(13).ok().and_then(failures_in);
    let failures = or_damaged(failures, "failures", &mut damage);
    let cause = or_damaged(found.try_get(12).ok(), "cause", &mut damage);
    let event: &str = or_damaged(found.try_get(2).ok(), "event", &mut damage);
    let state = found.try_get(4).ok().and_then(State::from_name);
    let mut state = state.unwrap_or_else(|| {
        damage = Some("state");
        State::Corrupt
    });
    let job_id = found.try_get(1).ok().and_then(|job_id: &str| job_id.parse().ok());
    let job_id = job_id.unwrap_or_else(|| {
        damage = Some(JOB_ID);
        name_of("entry", id)
    });
    if damage.is_some() && matches!(state, State::Waiting | State::Leased) {
        state = State::Corrupt;
    }
    let time = |column| Ok::<_, Fault>(from_millis(found.try_get(column)?));
    let row = Row {
        state,
        attempts,
        fence: found.try_get(6)?,
        at: time(if state == State::Leased { 8 } else { 7 })?,
        since: time(9)?,
        interrupted,
        conflicts,
        cause,
        failures,
    };
    let key = EntryKey { job_id, event: Event::from(event) };
    Ok(StoredRow { id, key, received_at: time(3)?, row, damage })
}

/// The column of a job's id.
pub(crate) const JOB_ID: Damage = "job_id";

/// The name of a row whose job id is none.
pub(crate) fn name_of(row: &str, id: i64) -> JobId {
    format!("damaged_{row}_{id}").parse().expect("it has no character that a job id may not have")
}

/// The value of a column, or another if it is damaged.
pub(crate) fn or_damaged<T: Default>(
    value: Option<T>,
    column: Damage,
    damage: &mut Option<Damage>,
) -> T {
    value.unwrap_or_else(|| {
        *damage = Some(column);
        T::default()
    })
}

/// A number of times.
pub(crate) fn count_in(found: &tokio_postgres::Row, column: usize) -> Option<u32> {
    found.try_get::<_, i64>(column).ok().and_then(|count| count.try_into().ok())
}

/// The entry as the inbox shows it, in the columns of `sql::entry!` and its target after them.
pub(crate) fn entry(found: &tokio_postgres::Row) -> Result<Entry, Fault> {
    let StoredRow { id, key, received_at, row, .. } = stored(found)?;
    let target: Option<&str> = found.try_get(AFTER_ENTRY).unwrap_or_default();
    Ok(row.into_entry(id, key, received_at, target.unwrap_or_default().into()))
}

/// Loads an entry, and keeps others from changing it until the transaction ends.
pub(crate) async fn lock(tx: &Transaction<'_>, id: i64) -> Result<Option<StoredRow>, Fault> {
    let rows = tx.query(sql::LOCK, &[(&id, Type::INT8)]).await?;
    rows.first().map(stored).transpose()
}

/// Loads an entry by its key.
pub(crate) async fn find(tx: &Transaction<'_>, key: &EntryKey) -> Result<Option<StoredRow>, Fault> {
    by_key(tx, sql::FIND, key).await
}

/// Loads entries by their keys.
pub(crate) async fn find_all(
    tx: &Transaction<'_>,
    keys: &[&EntryKey],
) -> Result<Vec<StoredRow>, Fault> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let jobs: Vec<_> = keys.iter().map(|key| key.job_id.as_str()).collect();
    let events: Vec<_> = keys.iter().map(|key| key.event.as_str()).collect();
    let parameters = [(&jobs as _, Type::TEXT_ARRAY), (&events as _, Type::TEXT_ARRAY)];
    tx.query(sql::FIND_ALL, &parameters).await?.iter().map(stored).collect()
}

/// Like [`lock_key`], of an entry that no other transaction has locked.
pub(crate) async fn lock_free_key(
    tx: &Transaction<'_>,
    key: &EntryKey,
) -> Result<Option<StoredRow>, Fault> {
    by_key(tx, sql::LOCK_FREE_KEY, key).await
}

/// Loads an entry by its key, and keeps others from changing it until the transaction ends.
pub(crate) async fn lock_key(
    tx: &Transaction<'_>,
    key: &EntryKey,
) -> Result<Option<StoredRow>, Fault> {
    by_key(tx, sql::LOCK_KEY, key).await
}

async fn by_key(
    tx: &Transaction<'_>,
    statement: &str,
    key: &EntryKey,
) -> Result<Option<StoredRow>, Fault> {
    let key = (key.job_id.as_str(), key.event.as_str());
    let rows = tx.query(statement, &[(&key.0, Type::TEXT), (&key.1, Type::TEXT)]).await?;
    rows.first().map(stored).transpose()
}

/// Writes the row of an entry back.
pub(crate) async fn save(tx: &Transaction<'_>, stored: &StoredRow) -> Result<(), Fault> {
    let columns = Columns::of(&stored.row);
    let parameters = [
        (&stored.id as _, Type::INT8),
        (&columns.state as _, Type::TEXT),
        (&columns.attempts as _, Type::INT8),
        (&columns.fence as _, Type::INT8),
        (&columns.at as _, Type::INT8),
        (&columns.lease_end as _, Type::INT8),
        (&columns.since as _, Type::INT8),
        (&columns.interrupted as _, Type::INT8),
        (&columns.conflicts as _, Type::INT8),
        (&columns.cause as _, Type::TEXT),
        (&columns.failures as _, Type::TEXT),
    ];
    tx.write_row(sql::SAVE, &parameters).await
}

/// Writes the rows of entries back that were claimed or settled.
pub(crate) async fn save_all(tx: &Transaction<'_>, stored: &[StoredRow]) -> Result<(), Fault> {
    if stored.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = stored.iter().map(|stored| stored.id).collect();
    let columns: Vec<_> = stored.iter().map(|stored| Columns::of(&stored.row)).collect();
    let number = |of: fn(&Columns) -> i64| -> Vec<i64> { columns.iter().map(of).collect() };
    let states: Vec<_> = columns.iter().map(|columns| columns.state).collect();
    let causes: Vec<_> = columns.iter().map(|columns| columns.cause.as_deref()).collect();
    let failures: Vec<_> = columns.iter().map(|columns| columns.failures.as_deref()).collect();
    let numbers: [fn(&Columns) -> i64; 6] = [
        |columns| columns.attempts,
        |columns| columns.fence,
        |columns| columns.at,
        |columns| columns.lease_end,
        |columns| columns.since,
        |columns| columns.interrupted,
    ];
    let numbers = numbers.map(number);
    let mut parameters = vec![(&ids as _, Type::INT8_ARRAY), (&states as _, Type::TEXT_ARRAY)];
    parameters.extend(numbers.iter().map(|numbers| (numbers as _, Type::INT8_ARRAY)));
    parameters.extend([(&causes as _, Type::TEXT_ARRAY), (&failures as _, Type::TEXT_ARRAY)]);
    tx.execute(sql::SAVE_ALL, &parameters).await?;
    Ok(())
}

/// Adds an entry and returns its id. `None`: the key has one.
pub(crate) async fn add(
    tx: &Transaction<'_>,
    key: &EntryKey,
    received_at: SystemTime,
    held: usize,
    row: &Row,
) -> Result<Option<i64>, Fault> {
    let columns = Columns::of(row);
    let (job_id, event) = (key.job_id.as_str(), key.event.as_str());
    let (received_at, has_bytes) = (to_millis(received_at), held > 0);
    let parameters = [
        (&job_id as _, Type::TEXT),
        (&event as _, Type::TEXT),
        (&received_at as _, Type::INT8),
        (&columns.state as _, Type::TEXT),
        (&columns.attempts as _, Type::INT8),
        (&columns.fence as _, Type::INT8),
        (&columns.at as _, Type::INT8),
        (&columns.lease_end as _, Type::INT8),
        (&columns.since as _, Type::INT8),
        (&columns.interrupted as _, Type::INT8),
        (&columns.conflicts as _, Type::INT8),
        (&columns.cause as _, Type::TEXT),
        (&columns.failures as _, Type::TEXT),
        (&has_bytes as _, Type::BOOL),
    ];
    let rows = tx.query(sql::ADD, &parameters).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

/// Removes entries with their bodies.
pub(crate) async fn remove(tx: &Transaction<'_>, ids: &[i64]) -> Result<(), Fault> {
    tx.execute(sql::REMOVE, &[(&ids, Type::INT8_ARRAY)]).await?;
    Ok(())
}

/// Failures as a list in JSON, as exports have them; `None` if there are none.
fn failures_text(failures: &[Failure]) -> Option<String> {
    if failures.is_empty() {
        return None;
    }
    let line = |failure: &Failure| json!({ "at": to_millis(failure.at), "attempt": failure.attempt, "cause": failure.cause });
    Some(Value::from_iter(failures.iter().map(line)).to_string())
}

fn failures_in(text: Option<&str>) -> Option<Vec<Failure>> {
    let Some(text) = text else { return Some(Vec::new()) };
    let lines: Vec<Value> = serde_json::from_str(text).ok()?;
    let failure = |line: &Value| {
        Some(Failure {
            at: from_millis(line["at"].as_i64()?),
            attempt: line["attempt"].as_u64()?.try_into().ok()?,
            cause: line["cause"].as_str()?.to_owned(),
        })
    };
    lines.iter().map(failure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_back_as_they_were() {
        let failures = vec![
            Failure { at: from_millis(7), attempt: 1, cause: "a \0 and a \" in it".into() },
            Failure { at: from_millis(8), attempt: u32::MAX, cause: String::new() },
        ];
        let text = failures_text(&failures);
        assert!(!text.as_ref().unwrap().contains('\0'));
        assert_eq!(failures_in(text.as_deref()), Some(failures));
        assert_eq!(failures_text(&[]), None);
        assert_eq!(failures_in(None), Some(Vec::new()));
        assert_eq!(failures_in(Some("[{}]")), None);
    }
}
