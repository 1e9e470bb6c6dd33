use std::io::ErrorKind;

use axum::Router;
use http::Request;
use http_body_util::BodyExt;
use tokio::{net::TcpSocket, sync::mpsc, time::sleep};

use crate::common::*;

/// The kind of the server's error, under the framework's.
fn kind(error: &dyn std::error::Error) -> Option<ErrorKind> {
    let error = error.source()?;
    let own = error.downcast_ref().map(std::io::Error::kind);
    own.or_else(|| kind(error))
}

#[tokio::test]
async fn a_body_may_take_as_long_as_the_service_waits_for_it() {
    let running = Running::start(server(), counting());
    let mut peer = running.send(post(4) + "a").await;
    for byte in ["b", "c", "d"] {
        sleep(HEAD).await;
        peer.send(byte).await;
    }
    let answer = peer.answer().await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with('4'), "{answer}");
}

#[tokio::test]
async fn a_body_that_ends_early_is_an_unexpected_eof() {
    let (ended, mut ends) = mpsc::unbounded_channel();
    let service = Router::new().fallback(async move |request: Request<axum::body::Body>| {
        let error = request.into_body().collect().await.expect_err("it breaks off");
        ended.send(kind(&error)).expect("the test listens");
    });
    let running = Running::start(server(), service);
    let peer = running.send(post(1000) + "abc").await;
    drop(peer);
    assert_eq!(soon(ends.recv()).await, Some(Some(ErrorKind::UnexpectedEof)));
}

#[tokio::test]
async fn a_response_before_the_end_of_the_body_arrives_and_closes_the_connection() {
    let running = Running::start(server(), Router::new()); // answers 404
    for _ in 0..20 {
        // The whole body does not fit the system's buffers, so this sender notices a reset.
        let socket = TcpSocket::new_v4().expect("there are sockets");
        socket.set_send_buffer_size(16 << 10).expect("it may be small");
        let mut peer = Peer(socket.connect(running.address).await.expect("the server listens"));
        peer.send(post(800_000) + &"a".repeat(800_000)).await;
        let answer = peer.rest().await; // fails at a reset
        assert!(
            answer.starts_with("HTTP/1.1 404") && answer.contains("connection: close"),
            "{answer}"
        );
    }
    // A plain client writes all before it reads. All must arrive before the deadline.
    let running = Running::start(server().head_deadline(TIMEOUT), Router::new());
    let mut plain = running.send(post(9 << 20) + &"a".repeat(9 << 20)).await;
    assert!(plain.rest().await.starts_with("HTTP/1.1 404"));
    let mut silent = running.send(post(400_000)).await;
    assert!(silent.rest().await.starts_with("HTTP/1.1 404"));
}

#[tokio::test]
async fn a_body_that_the_service_keeps_after_its_response_ends_with_the_response() {
    let (ended, mut ends) = mpsc::unbounded_channel();
    let service = Router::new().fallback(async move |request: Request<axum::body::Body>| {
        tokio::spawn(async move {
            let error = request.into_body().collect().await.expect_err("it is cut");
            ended.send(kind(&error)).expect("the test listens");
        });
    });
    let running = Running::start(server(), service);
    let mut peer = running.send(post(1000) + "abc").await;
    assert!(peer.rest().await.contains("connection: close"));
    assert_eq!(soon(ends.recv()).await, Some(Some(ErrorKind::UnexpectedEof)));
}
