use std::time::SystemTime;

use article_webhook_inbox::{Entry, EntryKey, Error, Filter, ListOrder};
use axum::{
    extract::{Path, RawQuery, State},
    response::{IntoResponse, Response},
};
use http::header;
use url::form_urlencoded;

use super::answer::{BodyPath, EntryPath, Page, failed, gone, key};
use crate::page::{
    query::Query,
    shared::Shared,
    view::{self, Shown},
};

/// What a change says on the page of its entry. The URL has the name, so that it can say nothing else.
const NOTICES: [(&str, &str); 4] = [
    ("requeued", "Requeued: it is due now, with all its attempts."),
    ("replayed", "Handed out again: it is due now, with all its attempts."),
    ("leased", "Nothing was changed: a worker has it now."),
    ("changed", "Nothing was changed: it is not as it was shown any more."),
];

pub(super) async fn entry(
    State(shared): Page,
    Path((job, event)): EntryPath,
    RawQuery(query): RawQuery,
) -> Response {
    let Some(key) = key(&job, &event) else { return gone(&shared) };
    match read(&shared, key, query.as_deref().unwrap_or_default()).await {
        Ok(Some(shown)) => view::entry(&shared, &shown).into_response(),
        Ok(None) => gone(&shared),
        Err(error) => failed(&shared, error),
    }
}

async fn read(shared: &Shared, key: EntryKey, query: &str) -> Result<Option<Shown>, Error> {
    let job = shared.inbox.ledger().job(key.job_id.clone()).await?;
    let Some((entry, bodies)) = shared.inbox.show(key).await? else { return Ok(None) };
    let value = |wanted: &str| {
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == wanted).map(|it| it.1)
    };
    let chosen = value("body").and_then(|number| number.parse().ok());
    let chosen = chosen.filter(|number| (1..=bodies.len()).contains(number));
    let notice = value("done").and_then(|done| NOTICES.iter().find(|(name, _)| *name == done));
    let notice = notice.map(|(_, text)| *text);
    let list = Query::of_entry(query);
    // A list that takes long to search costs its entry no more than these links.
    let newer = beside(shared, &entry, &list, ListOrder::OldestFirst).await.unwrap_or_default();
    let older = beside(shared, &entry, &list, ListOrder::NewestFirst).await.unwrap_or_default();
    let now = SystemTime::now();
    Ok(Some(Shown { entry, bodies, job, chosen, notice, list, newer, older, now }))
}

/// The entry after this one in an order of its list. It may itself have left the list.
async fn beside(
    shared: &Shared,
    entry: &Entry,
    list: &Query,
    order: ListOrder,
) -> Result<Option<EntryKey>, Error> {
    let filter = Filter { after: entry.id, order, limit: 1, ..list.filter() };
    Ok(shared.inbox.list(filter).await?.entries.pop().map(|entry| entry.key))
}

/// A body as it came, to be saved. No browser shows it as a page.
pub(super) async fn body(State(shared): Page, Path((job, event, number)): BodyPath) -> Response {
    let Some(key) = key(&job, &event) else { return gone(&shared) };
    let found = match shared.inbox.show(key).await {
        Ok(found) => found,
        Err(error) => return failed(&shared, error),
    };
    let bodies = found.map(|(_, bodies)| bodies).unwrap_or_default();
    let body = number.checked_sub(1).and_then(|index| bodies.into_iter().nth(index));
    let Some(bytes) = body.and_then(|body| body.bytes) else { return gone(&shared) };
    let name = format!("attachment; filename=\"body-{number}.json\"");
    let headers =
        [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_DISPOSITION, &name)];
    (headers, bytes).into_response()
}
