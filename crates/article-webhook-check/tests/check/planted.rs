//! Receivers with a planted fault: the cases for this fault fail, and no others.

use article_webhook_check::{Check, CheckReport, Verdict, check_receiver};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::{Next, from_fn},
    response::{IntoResponse, Redirect, Response},
    routing::{any, get},
};

use crate::{
    PATH, TOKEN, check, names,
    right::{axum_sink, serve},
};

async fn failing(router: Router) -> Vec<&'static str> {
    found(router).await.0
}

/// The cases that fail, and those with advice.
async fn found(router: Router) -> (Vec<&'static str>, Vec<&'static str>) {
    let report = check(serve(router).await).await;
    (names(&report, Verdict::Fail), names(&report, Verdict::Advice))
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
    stops(Router::new().fallback(|| async { StatusCode::UNAUTHORIZED }), TOKEN_REFUSED).await;
}

const TOKEN_REFUSED: &str = "the receiver does not accept the token: give the whole Authorization header that it expects, scheme word \
    included, and look into its log";
const REDIRECTED: &str =
    "the URL is redirected, and the service does not follow: give the final URL";
const TOO_LARGE: &str = "an article of 500 words is over a limit for bodies: raise it to 8 MiB, in the framework and in every proxy";

/// What is wrong and how the check reports it, and then the report after its fix.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_stops_goes_on_once_its_cause_is_repaired_as_it_says() {
    let report = async |router: Router, path: &str, token: &str| {
        let url = format!("http://127.0.0.1:{}{path}", serve(router).await);
        check_receiver(&url, token).await.unwrap()
    };
    let moved = || axum_sink().route("/old", any(|| async { Redirect::temporary(PATH) }));
    let sound = report(axum_sink(), PATH, TOKEN).await;
    for (before, cause, after) in [
        (report(axum_sink(), PATH, "Bearer another-5f2b9c0e7a1d").await, TOKEN_REFUSED, &sound),
        (
            report(axum_sink(), "/else", TOKEN).await,
            "no receiver is at this path: compare the path of the URL with the route",
            &sound,
        ),
        (report(moved(), "/old", TOKEN).await, REDIRECTED, &report(moved(), PATH, TOKEN).await),
        (
            report(Router::new().route(PATH, get(|| async { "a page" })), PATH, TOKEN).await,
            "the route does not take POST: mount the receiver for POST, or for every method",
            &sound,
        ),
        (
            report(limited(2 << 10), PATH, TOKEN).await,
            TOO_LARGE,
            &report(limited(8 << 20), PATH, TOKEN).await,
        ),
    ] {
        assert_eq!(before.stopped, Some(cause), "{before}");
        assert_eq!(after.stopped, None, "{cause}");
        assert_eq!(names(after, Verdict::Fail), [""; 0], "{cause}: {after}");
    }
}

/// A receiver behind a layer with a limit for bodies.
fn limited(limit: usize) -> Router {
    axum_sink().layer(from_fn(move |request: Request, right: Next| async move {
        let (head, body) = request.into_parts();
        match to_bytes(body, limit).await {
            Ok(body) => right.run(Request::from_parts(head, Body::from(body))).await,
            Err(_) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        }
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_an_address_is_named_rightly() {
    let check = |host: &str, port| {
        let url = format!("http://{host}:{port}{PATH}");
        Check::builder(&url, TOKEN).allow_remote().build().unwrap()
    };
    let error = check("nothing.invalid", 80).run().await.unwrap_err();
    assert_eq!(error.to_string(), "the URL's host has no address: is its name right?");
    let port = serve(axum_sink()).await;
    assert!(check("localhost", port).run().await.unwrap().is_conformant());
}

/// The check ends with the first delivery, and says what explains all other failures.
async fn stops(router: Router, cause: &str) {
    let report = check(serve(router).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["a delivery"]);
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.stopped, Some(cause), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_of_tls_stops_the_check_and_the_port_behind_it_passes() {
    let tls = || async { (StatusCode::BAD_REQUEST, "HTTP request was sent to an HTTPS port") };
    stops(
        Router::new().fallback(tls),
        "the port is served with TLS, which this check does not speak: give the receiver's own port behind it",
    )
    .await;
    assert!(check(serve(axum_sink()).await).await.is_conformant());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_refuses_a_good_delivery_stops_the_check() {
    let cause = "the receiver refuses an article as the service sends it: its log or its answer should say why";
    for status in [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY] {
        stops(Router::new().fallback(async move || status), cause).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_cannot_store_is_checked_to_the_end() {
    async fn fault(request: Request, right: Next) -> Response {
        match right.run(request).await {
            taken if taken.status().is_success() => StatusCode::BAD_GATEWAY.into_response(),
            refused => refused,
        }
    }
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    assert!(report.stopped.is_none() && report.findings.len() > 60, "{report}");
}

/// A receiver that also lets in what is like its token, in any of the headers that came.
fn comparing(is_alike: fn(presented: &[&[u8]]) -> bool) -> Router {
    axum_sink().layer(from_fn(move |mut request: Request, right: Next| async move {
        let presented = request.headers().get_all(header::AUTHORIZATION).iter();
        if is_alike(&presented.map(HeaderValue::as_bytes).collect::<Vec<_>>()) {
            let token = HeaderValue::from_static(TOKEN);
            request.headers_mut().insert(header::AUTHORIZATION, token);
        }
        right.run(request).await
    }))
}

#[tokio::test(flavor = "multi_thread")]
async fn comparing_a_token_in_part_or_in_any_case_fails() {
    let prefix =
        comparing(|presented| presented.last().is_some_and(|it| TOKEN.as_bytes().starts_with(it)));
    assert_eq!(failing(prefix).await, LET_IN_BY_PREFIX);

    let start = found(comparing(|presented| {
        presented.last().is_some_and(|it| it.starts_with(TOKEN.as_bytes()))
    }))
    .await;
    let twice = vec!["the token twice", "another, then the token"];
    assert_eq!(start, (vec!["the token and more"], twice));

    let any_case = comparing(|presented| {
        presented.first().is_some_and(|it| it.eq_ignore_ascii_case(TOKEN.as_bytes()))
    });
    let (failing, advice) = found(any_case).await;
    assert_eq!(failing, ["the secret in the other case"]);
    let meant = ["the token twice", "the token, then another", "the scheme in the other case"];
    assert_eq!(advice, meant);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirecting_fails() {
    let fault = async |request: Request, right: Next| {
        let is_large = request.headers()[header::CONTENT_LENGTH].len() > 6;
        if is_large {
            Redirect::temporary("/else").into_response()
        } else {
            right.run(request).await
        }
    };
    let report = check(serve(axum_sink().layer(from_fn(fault))).await).await;
    let failing = names(&report, Verdict::Fail);
    assert!(failing.contains(&"no redirect") && failing.contains(&"1 MiB"), "{failing:?}");
    let fixes = |report: &CheckReport| {
        let found = report.findings.iter().find(|finding| finding.name == "no redirect").unwrap();
        (found.verdict, found.fix)
    };
    let fix = "configure the service with the final URL: scheme, host and trailing slash included";
    assert_eq!(fixes(&report), (Verdict::Fail, fix));
    assert_eq!(fixes(&check(serve(axum_sink()).await).await), (Verdict::Pass, fix));
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
    let report = check(serve(limited(2 << 20)).await).await;
    assert_eq!(names(&report, Verdict::Fail), ["3 MiB"]);
    // And it reads the bodies of strangers.
    let advice = names(&report, Verdict::Advice);
    assert!(advice.contains(&"7 MiB"), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn echoing_the_token_and_distinguishing_strangers_are_found() {
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
    let found = found(axum_sink().layer(from_fn(fault))).await;
    assert_eq!(found, (vec!["no answer holds the secret"], vec!["strangers learn nothing"]));
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
    let found = found(axum_sink().layer(from_fn(fault))).await;
    assert_eq!(found, (vec!["the same delivery again"], vec!["ten copies at once"]));
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
