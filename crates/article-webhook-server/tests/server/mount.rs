//! The receivers of this project behind this server: they answer for bodies that the server ends.

use std::sync::{Arc, Mutex};

use article_webhook::{
    Delivery, Refused, Rejection, Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use axum::{Router, routing::any};

use crate::common::*;

#[derive(Default)]
struct Ledger {
    stored: Mutex<Vec<String>>,
    refused: Mutex<Vec<(Rejection, Option<String>)>>,
}

impl Sink for Ledger {
    async fn accept(&self, delivery: Delivery) -> Reply {
        self.stored.lock().expect("no thread panics").push(delivery.job_id().to_string());
        Reply::Stored
    }

    fn refused(&self, refused: &Refused) {
        let job_id = refused.job_id().map(ToString::to_string);
        self.refused.lock().expect("no thread panics").push((*refused.rejection(), job_id));
    }
}

fn request(post: &DeliveryRequest) -> Vec<u8> {
    let mut request = b"POST / HTTP/1.1\r\nHost: receiver.test\r\n".to_vec();
    for (name, value) in post.headers() {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    [&request, &b"\r\n"[..], post.body()].concat()
}

async fn check(running: Running, ledger: Arc<Ledger>) {
    let whole = request(&DeliveryRequest::complete());
    let mut peer = running.connect().await;
    for _ in 0..2 {
        peer.send(&whole).await;
        assert!(peer.answer().await.ends_with(r#"{"status":"stored"}"#));
    }
    let mut stranger = running.connect().await;
    stranger.send(request(&DeliveryRequest::complete().token("Bearer guess"))).await;
    assert!(stranger.answer().await.starts_with("HTTP/1.1 401"));
    let mut stalled = running.connect().await;
    stalled.send(&whole[..whole.len() - 1]).await;
    let answer = stalled.rest().await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("connection: close"), "{answer}");
    let mut large = running.connect().await;
    large.send(request(&DeliveryRequest::article(1, 200_000))).await;
    let answer = large.rest().await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("connection: close"), "{answer}");

    assert_eq!(*ledger.stored.lock().expect("no thread panics"), ["job_7c1e4a52"; 2]);
    let job_id = Some("job_7c1e4a52".to_owned());
    let refused = ledger.refused.lock().expect("no thread panics");
    assert_eq!(*refused, [(Rejection::Timeout, job_id.clone()), (Rejection::Overloaded, job_id)]);
}

#[tokio::test]
async fn a_receiver_in_an_axum_router_answers_408_and_503_and_notifies_its_sink() {
    let ledger = Arc::new(Ledger::default());
    let receive = article_webhook_axum::receive(fixture::receiver(), ledger.clone());
    let app = Router::new().route("/", any(receive));
    check(Running::start(server().body_budget(100_000), app), ledger).await;
}

#[tokio::test]
async fn a_receiver_as_a_tower_service_answers_408_and_503_and_notifies_its_sink() {
    let ledger = Arc::new(Ledger::default());
    let receive = article_webhook_tower::receive(fixture::receiver(), ledger.clone());
    check(Running::start(server().body_budget(100_000), receive), ledger).await;
}
