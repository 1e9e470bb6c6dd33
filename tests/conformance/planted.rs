//! Receivers that are wrong on purpose: this suite must distinguish them from the right one.

use std::{collections::BTreeSet, time::Duration};

use article_webhook::{Receiver, Reply, Sink};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::{Next, from_fn},
    response::Response,
    routing::any,
};

use crate::{
    application::Application,
    call_log::Ledger,
    request::TOKEN,
    run::run,
    site::{Site, Style},
    table,
    targets::{
        axum::{router, serve},
        server::{Framework, Mount, Server},
    },
    wire::hang_up::{Farewell, WaitingSink},
};

fn server(router: Router, ledger: Ledger) -> Server {
    Server {
        framework: Framework::Axum,
        address: serve(router),
        ledger,
        // Only a wrong receiver lets it run out.
        timeout: Duration::from_secs(2),
    }
}

/// Holds the rows of these situations against the right receiver behind a fault: the first ones disagree, and no others.
fn catches(fault: fn(Router) -> Router, wrong: &[&'static str], right: &[&'static str]) {
    let ledger = Ledger::default();
    let router = router(&Mount::all(&ledger));
    let server = server(fault(router), ledger);
    let mut rows = table::rows();
    rows.retain(|row| wrong.contains(&row.situation) || right.contains(&row.situation));
    assert_eq!(rows.len(), wrong.len() + right.len(), "each situation is one row");
    let disagreements = run(&server, &rows).disagreements;
    let caught: BTreeSet<_> = disagreements.iter().map(|found| found.situation).collect();
    assert_eq!(caught, wrong.iter().copied().collect());
}

fn authorization(request: &Request) -> Option<&[u8]> {
    let value = request.headers().get(header::AUTHORIZATION);
    value.map(HeaderValue::as_bytes)
}

fn admit(request: &mut Request) {
    let token = HeaderValue::from_static(TOKEN);
    request.headers_mut().insert(header::AUTHORIZATION, token);
}

#[test]
fn the_right_receiver_is_not_caught() {
    let situations = [
        "the token",
        "no Authorization",
        "a job id and nothing else",
        "3 MiB",
        "a stranger's 64 KiB and a byte",
    ];
    catches(|router| router, &[], &situations);
}

#[test]
fn comparing_no_more_than_was_presented_is_caught() {
    async fn fault(mut request: Request, right: Next) -> Response {
        let presented = authorization(&request);
        if presented.is_some_and(|presented| TOKEN.as_bytes().starts_with(presented)) {
            admit(&mut request);
        }
        right.run(request).await
    }
    let (wrong, right) = (
        [
            "Authorization is empty",
            "the token's first half",
            "the scheme word alone",
            "all but the last byte",
        ],
        ["another last byte", "the token"],
    );
    catches(|router| router.layer(from_fn(fault)), &wrong, &right);
}

#[test]
fn distinguishing_strangers_is_caught_even_by_the_order_of_headers() {
    async fn fault(request: Request, right: Next) -> Response {
        let is_missing = authorization(&request).is_none();
        let mut response = right.run(request).await;
        if is_missing {
            let headers = response.headers_mut();
            let scheme = headers.remove(header::CONTENT_TYPE);
            headers.extend(scheme.map(|scheme| (header::CONTENT_TYPE, scheme)));
        }
        response
    }
    // The first stranger of the table sets the measure, and this is the other one.
    let (wrong, right) = (["another token"], ["no Authorization", "the token"]);
    catches(|router| router.layer(from_fn(fault)), &wrong, &right);
}

#[test]
fn reading_the_body_before_the_token_is_caught() {
    async fn fault(request: Request, right: Next) -> Response {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        right.run(Request::from_parts(head, body.into())).await
    }
    let (wrong, right) = (["a stranger's 64 KiB and a byte"], ["no Authorization", "the token"]);
    catches(|router| router.layer(from_fn(fault)), &wrong, &right);
}

#[test]
fn writing_the_body_again_is_caught() {
    async fn fault(request: Request, right: Next) -> Response {
        let (mut head, body) = request.into_parts();
        let mut body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        // The last of two equal keys wins, and white space is gone.
        let rewritten = serde_json::from_slice::<serde_json::Map<_, _>>(&body)
            .and_then(|object| serde_json::to_vec(&object));
        if let Some(rewritten) = rewritten.ok().filter(|rewritten| rewritten.len() < body.len()) {
            body = rewritten.into();
            head.headers.remove(header::CONTENT_LENGTH);
        }
        right.run(Request::from_parts(head, body.into())).await
    }
    let (wrong, right) = (
        ["white space between all", "the title twice", "the job id twice, by an escape"],
        ["an opening brace", "the token"],
    );
    catches(|router| router.layer(from_fn(fault)), &wrong, &right);
}

#[test]
fn closing_where_the_connection_could_be_used_is_caught() {
    async fn fault(request: Request, right: Next) -> Response {
        let mut response = right.run(request).await;
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
        response
    }
    let (wrong, right) = (["no Authorization", "the token"], ["8 MiB and a byte, declared"]);
    catches(|router| router.layer(from_fn(fault)), &wrong, &right);
}

#[test]
fn a_sink_that_runs_in_the_request_is_caught() {
    async fn fault(request: Request, receiver: Receiver, sink: Application) -> Response {
        let answer = |status| {
            let response = Response::builder().status(status).body(Body::empty());
            response.expect("a status is a response")
        };
        let Ok(envelope) = receiver.open(request.headers()) else {
            return answer(StatusCode::UNAUTHORIZED);
        };
        let body = to_bytes(request.into_body(), usize::MAX).await;
        let Ok(delivery) = envelope.read(body.unwrap_or_default()) else {
            return answer(StatusCode::BAD_REQUEST);
        };
        match sink.accept(delivery).await {
            Reply::Stored => answer(StatusCode::OK),
            _ => answer(StatusCode::SERVICE_UNAVAILABLE),
        }
    }
    let sink = WaitingSink::new();
    let Mount { receiver, application, .. } = sink.mount.clone();
    let handler = any(move |request| fault(request, receiver, application));
    let path = Site::Default.path(Style::Receive);
    let server = server(Router::new().route(&path, handler), sink.ledger.clone());
    assert!(!sink.finishes_alone(&server, Style::Receive, Farewell::Close));
}
