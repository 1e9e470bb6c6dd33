use crate::common::*;

const REFUSED: [&str; 2] = [
    "GET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: receiver.test\r\nHost: receiver.test\r\n\r\n",
];

#[tokio::test]
async fn a_request_without_exactly_one_host_is_refused_and_the_connection_closed() {
    let running = Running::start(server(), counting());
    for request in REFUSED {
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
    let mut peer = running.send(REFUSED[1].replace("HTTP/1.1", "HTTP/1.0")).await;
    assert!(peer.rest().await.starts_with("HTTP/1.0 400"));
}

#[tokio::test]
async fn planted_axum_serve_accepts_them() {
    let address = axum_serve(counting()).await;
    for request in REFUSED {
        let mut peer = Peer::connect(address).await;
        peer.send(request).await;
        assert!(peer.answer().await.starts_with("HTTP/1.1 200"));
    }
}
