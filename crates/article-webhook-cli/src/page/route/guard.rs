use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use url::form_urlencoded;

use crate::page::{
    access::{Access, Refusal},
    shared::{Buttons, Shared},
    view,
};

/// Refuses what comes under a stranger's name or from a stranger's page.
pub(super) async fn origin(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    match Access::check_origin(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused(&shared, refusal),
    }
}

/// Refuses who does not have the cookie, and gives it for the key.
pub(super) async fn key(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    if has_key(&shared, &request) {
        let cookie = shared.access.cookie();
        let cookie = HeaderValue::from_str(&cookie).expect("hex digits are a header's value");
        return ([(header::SET_COOKIE, cookie)], view::opening(&shared.access)).into_response();
    }
    if let Err(refusal) = shared.access.check_cookie(request.headers()) {
        return refused(&shared, refusal);
    }
    if request.method() != Method::GET
        && request.method() != Method::HEAD
        && shared.buttons == Buttons::Left
    {
        return refused(&shared, Refusal::ReadOnly);
    }
    next.run(request).await
}

fn has_key(shared: &Shared, request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    request.method() == Method::GET
        && request.uri().path() == "/"
        && pairs.any(|(name, value)| name == "key" && shared.access.key.is(&value))
}

/// Whether a form has the token of this page.
pub(super) fn check_form(shared: &Shared, headers: &HeaderMap, form: &[u8]) -> Result<(), Refusal> {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    // A script's `fetch` adds the character set.
    let kind = kind.and_then(|kind| kind.split(|byte| *byte == b';').next());
    let is_form = kind == Some(b"application/x-www-form-urlencoded");
    let mut pairs = form_urlencoded::parse(form);
    match is_form && pairs.any(|(name, value)| name == "token" && shared.access.token.is(&value)) {
        true => Ok(()),
        false => Err(Refusal::Token),
    }
}

pub(super) fn refused(shared: &Shared, refusal: Refusal) -> Response {
    let status = match refusal {
        Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
        Refusal::NoKey => StatusCode::UNAUTHORIZED,
        Refusal::ForeignPage | Refusal::ReadOnly | Refusal::Token => StatusCode::FORBIDDEN,
    };
    (status, view::refused(&shared.access, refusal)).into_response()
}
