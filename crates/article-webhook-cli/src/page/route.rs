//! What the page answers to each request.

mod article;
mod change;
mod entry;
mod event;
mod guard;
mod header;
mod health;
mod ledger;
mod list;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Path, State},
    middleware,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use http::StatusCode;
use maud::Markup;

use super::{asset, shared::Shared, view};

type Page = State<Arc<Shared>>;

/// A form of the page has a token and nothing else.
const FORM_BYTES: usize = 4096;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let kept = Router::new()
        .route("/", get(list::list))
        .route("/events", get(event::events))
        .route("/ledger", get(ledger::ledger))
        .route("/health", get(health::health))
        .route("/entry/{job}/{event}", get(entry::entry))
        .route("/entry/{job}/{event}/body/{number}", get(entry::body))
        .route("/entry/{job}/{event}/article/{number}", get(article::article))
        .route("/entry/{job}/{event}/requeue", post(change::requeue))
        .route("/entry/{job}/{event}/replay", post(change::replay))
        .route("/panel/{name}", post(change::panel))
        .fallback(found_nothing)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::key));
    Router::new()
        .route("/assets/page.css", get(async || asset::STYLE))
        .route("/assets/page.js", get(async || asset::SCRIPT))
        .route("/assets/icon.svg", get(async || asset::ICON))
        .merge(kept)
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(middleware::from_fn(guard::origin))
        .layer(middleware::from_fn(header::headers))
        .with_state(shared)
}

async fn found_nothing(State(shared): Page) -> Response {
    nothing(&shared)
}

fn nothing(shared: &Shared) -> Response {
    (StatusCode::NOT_FOUND, view::found_nothing(shared)).into_response()
}

/// The number of a body, in the path of an entry.
type BodyPath = Path<(String, String, usize)>;

/// The store cannot be read or written now.
fn failed(shared: &Shared, error: article_inbox::Error) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, view::store_failed(shared, error)).into_response()
}

fn page(result: Result<Markup, article_inbox::Error>, shared: &Shared) -> Response {
    match result {
        Ok(markup) => markup.into_response(),
        Err(error) => failed(shared, error),
    }
}
