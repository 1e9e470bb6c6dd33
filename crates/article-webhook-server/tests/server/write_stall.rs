use std::{
    convert::Infallible,
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
    time::{Instant, timeout},
};

use crate::common::*;

/// An endless response that reports when it is dropped.
struct Endless(#[expect(dead_code, reason = "dropping it is the report")] oneshot::Sender<()>);

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
    let (guard, dropped) = oneshot::channel();
    let guard = std::sync::Arc::new(std::sync::Mutex::new(Some(guard)));
    let answer = async move || {
        let guard = guard.lock().expect("no task panics").take().expect("there is one request");
        Body::new(Endless(guard))
    };
    (Router::new().route("/", get(answer)), dropped)
}

/// Lets the sockets settle. The paused clock of these tests stands still while a task runs, and advances to the next
/// timer when no task runs, even if the system still has bytes in transit.
async fn settle() {
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(1));
        yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_reads_nothing_is_closed_after_ten_seconds() {
    let (app, dropped) = endless();
    let running = Running::start(server(), app);
    let _silent = running.send(GET).await;
    settle().await;
    let start = Instant::now();
    _ = timeout(Duration::from_secs(60), dropped).await;
    assert_eq!(start.elapsed().as_secs(), 10);
}
