use std::io::ErrorKind;

use axum::Router;
use http::Request;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::{net::TcpSocket, sync::mpsc, time::sleep};

use crate::common::*;

/// An application that answers the kind of the error that ended the body.
fn answering_error_kind() -> Router {
    Router::new().fallback(async |request: Request<axum::body::Body>| {
        match request.into_body().collect().await {
            Ok(body) => body.to_bytes().len().to_string(),
            Err(error) => format!("{:?}", kind(&error)),
        }
    })
}

/// The kind of the server's error, under the framework's.
fn kind(error: &dyn std::error::Error) -> Option<ErrorKind> {
    let error = error.source()?;
    let own = error.downcast_ref().map(std::io::Error::kind);
    own.or_else(|| kind(error))
}

#[tokio::test]
async fn a_body_that_stalls_or_arrives_slowly_times_out_at_its_deadline() {
    let running = Running::start(server(), answering_error_kind());
    for trickles in [false, true] {
        let mut peer = running.connect().await;
        let start = std::time::Instant::now();
        peer.send(post(1000) + "abc").await;
        if trickles {
            peer.trickle(b'a', BODY.mul_f64(0.8)).await;
        }
        let answer = peer.rest().await;
        assert!(answer.ends_with("Some(TimedOut)"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
        assert_near(start.elapsed(), BODY);
    }
}

#[tokio::test]
async fn planted_without_a_deadline_the_same_body_is_waited_for() {
    let mut peer = Peer::connect(axum_serve(answering_error_kind()).await).await;
    peer.send(post(1000) + "abc").await;
    sleep(BODY * 2).await;
    assert!(peer.is_open().await);
}

#[tokio::test]
async fn a_body_that_ends_early_is_an_unexpected_eof() {
    let (ended, mut ends) = mpsc::unbounded_channel();
    let service = Router::new().fallback(async move |request: Request<axum::body::Body>| {
        let error = request.into_body().collect().await.expect_err("it breaks off");
        ended.send(kind(&error)).expect("the test listens");
    });
    let running = Running::start(server(), service);
    let mut peer = running.connect().await;
    peer.send(post(1000) + "abc").await;
    drop(peer);
    assert_eq!(soon(ends.recv()).await, Some(Some(ErrorKind::UnexpectedEof)));
}

/// The bytes of each body that are free.
const FREE: usize = 64 << 10;

#[tokio::test]
async fn a_body_over_the_budget_of_all_bodies_is_out_of_memory_until_another_exchange_ends() {
    let running = Running::start(server().body_budget(100_000), answering_error_kind());
    let mut first = running.connect().await;
    first.send(post(FREE + 80_001) + &"a".repeat(FREE + 80_000)).await;
    sleep(BODY / 8).await; // until the service has read them
    let mut second = running.connect().await;
    second.send(post(FREE + 40_000) + &"a".repeat(FREE + 40_000)).await;
    let answer = second.rest().await;
    assert!(
        answer.ends_with("Some(OutOfMemory)") && answer.contains("connection: close"),
        "{answer}"
    );

    first.send("a").await;
    assert!(first.answer().await.ends_with(&(FREE + 80_001).to_string()));
    for _ in 0..3 {
        let mut third = running.connect().await;
        third.send(post(FREE + 100_000) + &"a".repeat(FREE + 100_000)).await;
        assert!(third.answer().await.ends_with(&(FREE + 100_000).to_string()));
    }
}

#[tokio::test]
async fn an_exchange_that_is_cut_gives_its_bytes_back() {
    let running = Running::start(server().body_budget(100_000), answering_error_kind());
    let mut first = running.connect().await;
    first.send(post(FREE + 90_001) + &"a".repeat(FREE + 90_000)).await;
    sleep(BODY / 8).await;
    drop(first);
    sleep(BODY / 8).await;
    let mut second = running.connect().await;
    second.send(post(FREE + 90_000) + &"a".repeat(FREE + 90_000)).await;
    assert!(second.answer().await.ends_with(&(FREE + 90_000).to_string()));
}

#[tokio::test]
async fn a_body_is_complete_after_its_declared_length_and_the_connection_stays_open() {
    let service = Router::new().fallback(async |request: Request<axum::body::Body>| {
        let mut body = request.into_body();
        while !body.is_end_stream() {
            body.frame().await.expect("there is more").expect("it is whole");
        }
    });
    let running = Running::start(server(), service);
    let mut peer = running.connect().await;
    for _ in 0..2 {
        peer.send(post(3)).await;
        assert!(peer.is_open().await);
        peer.send("abc").await;
        let answer = peer.answer().await;
        assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("close"), "{answer}");
    }
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
    let mut silent = running.connect().await;
    silent.send(post(400_000)).await;
    let start = std::time::Instant::now();
    assert!(silent.rest().await.starts_with("HTTP/1.1 404"));
    assert!(start.elapsed() < BODY, "the server does not wait for the body");
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
    let running = Running::start(server().body_deadline(PATIENCE * 4), service);
    let mut peer = running.connect().await;
    peer.send(post(1000) + "abc").await;
    assert!(peer.rest().await.contains("connection: close"));
    assert_eq!(soon(ends.recv()).await, Some(Some(ErrorKind::UnexpectedEof)));
}

#[tokio::test]
async fn expect_100_continue_gets_a_100_or_the_final_response() {
    let running = Running::start(server(), counting());
    let expecting = post(3).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    let mut peer = running.connect().await;
    peer.send(&expecting).await;
    assert_eq!(peer.answer().await, "HTTP/1.1 100 Continue\r\n\r\n");
    peer.send("abc").await;
    assert!(peer.answer().await.ends_with("3"));

    let mut elsewhere = running.connect().await;
    elsewhere.send(expecting.replace("POST /", "POST /elsewhere")).await;
    assert!(elsewhere.rest().await.starts_with("HTTP/1.1 404"));
}
