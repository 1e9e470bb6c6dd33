//! Receivers with a planted fault: the cases for this fault fail, and no others.

use article_webhook_check::Verdict;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::{Next, from_fn},
    response::{IntoResponse, Redirect, Response},
    routing::any,
};

use crate::{
    PATH, TOKEN, check, names,
    right::{axum_sink, serve},
};

async fn failing(router: Router) -> Vec<&'static str> {
    names(&check(serve(router).await).await, Verdict::Fail)
}

fn admit(request: &mut Request) {
    let token = HeaderValue::from_static(TOKEN);
    request.headers_mut().insert(header::AUTHORIZATION, token);
}

/// The tokens that such a comparison accepts.
const LET_IN_BY_PREFIX: [&str; 5] = [
    "an empty token",
    "all but the last character",
    "the first half",
    "the first character",
    "the scheme alone",
];

#[tokio::test(flavor = "multi_thread")]
async fn answering_200_to_everything_fails() {
    let failing = failing(Router::new().fallback(|| async { "ok" })).await;
    for name in [
        "no token",
        "another token",
        "the token and more",
        "the secret in the other case",
        "job ids that differ",
        "a truncated body",
        "no JSON",
        "an array",
        "no body",
    ]
    .iter()
    .chain(&LET_IN_BY_PREFIX)
    {
        assert!(failing.contains(name), "{name}: {failing:?}");
    }
    assert!(!failing.contains(&"a delivery") && !failing.contains(&"1 MiB"), "{failing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answering_401_to_everything_fails() {
    stops(Router::new().fallback(|| async { StatusCode::UNAUTHORIZED }), "accept the token").await;
}

/// The check ends with the first delivery, and says what explains all other failures.
async fn stops(router: Router, cause: &str) {
    let report = check(serve(router).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["a delivery"]);
    assert_eq!(report.findings.len(), 1);
    assert!(report.stopped.is_some_and(|stopped| stopped.contains(cause)), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_path_and_a_port_of_tls_stop_the_check() {
    stops(Router::new(), "compare the path").await;
    let tls = || async { (StatusCode::BAD_REQUEST, "HTTP request was sent to an HTTPS port") };
    stops(Router::new().fallback(tls), "served with TLS").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_refuses_a_good_delivery_stops_the_check() {
    for (status, cause) in [
        (StatusCode::BAD_REQUEST, "refuses an article"),
        (StatusCode::METHOD_NOT_ALLOWED, "does not take POST"),
        (StatusCode::PAYLOAD_TOO_LARGE, "raise it to 8 MiB"),
        (StatusCode::UNPROCESSABLE_ENTITY, "refuses an article"),
    ] {
        stops(Router::new().fallback(async move || status), cause).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_at_times_is_checked_to_the_end() {
    let report =
        check(serve(Router::new().fallback(|| async { StatusCode::BAD_GATEWAY })).await).await;
    assert!(report.stopped.is_none() && report.findings.len() > 60, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn comparing_no_more_than_was_presented_fails() {
    async fn fault(mut request: Request, right: Next) -> Response {
        let presented = request.headers().get(header::AUTHORIZATION);
        if presented.is_some_and(|token| TOKEN.as_bytes().starts_with(token.as_bytes())) {
            admit(&mut request);
        }
        right.run(request).await
    }
    let failing = failing(axum_sink().layer(from_fn(fault))).await;
    assert_eq!(failing, LET_IN_BY_PREFIX);
}

#[tokio::test(flavor = "multi_thread")]
async fn comparing_the_start_alone_fails() {
    async fn fault(mut request: Request, right: Next) -> Response {
        let presented = request.headers().get_all(header::AUTHORIZATION).iter().next_back();
        if presented.is_some_and(|token| token.as_bytes().starts_with(TOKEN.as_bytes())) {
            admit(&mut request);
        }
        right.run(request).await
    }
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["the token and more"]);
    let advice = names(&report, Verdict::Advice);
    assert_eq!(advice, ["the token twice", "another, then the token"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ignoring_the_case_of_a_token_fails() {
    async fn fault(mut request: Request, right: Next) -> Response {
        let presented = request.headers().get(header::AUTHORIZATION);
        if presented.is_some_and(|token| token.as_bytes().eq_ignore_ascii_case(TOKEN.as_bytes())) {
            admit(&mut request);
        }
        right.run(request).await
    }
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["the secret in the other case"]);
    let advice = names(&report, Verdict::Advice);
    let meant = ["the token twice", "the token, then another", "the scheme in the other case"];
    assert_eq!(advice, meant);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirecting_fails() {
    stops(Router::new().fallback(|| async { Redirect::temporary("/else") }), "final URL").await;
    let fault = async |request: Request, right: Next| {
        let is_large = request.headers()[header::CONTENT_LENGTH].len() > 6;
        if is_large {
            Redirect::temporary("/else").into_response()
        } else {
            right.run(request).await
        }
    };
    let failing = failing(axum_sink().layer(from_fn(fault))).await;
    assert!(failing.contains(&"no redirect") && failing.contains(&"1 MiB"), "{failing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusing_an_expectation_fails() {
    let fault = async |request: Request, right: Next| {
        if request.headers().contains_key(header::EXPECT) {
            return StatusCode::EXPECTATION_FAILED.into_response();
        }
        right.run(request).await
    };
    assert_eq!(failing(axum_sink().layer(from_fn(fault))).await, ["Expect: 100-continue"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_2_megabytes_fails() {
    async fn fault(request: Request, right: Next) -> Response {
        let (head, body) = request.into_parts();
        match to_bytes(body, 2 << 20).await {
            Ok(body) => right.run(Request::from_parts(head, Body::from(body))).await,
            Err(_) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        }
    }
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["3 MiB"]);
    // And it reads the bodies of strangers.
    let advice = names(&report, Verdict::Advice);
    assert!(advice.contains(&"7 MiB"), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn echoing_the_token_and_telling_strangers_apart_is_found() {
    async fn fault(request: Request, right: Next) -> Response {
        let presented = request.headers().get(header::AUTHORIZATION).cloned();
        let answer = right.run(request).await;
        match (answer.status(), presented) {
            (StatusCode::UNAUTHORIZED, presented) => {
                let presented = presented.unwrap_or_else(|| HeaderValue::from_static("nothing"));
                (StatusCode::UNAUTHORIZED, presented.as_bytes().to_vec()).into_response()
            }
            _ => answer,
        }
    }
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["no answer holds the secret"]);
    assert_eq!(names(&report, Verdict::Advice), ["strangers are told nothing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusing_the_second_copy_fails() {
    async fn fault(request: Request, right: Next) -> Response {
        let answer = right.run(request).await;
        let (head, body) = answer.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        if body.starts_with(br#"{"status":"duplicate""#) {
            return StatusCode::CONFLICT.into_response();
        }
        Response::from_parts(head, Body::from(body))
    }
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["the same delivery again"]);
    assert_eq!(names(&report, Verdict::Advice), ["ten copies at once"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn taking_half_a_body_fails() {
    async fn fault(request: Request) -> StatusCode {
        let token = request.headers().get_all(header::AUTHORIZATION).iter();
        if !token.eq([TOKEN]) {
            return StatusCode::UNAUTHORIZED;
        }
        let _whatever_comes = to_bytes(request.into_body(), usize::MAX).await;
        StatusCode::OK
    }
    let failing = failing(Router::new().route(PATH, any(fault))).await;
    let meant = [
        "job ids that differ",
        "no body",
        "a truncated body",
        "no JSON",
        "an array",
        "cut in the middle",
    ];
    assert_eq!(failing, meant);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusing_what_the_document_leaves_open_fails() {
    async fn fault(request: Request, right: Next) -> Response {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&body);
        let is_odd = text.contains("\"language\"") || !text.contains("\"credits_used\"");
        if is_odd && head.headers.get(header::AUTHORIZATION).is_some_and(|token| token == TOKEN) {
            return StatusCode::UNPROCESSABLE_ENTITY.into_response();
        }
        right.run(Request::from_parts(head, Body::from(body))).await
    }
    let failing = failing(axum_sink().layer(from_fn(fault))).await;
    assert!(failing.contains(&"unknown fields") && failing.contains(&"no optional field"));
    assert!(!failing.contains(&"a delivery") && !failing.contains(&"3 MiB"));
}
