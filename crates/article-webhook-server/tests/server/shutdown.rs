use std::{
    future::pending,
    time::{Duration, Instant},
};

use axum::{Router, extract::Request, routing::any};
use http_body_util::BodyExt;
use tokio::{net::TcpStream, sync::mpsc, time::sleep};

use crate::common::*;

const WORK: Duration = Duration::from_millis(300);

#[tokio::test]
async fn idle_connections_are_closed_and_requests_in_progress_finished() {
    let (begun, mut begins) = mpsc::unbounded_channel();
    let work = any(async move |request: Request| {
        begun.send(()).expect("the test listens");
        let body = request.into_body().collect().await.expect("it is complete").to_bytes();
        sleep(WORK).await;
        body.len().to_string()
    });
    let app = Router::new().route("/", work).route("/quick", any(async || ()));
    let server = server().head_deadline(TIMEOUT * 4).idle_deadline(TIMEOUT * 4);
    let running = Running::start(server, app);
    let address = running.address;
    let (mut silent, mut idle) = (running.connect().await, running.connect().await);
    idle.send(GET.replace("GET /", "GET /quick")).await;
    idle.answer().await;
    let (mut at_work, mut sending) = (running.connect().await, running.connect().await);
    at_work.send(GET).await;
    sending.send(post(6) + "abc").await;
    soon(begins.recv()).await;
    soon(begins.recv()).await;

    let served = running.stop();
    for peer in [&mut silent, &mut idle] {
        peer.closed_after().await;
    }
    assert!(TcpStream::connect(address).await.is_err(), "no connection is accepted");
    assert!(!served.is_finished());
    sending.send("def").await;
    for (peer, body) in [(&mut at_work, "0"), (&mut sending, "6")] {
        let answer = peer.rest().await;
        assert!(answer.contains("connection: close\r\n") && answer.ends_with(body), "{answer}");
    }
    assert!(soon(served).await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_server_with_a_delay_goes_on_and_fails_its_health_check_meanwhile() {
    const DELAY: Duration = Duration::from_secs(3_600);
    let app = Router::new().route("/ready", any(async || "ready")).merge(counting());
    let server = server().idle_deadline(DELAY * 2).shutdown_delay(DELAY, "/ready");
    let running = Running::start(server, app);
    let address = running.address;
    let ready = "GET /ready?by=balancer HTTP/1.1\r\nHost: receiver.test\r\n\r\n";
    let mut idle = running.send(ready).await;
    assert!(idle.answer().await.ends_with("ready"));

    let begin = tokio::time::Instant::now();
    let served = running.stop();
    let unready = async {
        loop {
            let mut balancer = Peer::connect(address).await;
            balancer.send(ready).await;
            let answer = balancer.answer().await;
            if !answer.starts_with("HTTP/1.1 200") {
                return answer;
            }
        }
    };
    let answer = soon(unready).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("about to stop"), "{answer}");
    for peer in [&mut idle, &mut Peer::connect(address).await] {
        peer.send(post(3) + "abc").await;
        let answer = peer.rest().await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with('3'), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }

    tokio::time::pause(); // from here it jumps to the next timer
    assert!(served.await.expect("no panic").is_ok());
    assert!((DELAY..DELAY + TIMEOUT).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    assert!(TcpStream::connect(address).await.is_err(), "no connection is accepted");
}

#[tokio::test]
async fn requests_that_outlast_the_grace_period_are_cut() {
    let grace = Duration::from_millis(300);
    let running = Running::start(
        server().shutdown_grace(grace),
        Router::new().fallback(async || pending::<()>().await),
    );
    let mut endless = running.send(GET).await;
    sleep(WORK).await;
    let start = Instant::now();
    let served = running.stop();
    endless.closed_after().await;
    assert!(soon(served).await.expect("no panic").is_ok());
    assert_near(start.elapsed(), grace);
}
