//! Leaks that are planted, and must be found.

use std::net::SocketAddr;

use article_webhook::{Delivery, Receiver, Reply};
use axum::{Router, routing::any};

use crate::{
    canary::Canaries,
    client,
    observe::{log, observe},
    servers,
    site::Site,
    situation,
};

/// Delivers one article to a sink that has a leak.
fn deliver<F, Fut>(canaries: &Canaries, job_id: &str, sink: F) -> SocketAddr
where
    F: Fn(Delivery) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Reply> + Send + 'static,
{
    observe();
    let receiver: Receiver = Site::Stores.receiver(canaries);
    let sink = any(article_webhook_axum::receive(receiver, sink));
    let address = servers::serve(Router::new().route("/", sink));
    let delivery = situation::delivery(canaries, job_id).into();
    client::send(address, "/", &delivery).expect("it is answered");
    address
}

#[test]
fn a_sink_that_logs_the_body_is_found() {
    let canaries = Canaries::new("job_logs");
    deliver(&canaries, "job_logs", |delivery| async move {
        tracing::trace!(target: "application", body = ?delivery.body());
        Reply::Stored
    });
    assert!(canaries.shown_in(&log())[0].starts_with("content, plain"));
}

#[test]
fn a_sink_that_logs_the_bytes_through_another_facade_is_found() {
    let canaries = Canaries::new("job_bytes");
    deliver(&canaries, "job_bytes", |delivery| async move {
        log::debug!("{:?}", delivery.body().to_vec());
        Reply::Stored
    });
    assert!(canaries.shown_in(&log())[0].starts_with("content, a list of bytes"));
}

#[test]
fn a_sink_that_panics_with_the_title_is_found() {
    let canaries = Canaries::new("job_panics");
    deliver(&canaries, "job_panics", |delivery| async move {
        panic!("no room for {}", delivery.decode().expect("it is an article").article.title)
    });
    assert!(canaries.shown_in(&log())[0].starts_with("content, plain"));
}

#[test]
fn a_type_that_shows_its_body_is_found() {
    #[derive(Debug)]
    #[expect(dead_code, reason = "it is there to be shown")]
    struct Row<'a> {
        token: &'a [u8],
    }
    let canaries = Canaries::new("job_row");
    let row = Row { token: canaries.token.as_bytes() };
    let shown = format!("{row:#?}");
    assert!(canaries.shown_in(&shown)[0].starts_with("token, a list of bytes"));
}
