//! The layers of tower-http, and axum's own limit.

use std::time::Duration;

use article_webhook_axum::{
    Delivery, Reply,
    fixture::{self, Defect, DeliveryRequestExt},
    receive,
};
use article_webhook_inbox::{Inbox, State};
use article_webhook_tests::log_buffer::LogBuffer;
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Request},
    routing::{get, post},
};
use http::{HeaderMap, StatusCode};
use tower::ServiceExt;
use tower_http::{
    catch_panic::CatchPanicLayer, compression::CompressionLayer, cors::CorsLayer,
    limit::RequestBodyLimitLayer, timeout::TimeoutLayer, trace::TraceLayer,
};

use crate::{long_article, page};

const TIMEOUT: Duration = Duration::from_secs(1);

fn routes() -> Router {
    Router::new()
        .route("/page", get(async || page()))
        .route("/length", post(async |body: Bytes| body.len().to_string()))
        .route("/slow", get(async || std::future::pending::<()>().await))
        .route("/panic", get(fails))
}

async fn fails() -> StatusCode {
    panic!("the application's")
}

fn layered(routes: Router) -> Router {
    routes
        .layer(DefaultBodyLimit::max(1024))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, TIMEOUT))
        .layer(CompressionLayer::new())
        .layer(CorsLayer::permissive())
        .layer(CatchPanicLayer::new())
        .layer(TraceLayer::new_for_http())
}

/// As a browser sends it.
fn from_browser(mut request: Request) -> Request {
    let headers = [("accept-encoding", "gzip"), ("origin", "https://blog.example")];
    for (name, value) in headers {
        request.headers_mut().insert(name, value.parse().expect("it is a legal value"));
    }
    request
}

async fn answer(app: &Router, request: Request) -> (u16, HeaderMap) {
    let response = app.clone().oneshot(from_browser(request)).await.expect("it is infallible");
    (response.status().as_u16(), response.headers().clone())
}

async fn status(app: &Router, path: &str, body: &'static str) -> u16 {
    let method = if body.is_empty() { "GET" } else { "POST" };
    let request = Request::builder().method(method).uri(path).body(Body::from(body));
    answer(app, request.expect("it is a request")).await.0
}

#[tokio::test]
async fn below_all_layers_an_article_is_stored_and_the_layers_do_their_work_beside_it() {
    let inbox = Inbox::memory();
    let receiving = post(receive(fixture::receiver(), inbox.clone()));
    let app = layered(routes().route("/articles", receiving));

    let (delivered, headers) = answer(&app, long_article().request("/articles")).await;
    assert_eq!(delivered, 200, "whatever the limit for other routes");
    assert_eq!(headers["access-control-allow-origin"], "*");
    assert_eq!(inbox.counts().await.expect("it is readable").of(State::Waiting), 1);
    for (defect, expected) in
        [(Defect::WrongToken, 401), (Defect::Compressed, 415), (Defect::TooDeep, 400)]
    {
        let forged = fixture::complete().defect(defect).request("/articles");
        assert_eq!(answer(&app, forged).await.0, expected, "{defect:?}");
    }

    let request = Request::get("/page").body(Body::empty()).expect("it is a request");
    let (shown, headers) = answer(&app, request).await;
    assert_eq!((shown, &headers["content-encoding"]), (200, &"gzip".parse().expect("legal")));
    assert_eq!(status(&app, "/length", "short").await, 200);
    let long: &'static str = "x".repeat(1025).leak();
    assert_eq!(status(&app, "/length", long).await, 413);
    assert_eq!(status(&app, "/panic", "").await, 500);
    tokio::time::pause();
    assert_eq!(status(&app, "/slow", "").await, 408);
}

#[tokio::test]
async fn a_time_limit_below_that_of_a_sink_answers_for_it_and_cuts_nothing() {
    let (stored, mut was_stored) = tokio::sync::mpsc::unbounded_channel();
    let sink = move |delivery: Delivery| {
        let stored = stored.clone();
        async move {
            tokio::time::sleep(TIMEOUT * 2).await;
            stored.send(delivery.job_id().to_string()).expect("the test waits");
            Reply::Stored
        }
    };
    let app = layered(Router::new().route("/", post(receive(fixture::receiver(), sink))));
    tokio::time::pause();
    let (delivered, _) = answer(&app, fixture::complete().job_id("job_slow").request("/")).await;
    assert_eq!(delivered, 408, "the service delivers it again");
    assert_eq!(was_stored.recv().await.as_deref(), Some("job_slow"));
}

/// The guide: no layer in front has a limit below the receiver's.
#[tokio::test]
async fn a_limit_for_all_bodies_is_one_for_articles_too() {
    let receiving = post(receive(fixture::receiver(), Inbox::memory()));
    let app = Router::new().route("/", receiving).layer(RequestBodyLimitLayer::new(1 << 20));
    assert_eq!(answer(&app, fixture::complete().request("/")).await.0, 200);
    assert_eq!(answer(&app, long_article().request("/")).await.0, 413);
}

#[tokio::test]
async fn the_log_of_requests_has_the_delivery_and_not_its_token() {
    static LOG: LogBuffer = LogBuffer::new();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(|| &LOG)
        .with_ansi(false)
        .finish();
    // For all threads: what the other tests log meanwhile has no token either.
    tracing::subscriber::set_global_default(subscriber).expect("it is the first");
    let app = layered(
        Router::new().route("/articles", post(receive(fixture::receiver(), Inbox::memory()))),
    );
    assert_eq!(answer(&app, fixture::complete().request("/articles")).await.0, 200);
    let log = LOG.text();
    assert!(log.contains("finished processing request") && log.contains("/articles"), "{log}");
    assert!(!log.contains(fixture::TOKEN), "{log}");
}
