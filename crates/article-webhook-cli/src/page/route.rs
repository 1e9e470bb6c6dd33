//! What the page answers to each request, and what it refuses.

mod ledger;

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{DefaultBodyLimit, Request, State},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{MethodRouter, get, post},
};
use futures_util::stream;
use http::{HeaderName, HeaderValue, Method, header};
use url::form_urlencoded;

use super::{
    access::{Access, Refusal},
    change,
    shared::Shared,
    view::{body, entry, health, list, missed, missed::Missed, refused_deliveries},
    watch,
};
use crate::secrets;

/// A form of the page has a token and nothing else.
const FORM_BYTES: usize = 4096;

/// How often a comment is sent where nothing changes. A page that was closed is noticed when it does not take one.
const BEAT: Duration = Duration::from_secs(2);

/// Own scripts and styles alone, no inline ones, nothing from elsewhere, and no frame around the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) fn router(shared: Arc<Shared>) -> Router {
    let kept = Router::new()
        .route("/", get(list::list))
        .route("/events", get(events))
        .route("/ledger", get(ledger::ledger))
        .route("/refused", get(refused_deliveries::refused_deliveries))
        .route("/health", get(health::health))
        .route("/entry/{job}/{event}", get(entry::entry))
        .route("/entry/{job}/{event}/body/{number}", get(body::download))
        .route("/entry/{job}/{event}/article/{number}", get(body::article))
        .route("/entry/{job}/{event}/requeue", post(change::requeue))
        .route("/entry/{job}/{event}/replay", post(change::replay))
        .route("/requeue", post(change::requeue_group))
        .route("/panel/{name}", post(change::panel))
        .fallback(async || Missed::Nothing)
        .layer(from_fn_with_state(Arc::clone(&shared), key));
    let page = Router::new()
        .route("/assets/page.css", asset("text/css; charset=utf-8", include_str!("asset/page.css")))
        .route(
            "/assets/page.js",
            asset("text/javascript; charset=utf-8", include_str!("asset/page.js")),
        )
        .route("/assets/icon.svg", asset("image/svg+xml", include_str!("asset/icon.svg")))
        .merge(kept)
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(from_fn(origin))
        .layer(from_fn_with_state(Arc::clone(&shared), in_form));
    Router::new()
        .nest(&shared.access.path("/"), page)
        .fallback(async || http::StatusCode::NOT_FOUND)
        .layer(from_fn(headers))
        .with_state(shared)
}

/// A file of the page, which is in the program and needs no key.
fn asset(kind: &'static str, text: &'static str) -> MethodRouter<Arc<Shared>> {
    get(async move || ([(header::CONTENT_TYPE, kind)], text))
}

/// Reports to an open page that something has changed. The page then loads itself again.
async fn events(State(shared): State<Arc<Shared>>) -> Result<impl IntoResponse, Missed> {
    let permit = Arc::clone(&shared.listeners).try_acquire_owned().map_err(|_| Missed::TooMany)?;
    let changes = (shared.watch.changes(), permit);
    let events = stream::unfold(changes, async |(mut changes, permit)| {
        let revision = watch::next(&mut changes).await?;
        let event = Event::default().event("change").data(format!("{revision:016x}"));
        Some((Ok::<_, Infallible>(event), (changes, permit)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(BEAT)))
}

/// What a browser may do with every answer. A route that sets one of these headers keeps its value.
async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // `no-referrer` would take the origin from the page's own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (OPENER, "same-origin"),
        (RESOURCE, "same-origin"),
    ] {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Gives the form of the page to what is missed, and to what the framework refuses with a word: a path or a body that cannot be read,
/// a method that a path does not have. Takes every secret that the tool has loaded out of what is shown. A body that is saved is an
/// exact copy, and no page.
async fn in_form(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let status = response.status();
    let is_html = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
    if let Some(missed) = response.extensions_mut().remove::<Missed>() {
        response = (status, missed.page(&shared)).into_response();
    } else if !response.headers().get(header::CONTENT_TYPE).is_some_and(is_html) {
        if !status.is_client_error() && !status.is_server_error() {
            return response;
        }
        let allowed = response.headers_mut().remove(header::ALLOW);
        response = (status, missed::not_taken(&shared.access, status)).into_response();
        response.headers_mut().extend(allowed.map(|allowed| (header::ALLOW, allowed)));
    }
    let (mut head, body) = response.into_parts();
    let html = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let html = secrets::removed(&String::from_utf8_lossy(&html)).into_owned();
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(html))
}

/// Refuses what comes under a stranger's name or from a stranger's page.
async fn origin(request: Request, next: Next) -> Result<Response, Missed> {
    Access::check_origin(request.method(), request.uri(), request.headers())?;
    Ok(next.run(request).await)
}

/// Refuses who does not have the cookie, and gives it for the key.
async fn key(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Result<Response, Missed> {
    if has_key(&shared, &request) {
        let cookie = shared.access.cookie();
        let cookie = HeaderValue::from_str(&cookie).expect("hex digits are a header's value");
        let page = missed::opening(&shared.access);
        return Ok(([(header::SET_COOKIE, cookie)], page).into_response());
    }
    shared.access.check_cookie(request.headers())?;
    let is_change = !matches!(*request.method(), Method::GET | Method::HEAD);
    if is_change && shared.is_read_only {
        return Err(Refusal::ReadOnly.into());
    }
    Ok(next.run(request).await)
}

fn has_key(shared: &Shared, request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    request.method() == Method::GET
        && request.uri().path() == "/"
        && pairs.any(|(name, value)| name == "key" && shared.access.key.is(&value))
}
