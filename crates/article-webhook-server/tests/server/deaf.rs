use std::{
    convert::Infallible,
    io::ErrorKind,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, body::Body, routing::get};
use bytes::Bytes;
use http_body::Frame;
use tokio::{
    sync::oneshot,
    task::yield_now,
    time::{Instant, sleep, timeout},
};

use crate::common::*;

/// An answer without end, which tells when it is given up.
struct Endless(#[expect(dead_code, reason = "dropping it is what tells")] oneshot::Sender<()>);

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'a'; 16 << 10])))))
    }
}

fn endless() -> (Router, oneshot::Receiver<()>) {
    let (guard, given_up) = oneshot::channel();
    let guard = std::sync::Arc::new(std::sync::Mutex::new(Some(guard)));
    let answer = async move || {
        let guard = guard.lock().expect("nobody panics").take().expect("there is one request");
        Body::new(Endless(guard))
    };
    (Router::new().route("/", get(answer)), given_up)
}

/// Lets the sockets come to rest. The clock of these tests stands still while a task runs, and leaps to
/// the next deadline when none does, even if the system has bytes on their way.
async fn settle() {
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(1));
        yield_now().await;
    }
}

/// Reads that many bytes of an answer, and no time passes.
async fn take(peer: &mut Peer, mut left: usize) {
    let mut buffer = vec![0; 64 << 10];
    while left > 0 {
        let most = left.min(buffer.len());
        match peer.0.try_read(&mut buffer[..most]) {
            Ok(read) => {
                assert_ne!(read, 0, "the answer goes on");
                left -= read;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        yield_now().await;
    }
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_has_read_it_all_at_last_is_idle() {
    const LONG: usize = 32 << 20;
    let app = Router::new().route("/", get(async || vec![b'a'; LONG]));
    let running = Running::start(server().await, app);
    let mut slow = running.connect().await;
    slow.send(GET).await;
    settle().await;
    sleep(Duration::from_secs(8)).await; // the server waits, and would for two seconds more
    take(&mut slow, LONG).await;
    let start = Instant::now();
    slow.rest().await;
    assert!((HEAD..HEAD * 2).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_nothing_is_given_up_after_ten_seconds() {
    let (app, given_up) = endless();
    let running = Running::start(server().await, app);
    let mut deaf = running.connect().await;
    deaf.send(GET).await;
    settle().await;
    let start = Instant::now();
    _ = timeout(Duration::from_secs(60), given_up).await;
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_a_little_is_not_given_up() {
    let (app, mut given_up) = endless();
    let running = Running::start(server().await, app);
    let mut slow = running.connect().await;
    slow.send(GET).await;
    settle().await;
    for _ in 0..5 {
        sleep(Duration::from_secs(8)).await;
        take(&mut slow, 8 << 20).await;
        assert_eq!(given_up.try_recv(), Err(oneshot::error::TryRecvError::Empty));
    }
}

#[tokio::test(start_paused = true)]
async fn planted_axum_serve_waits_for_a_peer_that_reads_nothing() {
    let (app, given_up) = endless();
    let mut deaf = Peer::connect(axum_serve(app).await).await;
    deaf.send(GET).await;
    settle().await;
    assert!(timeout(Duration::from_secs(60), given_up).await.is_err());
}
