use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::{oneshot, watch},
    time::{Instant, Sleep, sleep_until},
};

use crate::{app::App, exchange::Exchange, linger::linger, seat::Seat, socket::Socket};

/// The most of a head that is read, in bytes.
const MOST_OF_A_HEAD: usize = 64 << 10;

/// Serves one connection to its end, or until it must `go`.
pub(crate) async fn serve<S: App>(
    stream: TcpStream,
    exchange: Exchange<S>,
    go: oneshot::Receiver<()>,
    closing: watch::Receiver<bool>,
) {
    let seat = exchange.seat.clone();
    let _leaving = Leaving(seat.clone());
    let conversation = async {
        if let Some(stream) = converse(stream, exchange, &seat, closing).await {
            linger(stream).await;
        }
    };
    // What is dropped here is closed.
    tokio::select! {
        biased;
        _ = go => {}
        () = conversation => {}
    }
}

/// Lets hyper talk until it is done or the peer is late. Returns the socket if the peer may still be
/// sending what nobody will read.
async fn converse<S: App>(
    stream: TcpStream,
    exchange: Exchange<S>,
    seat: &Arc<Seat>,
    mut closing: watch::Receiver<bool>,
) -> Option<TcpStream> {
    if !speaks(&stream, seat, &mut closing).await {
        return None;
    }
    let socket = TokioIo::new(Socket::new(stream, seat.clone()));
    let mut talk = http1::Builder::new()
        .max_buf_size(MOST_OF_A_HEAD)
        // Who has sent all that it will send still waits for the answer.
        .half_close(true)
        // Every deadline is ours: hyper's would not know when to give way, or that a peer reads nothing.
        .header_read_timeout(None)
        .serve_connection(socket, exchange);
    let mut closing = pin!(closing.wait_for(|closing| *closing));
    let mut is_closing = false;
    let mut timer = pin!(sleep_until(Instant::now()));
    let ended = poll_fn(|context| {
        if !is_closing && closing.as_mut().poll(context).is_ready() {
            is_closing = true;
            Pin::new(&mut talk).graceful_shutdown();
        }
        match talk.poll_without_shutdown(context) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending => poll_late(seat, timer.as_mut(), context).map(|()| None),
        }
    });
    let is_malformed = ended.await?.is_err_and(|error| error.is_parse());
    let may_be_sending = is_malformed || seat.is_body_unread();
    may_be_sending.then(|| talk.into_parts().io.into_inner().into_stream())
}

/// Waits for the first byte. hyper has taken 16 KiB for its buffers by then, and most of those who
/// only hold a connection open never send one.
async fn speaks(stream: &TcpStream, seat: &Seat, closing: &mut watch::Receiver<bool>) -> bool {
    let Some(deadline) = seat.deadline() else {
        return true;
    };
    let mut first = [0];
    tokio::select! {
        biased;
        peeked = stream.peek(&mut first) => peeked.is_ok_and(|bytes| bytes > 0),
        () = sleep_until(deadline) => false,
        _ = closing.wait_for(|closing| *closing) => false,
    }
}

/// Resolves at the deadline of whatever the peer is doing now.
fn poll_late(seat: &Seat, mut timer: Pin<&mut Sleep>, context: &mut Context<'_>) -> Poll<()> {
    while let Some(deadline) = seat.deadline() {
        if deadline <= Instant::now() {
            return Poll::Ready(());
        }
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        ready!(timer.as_mut().poll(context));
    }
    Poll::Pending
}

/// Gives the place up at the end, however the end comes.
struct Leaving(Arc<Seat>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}
