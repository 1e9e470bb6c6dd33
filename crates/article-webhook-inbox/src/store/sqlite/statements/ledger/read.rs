use article_webhook::JobId;
use rusqlite::{OptionalExtension, Statement, params, types::Value};

use super::{bucket::load, intents::tell as tell_intent, jobs::tell};
use crate::{
    call::{
        ExpectedJob, Intent, IntentState, JobFilter, JobState, LAST_DELIVERY, LedgerCounts,
        LedgerPage, OVERDUE,
    },
    rules::Bucket,
    store::sqlite::{
        damage::{Tx, Unreadable, index_differs},
        fault::Fault,
        statements::{
            rows::{self, StoredIntent, StoredJob},
            sql::ledger as sql,
        },
    },
    timestamp::{from_millis, to_millis},
};

/// A job, if the ledger has it.
pub(in crate::store::sqlite) fn job(
    tx: &Tx<'_>,
    job_id: &JobId,
) -> Result<Option<ExpectedJob>, Fault> {
    let Some(id) = rows::job_ids(tx, job_id)?.first().copied() else { return Ok(None) };
    let job = shown(tx, id)?.filter(|job| job.job_id == *job_id);
    job.map(Some).ok_or_else(index_differs)
}

/// A page of jobs, by ascending id.
pub(in crate::store::sqlite) fn jobs(
    tx: &Tx<'_>,
    filter: &JobFilter,
) -> Result<LedgerPage<ExpectedJob>, Fault> {
    // The index that leaves the fewest rows to read.
    let (statement, value) = match filter {
        JobFilter { intent: Some(intent), .. } => {
            (sql::JOBS_OF_INTENT, Some(Value::from(intent.to_string())))
        }
        JobFilter { state: Some(state), .. } => {
            (sql::JOBS_IN_STATE, Some(Value::from(state.as_str().to_owned())))
        }
        _ => (sql::JOBS, None),
    };
    let mut statement = tx.prepare_cached(statement)?;
    let accepted = |id| Ok(shown(tx, id)?.filter(|job| filter.accepts(job)));
    page(&mut statement, (filter.after, value), filter.limit, accepted, |job| job.id)
}

/// A page of what passes, of that to which a statement leads. One row more than the limit shows whether another page
/// follows.
fn page<T>(
    statement: &mut Statement<'_>,
    (after, value): (i64, Option<Value>),
    limit: u32,
    accepted: impl Fn(i64) -> Result<Option<T>, Fault>,
    id: impl Fn(&T) -> i64,
) -> Result<LedgerPage<T>, Fault> {
    let parameters = [Value::from(after)].into_iter().chain(value);
    let mut ids = statement.query(rusqlite::params_from_iter(parameters))?;
    let mut items = Vec::new();
    while items.len() <= limit as usize
        && let Some(row) = ids.next()?
    {
        items.extend(accepted(row.get(0)?)?);
    }
    Ok(LedgerPage::new(items, limit, id))
}

/// A job as the ledger shows it. What can be read of a damaged one is shown; one without a job id is not, and the next claim
/// of asks or a check tells one on a damaged page.
fn shown(tx: &Tx<'_>, id: i64) -> Result<Option<ExpectedJob>, Fault> {
    if tx.is_unreadable(Unreadable::Job(id)) {
        return Ok(None);
    }
    let read = match rows::read_job(tx, id) {
        Err(fault) if fault.is_damage() => {
            tx.learn(Unreadable::Job(id), fault);
            return Ok(None);
        }
        read => read?,
    };
    let stored = match read {
        Some(Ok(stored)) => Some(stored),
        Some(Err(damaged)) => {
            damaged.readable.iter().for_each(|stored| tell(tx, stored, &damaged.cause));
            damaged.readable
        }
        None => None,
    };
    Ok(stored.map(|StoredJob { id, job_id, row }| row.into_job(id, job_id)))
}

/// An intent, if the ledger has it.
pub(in crate::store::sqlite) fn intent(tx: &Tx<'_>, name: &str) -> Result<Option<Intent>, Fault> {
    let Some(id) = rows::intent_ids(tx, name)?.first().copied() else { return Ok(None) };
    let intent = shown_intent(tx, id)?.filter(|intent| *intent.name == *name);
    intent.map(Some).ok_or_else(index_differs)
}

/// A page of intents, by ascending id.
pub(in crate::store::sqlite) fn intents(
    tx: &Tx<'_>,
    state: Option<IntentState>,
    after: i64,
    limit: u32,
) -> Result<LedgerPage<Intent>, Fault> {
    let stored_state = state.map(|state| match state {
        // It follows from the deadline, and is not stored.
        IntentState::Unknown => IntentState::Ordering,
        state => state,
    });
    let statement = if state.is_some() { sql::INTENTS_IN_STATE } else { sql::INTENTS };
    let value = stored_state.map(|state| Value::from(state.as_str().to_owned()));
    let accepts = |intent: &Intent| state.is_none_or(|state| state == intent.state);
    let mut statement = tx.prepare_cached(statement)?;
    let accepted = |id| Ok(shown_intent(tx, id)?.filter(accepts));
    page(&mut statement, (after, value), limit, accepted, |intent| intent.id)
}

fn shown_intent(tx: &Tx<'_>, id: i64) -> Result<Option<Intent>, Fault> {
    let stored = match rows::read_intent(tx, id)? {
        Some(Ok(stored)) => Some(stored),
        Some(Err(damaged)) => {
            damaged.readable.iter().for_each(|stored| tell_intent(tx, stored, &damaged.cause));
            damaged.readable
        }
        None => None,
    };
    Ok(stored.map(|StoredIntent { id, name, row }| row.into_intent(id, name, tx.now())))
}

/// The bucket. Before its first use, it is full.
pub(in crate::store::sqlite) fn bucket(tx: &Tx<'_>) -> Result<Bucket, Fault> {
    Ok(load(tx)?.unwrap_or_else(|| Bucket::new(tx.now())))
}

/// The figures of the ledger.
pub(in crate::store::sqlite) fn ledger_counts(tx: &Tx<'_>) -> Result<LedgerCounts, Fault> {
    let mut counts = LedgerCounts::default();
    let mut statement = tx.prepare_cached(sql::COUNT_JOBS)?;
    let mut states = statement.query([])?;
    while let Some(row) = states.next()? {
        // A job whose state cannot be read is taken for one that is expected.
        let state = rows::lossy(row.get_ref(0)?).and_then(|state| JobState::from_name(&state));
        let count: i64 = row.get(1)?;
        counts.states[state.unwrap_or(JobState::Expected) as usize] += count.unsigned_abs();
    }
    let now = to_millis(tx.now());
    let count = |statement: &str, time: i64| -> Result<u64, Fault> {
        let count = tx.prepare_cached(statement)?.query_row([time], |row| row.get::<_, i64>(0))?;
        Ok(count.unsigned_abs())
    };
    let mut oldest = tx.prepare_cached(sql::OLDEST_EXPECTED)?;
    let oldest = oldest.query_row([], |row| Ok(row.get::<_, i64>(0).ok())).optional()?.flatten();
    counts.oldest_expected = oldest.map(from_millis);
    counts.overdue = count(sql::COUNT_OVERDUE, now - millis(OVERDUE))?;
    counts.unknown_intents = count(sql::COUNT_UNKNOWN, now)?;
    let mut recovered = tx.prepare_cached(sql::COUNT_RECOVERED)?;
    let recovered =
        recovered.query_row(params![now, millis(LAST_DELIVERY)], |row| row.get::<_, i64>(0))?;
    counts.recovered = recovered.unsigned_abs();
    Ok(counts)
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
