use std::time::Duration;

use article_webhook_server::Server;
use axum::Router;
use tokio::{
    io::AsyncReadExt,
    time::{sleep, timeout},
};

use crate::common::*;

#[tokio::test]
async fn a_silent_connection_is_closed_at_the_deadline() {
    let running = Running::start(server(), counting());
    assert_near(running.connect().await.closed_after().await, HEAD);
}

#[tokio::test]
async fn bytes_that_arrive_slowly_do_not_extend_the_deadline() {
    let running = Running::start(server(), counting());
    let mut peer = running.send("GET / HTTP/1.1\r\nX-Slow: ").await;
    assert_near(peer.trickle(b'a', TIMEOUT).await.expect("it is closed"), HEAD);
}

#[tokio::test]
async fn an_idle_connection_is_closed_at_its_deadline_after_its_last_response() {
    let service = Router::new().fallback(async || sleep(HEAD.mul_f64(1.5)).await);
    let running = Running::start(server(), service);
    let mut peer = running.connect().await;
    for _ in 0..2 {
        peer.send(GET).await; // the service takes longer than a head may
        assert!(peer.answer().await.starts_with("HTTP/1.1 200"));
    }
    assert_near(peer.closed_after().await, HEAD);
}

/// The time stands still until the answer is read, and then jumps from one timer to the next.
#[tokio::test]
async fn by_default_a_connection_may_be_idle_for_75_s_after_a_good_response_and_3_s_after_a_refusal()
 {
    for (status, app, seconds) in [(200, counting(), 74..=75), (404, Router::new(), 2..=3)] {
        let running = Running::start(Server::builder(), app);
        let mut peer = running.send(GET).await;
        assert!(peer.answer().await.starts_with(&format!("HTTP/1.1 {status}")));
        tokio::time::pause();
        let start = tokio::time::Instant::now();
        let end = timeout(Duration::from_secs(100), peer.0.read(&mut [0])).await;
        assert_eq!(end.expect("it is closed").expect("no reset"), 0);
        assert!(seconds.contains(&start.elapsed().as_secs()), "{status}: {:?}", start.elapsed());
        tokio::time::resume();
    }
}

#[tokio::test]
async fn a_second_head_on_the_same_connection_has_the_same_deadline() {
    let running = Running::start(server(), counting());
    let mut peer = running.send([GET, "GET / HTTP/1.1\r\nX-Slow: "].concat()).await;
    assert!(peer.answer().await.starts_with("HTTP/1.1 200"));
    assert_near(peer.trickle(b'a', TIMEOUT).await.expect("it is closed"), HEAD);
}

#[tokio::test]
async fn a_head_without_an_end_after_16_kib_and_too_many_headers_are_refused() {
    let running = Running::start(server(), counting());
    let line = "GET / HTTP/1.1\r\nHost: receiver.test\r\nConnection: close\r\n";
    let of_length = |length| format!("{line}X: {}\r\n\r\n", "a".repeat(length - line.len() - 7));
    for (head, status) in [
        (of_length((16 << 10) - 1), 200),
        // hyper may read up to 32 KiB before it looks.
        (of_length(33 << 10), 431),
        (line.to_owned() + &"X: a\r\n".repeat(98) + "\r\n", 200),
        (line.to_owned() + &"X: a\r\n".repeat(99) + "\r\n", 431),
    ] {
        let mut peer = running.send(head).await;
        assert!(peer.rest().await.starts_with(&format!("HTTP/1.1 {status}")), "{status}");
    }
}

const HOSTS: [&str; 2] = [
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: receiver.test\r\nHost: receiver.test\r\n\r\n",
];

#[tokio::test]
async fn a_request_without_exactly_one_host_is_refused_and_the_connection_closed() {
    let running = Running::start(server(), counting());
    for request in HOSTS {
        let mut peer = running.send([request, GET].concat()).await;
        let answer = peer.rest().await;
        let body = r#"{"error":"bad_request","message":"expected exactly one Host header"}"#;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
        assert!(answer.ends_with(body), "one answer and no more: {answer}");
    }
}

#[tokio::test]
async fn http_1_0_needs_no_host_but_must_not_have_two() {
    let running = Running::start(server(), counting());
    let mut peer = running.send("GET / HTTP/1.0\r\n\r\n").await;
    assert!(peer.rest().await.starts_with("HTTP/1.0 200"));
    let mut peer = running.send(HOSTS[1].replace("HTTP/1.1", "HTTP/1.0")).await;
    assert!(peer.rest().await.starts_with("HTTP/1.0 400"));
}
