use article_webhook::Event;
use rusqlite::{Connection, OptionalExtension, params};

use super::{fault::Fault, rows, sql};
use crate::{Body, Counts, Entry, Error, Filter, Key, Page, State, store::Hint};

/// A page of entries, by ascending id.
pub(super) fn list(tx: &Connection, filter: &Filter) -> Result<Page, Fault> {
    let limit = filter.limit as usize;
    let mut statement = tx.prepare_cached(by(filter))?;
    let parameters = params![
        filter.after,
        i64::from(filter.limit) + 1,
        filter.state.map(State::as_str),
        filter.event.as_ref().map(Event::as_str),
        filter.job_id.as_ref().map(|job_id| job_id.as_str()),
    ];
    let entries = statement.query_and_then(parameters, rows::entry)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    let is_last = entries.len() <= limit;
    entries.truncate(limit);
    let end = entries.last().map_or(filter.after, |entry| entry.id);
    Ok(Page { entries, next: (!is_last).then_some(end) })
}

/// The statement whose index leaves the fewest entries to look at.
fn by(filter: &Filter) -> &'static str {
    match filter {
        Filter { job_id: Some(_), .. } => sql::LIST_JOB,
        Filter { event: Some(Event::Other(_)), .. } => sql::LIST_OTHER,
        Filter { state: Some(State::Dead | State::Unhandled | State::Corrupt), .. } => {
            sql::LIST_STUCK
        }
        Filter { state: Some(State::Waiting | State::Leased), .. } => sql::LIST_LIVE,
        _ => sql::LIST,
    }
}

pub(super) fn show(tx: &Connection, key: &Key) -> Result<Option<(Entry, Vec<Body>)>, Fault> {
    let mut statement = tx.prepare_cached(sql::SHOW)?;
    let mut found = statement.query([key.job_id.as_str(), key.event.as_str()])?;
    let Some(row) = found.next()? else {
        return Ok(None);
    };
    let entry = rows::entry(row)?;
    let bodies = rows::bodies(tx, entry.id)?;
    Ok(Some((entry, bodies)))
}

pub(super) fn counts(tx: &Connection) -> Result<Counts, Fault> {
    let mut statement = tx.prepare_cached(sql::COUNTS)?;
    let counts = statement.query_and_then([], |row| {
        let state = State::from_name(rows::text(row, 0)?);
        let state = state.ok_or_else(|| Error::damaged("an entry's state is none: run a check"))?;
        Ok((state, row.get::<_, i64>(1)?.unsigned_abs()))
    })?;
    counts.collect()
}

pub(super) fn due_since(tx: &Connection, now: i64) -> Result<Option<i64>, Fault> {
    Ok(tx.prepare_cached(sql::DUE_SINCE)?.query_row([now], |row| row.get(0)).optional()?)
}

pub(super) fn hint(tx: &Connection, hint: &Hint) -> Result<(), Fault> {
    let at = rows::millis(hint.at);
    tx.prepare_cached(sql::HINT)?.execute(params![hint.job_id.as_str(), at, &*hint.code])?;
    Ok(())
}

pub(super) fn hints(tx: &Connection, limit: u32) -> Result<Vec<Hint>, Fault> {
    let mut statement = tx.prepare_cached(sql::HINTS)?;
    let hints = statement.query_and_then([i64::from(limit)], |row| {
        let job_id = rows::text(row, 0)?.parse();
        let job_id = job_id.map_err(|_| Error::damaged("a hint's job_id is none: run a check"))?;
        Ok(Hint { job_id, at: rows::time(row.get(1)?), code: rows::text(row, 2)?.into() })
    })?;
    hints.collect()
}
