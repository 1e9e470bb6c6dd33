//! The servers on axum.

use std::{hint::black_box, net::TcpListener};

use article_webhook_axum::{ArticleComplete, fixture};
use axum::{
    Json, Router,
    body::Bytes,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode},
    routing::post,
};

use crate::common::owned::OwnedResult;
use crate::role::Handler;

pub(crate) fn serve(listener: TcpListener, handler: Handler) {
    let route = match handler {
        Handler::Article => post(article),
        Handler::Json => post(json),
        Handler::Buffering => post(buffering).layer(DefaultBodyLimit::disable()),
    };
    let app = Router::new().route("/", route).with_state(fixture::receiver());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime starts");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("the socket is open");
        let listener = tokio::net::TcpListener::from_std(listener).expect("it is non-blocking");
        axum::serve(listener, app).await.expect("it never ends");
    });
}

async fn article(ArticleComplete(result, ..): ArticleComplete) {
    black_box(result);
}

async fn json(Json(result): Json<OwnedResult>) {
    black_box(result);
}

async fn buffering(headers: HeaderMap, body: Bytes) -> StatusCode {
    let token = headers.get("authorization");
    if token.is_none_or(|token| token != fixture::TOKEN) {
        return StatusCode::UNAUTHORIZED;
    }
    black_box(body);
    StatusCode::OK
}
