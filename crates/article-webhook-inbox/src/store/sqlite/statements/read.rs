use article_webhook::Event;
use rusqlite::{Connection, params};

use super::{rows, sql};
use crate::{
    Body, Entry, EntryKey, State,
    call::{Counts, Excerpt, Filter, ListOrder, Page},
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
    },
    timestamp::to_millis,
};

/// Whether a list takes the same time for any number of entries.
pub(crate) fn is_quick(filter: &Filter) -> bool {
    let Filter { state, event, job_id, target, received_before, .. } = filter;
    let is_all = state.is_none() && event.is_none();
    (job_id.is_some() || is_all) && target.is_none() && received_before.is_none()
}

/// A page of entries, in the order of the filter.
pub(crate) fn list(tx: &Tx<'_>, filter: &Filter) -> Result<Page, Fault> {
    let mut statement = tx.prepare_cached(statement(tx, filter)?)?;
    let after = match (filter.order, filter.after) {
        (ListOrder::NewestFirst, 0) => i64::MAX,
        (_, after) => after,
    };
    let parameters = params![
        after,
        i64::from(filter.limit) + 1,
        filter.state.map(State::as_str),
        filter.event.as_ref().map(Event::as_str),
        filter.job_id.as_ref().map(|job_id| job_id.as_str()),
        filter.target.as_deref(),
        filter.received_before.map(to_millis),
    ];
    let entries = statement.query_and_then(parameters, |row| rows::entry(row, tx))?;
    Ok(Page::new(entries.collect::<Result<_, _>>()?, filter))
}

/// The statement whose index leaves the fewest entries to read.
fn statement(tx: &Connection, filter: &Filter) -> Result<&'static str, Fault> {
    if filter.order == ListOrder::NewestFirst {
        return newest(tx, filter);
    }
    Ok(match filter {
        Filter { job_id: Some(_), .. } => sql::LIST_JOB,
        Filter { event: Some(Event::Other(_)), .. } => sql::LIST_OTHER,
        Filter { state: Some(State::Dead | State::Unhandled | State::Corrupt), .. } => {
            sql::LIST_STUCK
        }
        Filter { state: Some(State::Waiting | State::Leased), .. } => sql::LIST_LIVE,
        _ => sql::LIST,
    })
}

/// The same for the newest entries.
fn newest(tx: &Connection, filter: &Filter) -> Result<&'static str, Fault> {
    Ok(match filter {
        Filter { job_id: Some(_), .. } => sql::NEWEST_JOB,
        Filter { event: Some(Event::Other(_)), .. } => sql::NEWEST_OTHER,
        Filter { state: Some(State::Dead | State::Unhandled | State::Corrupt), .. } => {
            sql::NEWEST_STUCK
        }
        Filter { state: Some(state), .. } if has_few(tx, *state)? => sql::NEWEST_OF_FEW,
        _ => sql::NEWEST,
    })
}

/// To sort this many entries takes some tens of milliseconds. Where a state has more, to pass over entries of other states costs
/// less.
const FEW: i64 = 100_000;

fn has_few(tx: &Connection, state: State) -> Result<bool, Fault> {
    let mut count = tx.prepare_cached(sql::COUNT_FEW)?;
    let count: i64 = count.query_row(params![state.as_str(), FEW], |row| row.get(0))?;
    Ok(count < FEW)
}

/// An entry with its bodies.
pub(crate) fn show(tx: &Tx<'_>, key: &EntryKey) -> Result<Option<(Entry, Vec<Body>)>, Fault> {
    let Some(id) = rows::find_id(tx, key)? else {
        return Ok(None);
    };
    let mut statement = tx.prepare_cached(sql::SHOW)?;
    let mut found = statement.query([id])?;
    let entry = found.next()?.map(|row| rows::entry(row, tx)).transpose()?;
    let entry = entry.filter(|entry| entry.key == *key).ok_or_else(index_differs)?;
    let bodies = rows::bodies(tx, entry.id)?.into_iter().map(|stored| stored.body);
    Ok(Some((entry, bodies.collect())))
}

/// The first bytes of the first body of each of these entries.
pub(crate) fn excerpts(
    tx: &Tx<'_>,
    keys: &[EntryKey],
    bytes: usize,
) -> Result<Vec<Option<Excerpt>>, Fault> {
    let excerpt = |key| match rows::find_id(tx, key)? {
        Some(id) => rows::excerpt(tx, id, bytes),
        None => Ok(None),
    };
    keys.iter().map(excerpt).collect()
}

/// How many entries are in each state.
pub(crate) fn counts(tx: &Connection) -> Result<Counts, Fault> {
    let mut statement = tx.prepare_cached(sql::COUNTS)?;
    let counts = statement.query_and_then([], |row| {
        // An entry whose state cannot be read is corrupt.
        let state = rows::lossy(row.get_ref(0)?).and_then(|state| State::from_name(&state));
        Ok((state.unwrap_or(State::Corrupt), row.get::<_, i64>(1)?.unsigned_abs()))
    })?;
    counts.collect()
}
