//! What the buttons of the page do.

use std::{panic::resume_unwind, sync::Arc, time::SystemTime};

use article_webhook_inbox::{EntryKey, Filter, State as EntryState};
use axum::{
    body::Bytes,
    extract::{FromRequest, Path, RawQuery, Request, State},
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderValue, header};
use url::form_urlencoded;

use super::{
    access::Refusal,
    entry_path::key_of,
    query::Query,
    shared::Shared,
    view::{components::entry_path, missed::Missed},
};

/// A form that has the token of this page. Every change asks for one.
pub(super) struct Form(Bytes);

impl FromRequest<Arc<Shared>> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, shared: &Arc<Shared>) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        // A script's `fetch` adds the character set.
        let kind = kind.and_then(|kind| kind.split(|byte| *byte == b';').next());
        let is_form = kind == Some(b"application/x-www-form-urlencoded");
        let form = Bytes::from_request(request, shared).await;
        let form = Self(form.map_err(IntoResponse::into_response)?);
        match is_form && form.value("token").is_some_and(|token| shared.access.token.is(&token)) {
            true => Ok(form),
            false => Err(Missed::from(Refusal::Token).into_response()),
        }
    }
}

impl Form {
    fn value(&self, wanted: &str) -> Option<String> {
        let found = form_urlencoded::parse(&self.0).find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.into_owned())
    }
}

/// Lets an entry be handled again that is not done.
pub(super) async fn requeue(
    State(shared): State<Arc<Shared>>,
    Path((job, event)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    _: Form,
) -> Result<Redirect, Missed> {
    let key = key_of(&job, &event).ok_or(Missed::Gone)?;
    // A list reads no bodies.
    let filter = Filter {
        event: Some(key.event.clone()),
        job_id: Some(key.job_id.clone()),
        limit: 1,
        ..Filter::default()
    };
    let entry = shared.inbox.list(filter).await?.items.pop().ok_or(Missed::Gone)?;
    match entry.state {
        EntryState::Done => Ok(back(&shared, &key, query.as_deref(), "changed")),
        EntryState::Leased => Ok(back(&shared, &key, query.as_deref(), "leased")),
        state => changed(&shared, &key, query.as_deref(), state, "requeued").await,
    }
}

/// Requeues the entries that the query names, all of them or the first: those of one state alone that needs a person.
pub(super) async fn requeue_group(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    form: Form,
) -> Result<Redirect, Missed> {
    let query = Query::parse(query.as_deref().unwrap_or_default());
    if !query.state.is_some_and(EntryState::needs_person) {
        return Err(Missed::Nothing);
    }
    let at_most = match form.value("first") {
        None => u64::MAX,
        Some(first) => first.parse().map_err(|_| Missed::Nothing)?,
    };
    let is_quarantine = query.state == Some(EntryState::Quarantined);
    let inbox = shared.inbox.clone();
    // A browser that leaves meanwhile does not end it halfway.
    let all = tokio::spawn(async move { inbox.requeue_first(query.filter(), at_most).await });
    let requeued = all.await.unwrap_or_else(|panicked| resume_unwind(panicked.into_panic()))?;
    let at = requeued.at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    Ok(Redirect::to(&shared.access.path(&match is_quarantine && requeued.count > 0 {
        // It becomes an entry of its own, which was never requeued.
        true => format!("/?read={}", requeued.count),
        false => format!("/?requeued={}", at.unwrap_or_default().as_millis()),
    })))
}

/// Hands out an entry again that is done.
pub(super) async fn replay(
    State(shared): State<Arc<Shared>>,
    Path((job, event)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    _: Form,
) -> Result<Redirect, Missed> {
    let key = key_of(&job, &event).ok_or(Missed::Gone)?;
    changed(&shared, &key, query.as_deref(), EntryState::Done, "replayed").await
}

/// Requeues it from this state alone: what the reader saw may have changed since.
async fn changed(
    shared: &Shared,
    key: &EntryKey,
    query: Option<&str>,
    from: EntryState,
    done: &str,
) -> Result<Redirect, Missed> {
    let store = shared.inbox.ledger();
    let requeued = store.requeue(vec![(key.clone(), Some(from))], store.now()).await?;
    if requeued != [true] {
        return Ok(back(shared, key, query, "changed"));
    }
    shared.inbox.wake();
    Ok(back(shared, key, query, done))
}

fn back(shared: &Shared, key: &EntryKey, query: Option<&str>, done: &str) -> Redirect {
    let list = Query::of_entry(query.unwrap_or_default());
    let query = list.for_entry(Some(("done", done)));
    Redirect::to(&format!("{}{query}", entry_path(shared, key)))
}

/// Does what a panel's button says.
pub(super) async fn panel(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    _: Form,
) -> Result<Redirect, Missed> {
    let panel = shared.panel.as_ref();
    let panel = panel.filter(|panel| panel.actions().iter().any(|action| action.name == name));
    panel.ok_or(Missed::Nothing)?.press(&name).await.map_err(Missed::NotDone)?;
    Ok(Redirect::to(&shared.access.path("/")))
}
