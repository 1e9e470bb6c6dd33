use std::{
    future::{Ready, ready},
    task::{Context, Poll},
};

use article_webhook_server::ServerBody;
use axum::{Router, routing::get};
use http::{Request, Response};
use tower_service::Service;

use crate::common::*;

const INTERNAL: &str = r#"{"error":"internal","message":"the receiver failed"}"#;

/// Fails in the way that its path names.
#[derive(Clone)]
struct Failing {
    is_ready: bool,
}

impl Service<Request<ServerBody>> for Failing {
    type Response = Response<String>;
    type Error = &'static str;
    type Future = Ready<Result<Response<String>, &'static str>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        let result = if self.is_ready { Ok(()) } else { Err("a secret of poll_ready") };
        Poll::Ready(result)
    }

    fn call(&mut self, request: Request<ServerBody>) -> Self::Future {
        match request.uri().path() {
            // A panic without a message in the output of the tests.
            "/panic" => std::panic::resume_unwind(Box::new("a secret of the panic")),
            "/error" => ready(Err("a secret of the error")),
            _ => ready(Ok(Response::new("well".to_owned()))),
        }
    }
}

fn assert_internal(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    assert!(answer.contains("content-type: application/json\r\n"), "{answer}");
    assert!(answer.ends_with(INTERNAL), "{answer}");
}

#[tokio::test]
async fn a_service_that_panics_or_fails_gets_a_500_and_the_next_request_is_served() {
    let running = Running::start(server(), Failing { is_ready: true });
    for path in ["/panic", "/error"] {
        let mut peer = running.send(GET.replace("GET /", &format!("GET {path}"))).await;
        assert_internal(&peer.rest().await);
        let mut next = running.send(GET).await;
        assert!(next.answer().await.ends_with("well"));
    }
}

#[tokio::test]
async fn a_panic_after_the_call_and_a_service_that_is_never_ready_get_a_500_too() {
    async fn later() {
        tokio::task::yield_now().await;
        std::panic::resume_unwind(Box::new("late"));
    }
    for running in [
        Running::start(server(), Router::new().route("/", get(later))),
        Running::start(server(), Failing { is_ready: false }),
    ] {
        let mut peer = running.send(GET).await;
        assert_internal(&peer.rest().await);
    }
}
