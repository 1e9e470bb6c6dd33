use article_webhook::Event;
use rusqlite::{Connection, params};

use super::{rows, sql};
use crate::{
    Body, Entry, EntryKey, State,
    call::{Counts, Excerpt, Filter, Order, Page},
    store::sqlite::{
        damage::{Tx, index_differs},
        fault::Fault,
    },
    timestamp::to_millis,
};

/// A page of entries, in the order of the filter.
pub(crate) fn list(tx: &Tx<'_>, filter: &Filter) -> Result<Page, Fault> {
    let mut statement = tx.prepare_cached(statement(filter))?;
    let after = match (filter.order, filter.after) {
        (Order::NewestFirst, 0) => i64::MAX,
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
fn statement(filter: &Filter) -> &'static str {
    match (filter.order, filter) {
        (Order::OldestFirst, Filter { job_id: Some(_), .. }) => sql::LIST_JOB,
        (Order::NewestFirst, Filter { job_id: Some(_), .. }) => sql::NEWEST_JOB,
        (Order::OldestFirst, Filter { event: Some(Event::Other(_)), .. }) => sql::LIST_OTHER,
        (Order::NewestFirst, Filter { event: Some(Event::Other(_)), .. }) => sql::NEWEST_OTHER,
        (order, Filter { state: Some(State::Dead | State::Unhandled | State::Corrupt), .. }) => {
            match order {
                Order::OldestFirst => sql::LIST_STUCK,
                Order::NewestFirst => sql::NEWEST_STUCK,
            }
        }
        (Order::OldestFirst, Filter { state: Some(State::Waiting | State::Leased), .. }) => {
            sql::LIST_LIVE
        }
        (Order::OldestFirst, _) => sql::LIST,
        // To pass over a million entries of another state takes a tenth of a second; to sort a million of this state, half
        // a second.
        (Order::NewestFirst, _) => sql::NEWEST,
    }
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
