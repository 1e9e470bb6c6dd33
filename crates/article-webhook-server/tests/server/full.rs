use std::{sync::Arc, time::Duration};

use axum::{Router, extract::Request, http::StatusCode, routing::any};
use http_body_util::BodyExt;
use tokio::{
    sync::{Notify, mpsc},
    time::sleep,
};

use crate::common::*;

/// An application that processes requests to `/` until it is released, and reports when one begins.
fn working() -> (Router, Arc<Notify>, mpsc::UnboundedReceiver<()>) {
    let (begun, begins) = mpsc::unbounded_channel();
    let release = Arc::new(Notify::new());
    let gate = release.clone();
    let work = any(async move |request: Request| {
        begun.send(()).expect("the test listens");
        let body = request.into_body().collect().await.expect("it is complete").to_bytes();
        gate.notified().await;
        body.len().to_string()
    });
    (Router::new().route("/", work).route("/quick", any(async || "quick")), release, begins)
}

fn quick() -> String {
    GET.replace("GET /", "GET /quick")
}

/// Each of the connections is at another point, and none gives way to a new one.
#[tokio::test]
async fn nothing_that_was_accepted_gives_way_and_new_connections_wait() {
    let (app, release, mut begins) = working();
    let server = server().head_deadline(TIMEOUT * 4);
    let running = Running::start(server.max_connections(4), app);
    let mut silent = running.connect().await;
    let mut half = running.send("GET /quick HT").await;
    let (mut body, mut at_work) = (running.connect().await, running.connect().await);
    body.send(post(10) + "abc").await;
    at_work.send(GET).await;
    soon(begins.recv()).await;
    soon(begins.recv()).await;

    let mut waiting = Vec::new();
    for _ in 0..20 {
        let next = running.send(quick()).await;
        waiting.push(next);
    }
    sleep(HEAD).await;
    for next in &mut waiting {
        assert!(next.is_open().await, "it is not answered, and not closed");
    }
    silent.send(quick()).await;
    assert!(silent.rest().await.ends_with("quick"));
    half.send("TP/1.1\r\nHost: receiver.test\r\n\r\n").await;
    assert!(half.answer().await.ends_with("quick"));
    body.send("defghij").await;
    sleep(HEAD).await;
    release.notify_waiters();
    assert!(body.answer().await.ends_with("10"));
    assert!(at_work.answer().await.ends_with("0"));
    for mut next in waiting {
        assert!(next.answer().await.ends_with("quick"));
    }
}

#[tokio::test]
async fn a_connection_that_waited_has_the_whole_deadline_for_its_head() {
    let running = Running::start(server().max_connections(1), counting());
    let mut first = running.connect().await;
    let mut next = running.connect().await;
    first.closed_after().await;
    sleep(HEAD / 2).await;
    next.send(GET).await;
    assert!(next.answer().await.ends_with("0"));
}

/// Otherwise a stranger could keep a connection with one request after another.
#[tokio::test]
async fn a_full_server_closes_each_connection_behind_its_response() {
    let server = server().head_deadline(TIMEOUT * 4);
    let running = Running::start(server.max_connections(2), counting());
    let mut one = running.send(GET).await;
    assert!(!one.answer().await.contains("connection: close"));
    let mut two = running.connect().await;
    for peer in [&mut one, &mut two] {
        peer.send(GET).await;
    }
    let answers = [one.answer().await, two.rest().await];
    assert!(answers[1].contains("connection: close"), "{answers:?}");
}

/// The other one has sent half of a body, and keeps its place.
#[tokio::test]
async fn an_idle_connection_of_a_full_server_makes_room_after_the_deadline_of_a_head() {
    let server = server().idle_deadline(TIMEOUT * 4);
    let running = Running::start(server.max_connections(2), counting());
    let mut idle = running.send(GET).await;
    assert!(!idle.answer().await.contains("connection: close"));
    let mut half = running.send(post(6) + "abc").await;
    let mut next = running.send(GET).await;
    assert!(next.answer().await.ends_with("0"));
    assert!(!idle.is_open().await);
    half.send("def").await;
    assert!(half.answer().await.ends_with("6"));
}

/// A refusal that does not fit the buffers of the system.
fn refusing(bytes: usize) -> Router {
    Router::new().fallback(async move || (StatusCode::METHOD_NOT_ALLOWED, vec![b'a'; bytes]))
}

#[tokio::test]
async fn a_refused_peer_that_does_not_read_its_answer_is_closed_at_the_deadline() {
    let running = Running::start(server().max_connections(1), refusing(32 << 20));
    let _silent = running.send(GET).await;
    let start = std::time::Instant::now();
    let next = running.send(GET).await;
    soon(next.0.readable()).await.expect("it is answered");
    assert_near(start.elapsed(), HEAD);
}

/// It was refused, reads nothing, and sends for ever.
#[tokio::test]
async fn a_refused_peer_that_goes_on_sending_is_closed_at_the_deadline() {
    let running = Running::start(server().max_connections(1), refusing(10));
    let sending = running.send(post(1 << 30)).await;
    let start = std::time::Instant::now();
    let sends = tokio::spawn(async move {
        while sending.0.writable().await.is_ok() {
            if sending.0.try_write(b"a").is_err() {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    let next = running.send(GET).await;
    soon(next.0.readable()).await.expect("it is answered");
    assert_near(start.elapsed(), HEAD);
    soon(sends).await.expect("no panic");
}
