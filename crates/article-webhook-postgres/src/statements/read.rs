use std::time::SystemTime;

use article_webhook::Event;
use article_webhook_inbox::{
    Body, Counts, Entry, EntryKey, Error, Filter, ListOrder, Page, State,
    store::{from_millis, to_millis},
};
use tokio_postgres::types::Type;

use super::{rows, sql};
use crate::connection::{Transaction, Work, first};

/// How many entries are in each state.
pub(crate) fn counts<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, Counts> {
    Box::pin(async move {
        let counts = "SELECT state, count(*) FROM article_inbox_entries GROUP BY state";
        let rows = tx.query(counts, &[]).await?;
        let count = |row: &tokio_postgres::Row| {
            let count: i64 = row.try_get(1)?;
            let state = row.try_get(0).ok().and_then(State::from_name).ok_or_else(|| {
                Error::damaged("an entry is in a state that this version does not know")
            })?;
            Ok((state, count.unsigned_abs()))
        };
        rows.iter().map(count).collect()
    })
}

/// Since when the oldest entry that is due has been due.
pub(crate) fn due_since<'t>(tx: &'t Transaction<'t>, (): &'t ()) -> Work<'t, Option<SystemTime>> {
    Box::pin(async move {
        let rows = tx.query(sql::DUE_SINCE, &[(&tx.given_time(), Type::INT8)]).await?;
        Ok(first(&rows)?.try_get::<_, Option<i64>>(0)?.map(from_millis))
    })
}

/// A page of entries, in the order of the filter.
pub(crate) fn list<'t>(tx: &'t Transaction<'t>, filter: &'t Filter) -> Work<'t, Page> {
    Box::pin(async move {
        let one_more = i64::from(filter.limit) + 1;
        let (state, event) =
            (filter.state.map(State::as_str), filter.event.as_ref().map(Event::as_str));
        let job_id = filter.job_id.as_ref().map(|job_id| job_id.as_str());
        let before = filter.received_before.map(to_millis);
        let (statement, after) = match (filter.order, filter.after) {
            (ListOrder::OldestFirst, after) => (sql::LIST, after),
            (ListOrder::NewestFirst, 0) => (sql::LIST_NEWEST, i64::MAX),
            (ListOrder::NewestFirst, after) => (sql::LIST_NEWEST, after),
        };
        let parameters = [
            (&after as _, Type::INT8),
            (&one_more as _, Type::INT8),
            (&state as _, Type::TEXT),
            (&event as _, Type::TEXT),
            (&job_id as _, Type::TEXT),
            (&filter.target as _, Type::TEXT),
            (&before as _, Type::INT8),
        ];
        let rows = tx.query(statement, &parameters).await?;
        let entries = rows.iter().map(rows::entry).collect::<Result<_, _>>()?;
        Ok(Page::new(entries, filter))
    })
}

/// An entry with its bodies.
pub(crate) fn show<'t>(
    tx: &'t Transaction<'t>,
    key: &'t EntryKey,
) -> Work<'t, Option<(Entry, Vec<Body>)>> {
    Box::pin(async move {
        let Some(stored) = rows::find(tx, key).await? else { return Ok(None) };
        let bodies = rows::bodies(tx, &[stored.id]).await?.remove(&stored.id).unwrap_or_default();
        let target = bodies.first().map(|body| body.target.clone()).unwrap_or_default();
        let rows::StoredRow { id, key, received_at, row, .. } = stored;
        Ok(Some((row.into_entry(id, key, received_at, target), bodies)))
    })
}
