//! What the page answers to each request.

mod answer;
mod guard;
mod header;

mod article;
mod change;
mod entry;
mod event;
mod health;
mod ledger;
mod list;
mod refused;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, State},
    middleware,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;

use self::answer::{in_form, nothing};
use super::{asset, shared::Shared};

/// A form of the page has a token and nothing else.
const FORM_BYTES: usize = 4096;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let kept = Router::new()
        .route("/", get(list::list))
        .route("/events", get(event::events))
        .route("/ledger", get(ledger::ledger))
        .route("/refused", get(refused::list))
        .route("/health", get(health::health))
        .route("/entry/{job}/{event}", get(entry::entry))
        .route("/entry/{job}/{event}/body/{number}", get(entry::body))
        .route("/entry/{job}/{event}/article/{number}", get(article::article))
        .route("/entry/{job}/{event}/requeue", post(change::requeue))
        .route("/entry/{job}/{event}/replay", post(change::replay))
        .route("/requeue", post(change::requeue_group))
        .route("/panel/{name}", post(change::panel))
        .fallback(found_nothing)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::key));
    let page = Router::new()
        .route("/assets/page.css", get(async || asset::STYLE))
        .route("/assets/page.js", get(async || asset::SCRIPT))
        .route("/assets/icon.svg", get(async || asset::ICON))
        .merge(kept)
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), in_form))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::origin));
    Router::new()
        .nest(&shared.access.path("/"), page)
        .fallback(async || StatusCode::NOT_FOUND)
        .layer(middleware::from_fn(header::headers))
        .with_state(shared)
}

async fn found_nothing(State(shared): State<Arc<Shared>>) -> Response {
    nothing(&shared)
}
