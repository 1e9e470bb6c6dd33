//! What several routes take and answer.

use std::sync::Arc;

use article_inbox::{EntryKey, Error};
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;
use maud::Markup;

use crate::page::{shared::Shared, view};

pub(super) type Page = State<Arc<Shared>>;

/// The job and the event of an entry.
pub(super) type EntryPath = Path<(String, String)>;

/// The same, and the number of a body, counted from 1.
pub(super) type BodyPath = Path<(String, String, usize)>;

pub(super) fn key(job: &str, event: &str) -> Option<EntryKey> {
    Some(EntryKey { job_id: job.parse().ok()?, event: event.into() })
}

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
