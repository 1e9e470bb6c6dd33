//! What several routes take and answer.

use std::sync::Arc;

use article_webhook_inbox::Error;
use axum::{
    body::{Body, to_bytes},
    extract::{Path, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use maud::Markup;

use crate::{
    page::{shared::Shared, view},
    secrets,
};

pub(super) use crate::page::entry_path::key_of as key;

pub(super) type Page = State<Arc<Shared>>;

/// The job and the event of an entry.
pub(super) type EntryPath = Path<(String, String)>;

/// The same, and the number of a body, counted from 1.
pub(super) type BodyPath = Path<(String, String, usize)>;

pub(super) fn page(result: Result<Markup, Error>, shared: &Shared) -> Response {
    match result {
        Ok(markup) => markup.into_response(),
        Err(error) => failed(shared, error),
    }
}

/// The store cannot be read or written now.
pub(super) fn failed(shared: &Shared, error: Error) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, view::store_failed(shared, error)).into_response()
}

pub(super) fn nothing(shared: &Shared) -> Response {
    (StatusCode::NOT_FOUND, view::found_nothing(shared)).into_response()
}

/// The entry is not there.
pub(super) fn gone(shared: &Shared) -> Response {
    (StatusCode::NOT_FOUND, view::gone(shared)).into_response()
}

/// Gives the form of the page to what is refused with a word, as the framework does: a path or a body that cannot be read, a
/// method that a path does not have.
pub(super) async fn in_form(State(shared): Page, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html")) {
        return without_secrets(response).await;
    }
    if !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let mut page = (status, view::not_taken(&shared.access, status)).into_response();
    if let Some(allowed) = response.headers().get(header::ALLOW) {
        page.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    page
}

/// The page with every secret that the tool has loaded taken out. A body that is saved is an exact copy, and no page.
async fn without_secrets(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    let html = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let html = secrets::removed(&String::from_utf8_lossy(&html)).into_owned();
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(html))
}
