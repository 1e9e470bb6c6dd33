use std::{panic::resume_unwind, time::SystemTime};

use article_webhook_inbox::{EntryKey, Error, Filter, State as EntryState};
use axum::{
    body::Bytes,
    extract::{Path, RawQuery, State},
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, StatusCode};
use url::form_urlencoded;

use super::{
    answer::{EntryPath, Page, failed, gone, key, nothing},
    guard::{check_form, refused},
};
use crate::page::{query::Query, shared::Shared, view};

/// Lets an entry be handled again that is not done.
pub(super) async fn requeue(
    State(shared): Page,
    Path((job, event)): EntryPath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    if let Err(refusal) = check_form(&shared, &headers, &form) {
        return refused(&shared, refusal);
    }
    let Some(key) = key(&job, &event) else { return gone(&shared) };
    let list = Query::of_entry(query.as_deref().unwrap_or_default());
    // A list reads no bodies.
    let filter = Filter {
        event: Some(key.event.clone()),
        job_id: Some(key.job_id.clone()),
        limit: 1,
        ..Filter::default()
    };
    let found = match shared.inbox.list(filter).await {
        Ok(page) => page.entries.into_iter().next(),
        Err(error) => return failed(&shared, error),
    };
    match found.map(|entry| entry.state) {
        None => gone(&shared),
        Some(EntryState::Done) => back(&shared, &key, &list, "changed"),
        Some(EntryState::Leased) => back(&shared, &key, &list, "leased"),
        Some(state) => changed(&shared, &key, &list, state, "requeued").await,
    }
}

/// Requeues the entries that the query names, all of them or the first: those of one state alone that needs a person.
pub(super) async fn requeue_group(
    State(shared): Page,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    if let Err(refusal) = check_form(&shared, &headers, &form) {
        return refused(&shared, refusal);
    }
    let query = Query::parse(query.as_deref().unwrap_or_default());
    if !query.state.is_some_and(EntryState::needs_person) {
        return nothing(&shared);
    }
    let first = form_urlencoded::parse(&form).find(|(name, _)| name == "first");
    let at_most = match first.map(|(_, value)| value.parse()) {
        None => u64::MAX,
        Some(Ok(at_most)) => at_most,
        Some(Err(_)) => return nothing(&shared),
    };
    let is_quarantine = query.state == Some(EntryState::Quarantined);
    let inbox = shared.inbox.clone();
    // A browser that leaves meanwhile does not end it halfway.
    let all = tokio::spawn(async move { inbox.requeue_first(query.filter(), at_most).await });
    match all.await.unwrap_or_else(|panicked| resume_unwind(panicked.into_panic())) {
        // It becomes an entry of its own, which was never requeued.
        Ok(requeued) if is_quarantine && requeued.count > 0 => {
            let count = requeued.count;
            Redirect::to(&shared.access.path(&format!("/?read={count}"))).into_response()
        }
        Ok(requeued) => {
            let at = requeued.at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            let at = at.unwrap_or_default().as_millis();
            Redirect::to(&shared.access.path(&format!("/?requeued={at}"))).into_response()
        }
        Err(error) => failed(&shared, error),
    }
}

/// Hands out an entry again that is done.
pub(super) async fn replay(
    State(shared): Page,
    Path((job, event)): EntryPath,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    if let Err(refusal) = check_form(&shared, &headers, &form) {
        return refused(&shared, refusal);
    }
    let Some(key) = key(&job, &event) else { return gone(&shared) };
    let list = Query::of_entry(query.as_deref().unwrap_or_default());
    changed(&shared, &key, &list, EntryState::Done, "replayed").await
}

/// Requeues it from this state alone: what the reader saw may have changed since.
async fn changed(
    shared: &Shared,
    key: &EntryKey,
    list: &Query,
    from: EntryState,
    done: &str,
) -> Response {
    let store = shared.inbox.ledger();
    let requeued: Result<Vec<bool>, Error> =
        store.requeue(vec![(key.clone(), Some(from))], store.now()).await;
    match requeued {
        Ok(requeued) if requeued == [true] => {
            shared.inbox.wake();
            back(shared, key, list, done)
        }
        Ok(_) => back(shared, key, list, "changed"),
        Err(error) => failed(shared, error),
    }
}

fn back(shared: &Shared, key: &EntryKey, list: &Query, done: &str) -> Response {
    let query = list.for_entry(Some(("done", done)));
    Redirect::to(&format!("{}{query}", view::entry_path(shared, key))).into_response()
}

/// Does what a panel's button says.
pub(super) async fn panel(
    State(shared): Page,
    Path(name): Path<String>,
    headers: HeaderMap,
    form: Bytes,
) -> Response {
    if let Err(refusal) = check_form(&shared, &headers, &form) {
        return refused(&shared, refusal);
    }
    let Some(panel) = &shared.panel else { return nothing(&shared) };
    if !panel.actions().iter().any(|action| action.name == name) {
        return nothing(&shared);
    }
    match panel.press(&name).await {
        Ok(()) => Redirect::to(&shared.access.path("/")).into_response(),
        Err(why) => (StatusCode::CONFLICT, view::not_done(&shared, &why)).into_response(),
    }
}
