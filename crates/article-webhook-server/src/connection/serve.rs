use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{Instant, Sleep, sleep_until},
};

use super::{
    lingering_close::lingering_close, socket::Socket, wait_for_first_byte::wait_for_first_byte,
};
use crate::{
    exchange::{Dispatcher, HttpService},
    log,
    slot::ConnectionSlot,
};

/// The limit for a head, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// Serves one connection until it ends.
pub(crate) async fn serve<S: HttpService>(
    stream: TcpStream,
    dispatcher: Dispatcher<S>,
    shutdown: watch::Receiver<bool>,
) {
    let slot = dispatcher.slot.clone();
    let _release = ReleaseOnDrop(slot.clone());
    if let Some(stream) = serve_http1(stream, dispatcher, &slot, shutdown).await {
        lingering_close(stream, slot.close()).await;
    }
}

/// Lets hyper serve requests until the connection ends or the peer misses a deadline. Returns the socket if the peer
/// may still be sending bytes that will not be read.
async fn serve_http1<S: HttpService>(
    stream: TcpStream,
    dispatcher: Dispatcher<S>,
    slot: &Arc<ConnectionSlot>,
    mut shutdown: watch::Receiver<bool>,
) -> Option<TcpStream> {
    if !wait_for_first_byte(&stream, slot, &mut shutdown).await {
        return None;
    }
    let socket = TokioIo::new(Socket::new(stream, slot.clone()));
    let mut connection = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        // A sender that has closed its sending direction still waits for the response.
        .half_close(true)
        // The slot has all deadlines, because hyper's do not cover peers that do not read.
        .header_read_timeout(None)
        .serve_connection(socket, dispatcher);
    let mut shutdown = pin!(shutdown.wait_for(|begun| *begun));
    let mut is_shutting_down = false;
    let mut timer = pin!(sleep_until(Instant::now()));
    let may_be_sending = poll_fn(|context| {
        if !is_shutting_down && shutdown.as_mut().poll(context).is_ready() {
            is_shutting_down = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        match connection.poll_without_shutdown(context) {
            Poll::Ready(ended) => {
                let refused = ended.err().filter(hyper::Error::is_parse);
                if let Some(error) = refused.as_ref().filter(|_| slot.reports_refused_head()) {
                    log::refused_head(error);
                }
                let is_malformed = refused.is_some();
                Poll::Ready(is_malformed || slot.is_body_unread())
            }
            Poll::Pending if slot.is_closing() => Poll::Ready(true),
            Poll::Pending => poll_deadline(slot, timer.as_mut(), context).map(|()| false),
        }
    });
    may_be_sending.await.then(|| connection.into_parts().io.into_inner().into_stream())
}

/// How long a deadline is waited for before it is looked at again. An idle connection notices so that the server is full.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Resolves at the deadline of the current state, which may move.
fn poll_deadline(
    slot: &ConnectionSlot,
    mut timer: Pin<&mut Sleep>,
    context: &mut Context<'_>,
) -> Poll<()> {
    while let Some(deadline) = slot.deadline() {
        let now = Instant::now();
        if deadline <= now {
            return Poll::Ready(());
        }
        let latest = deadline.min(now + LOOK_AGAIN);
        if timer.is_elapsed() || timer.deadline() > latest {
            timer.as_mut().reset(latest);
        }
        ready!(timer.as_mut().poll(context));
    }
    Poll::Pending
}

/// Releases the slot when the connection ends, for any reason.
struct ReleaseOnDrop(Arc<ConnectionSlot>);

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        self.0.release();
    }
}
