use std::{
    error::Error,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::budget::BudgetReservation;
use crate::slot::ConnectionSlot;

/// The body of a request, as a [`Server`](crate::Server) passes it to its service.
///
/// It ends with an error of kind
///
/// - [`TimedOut`](io::ErrorKind::TimedOut) when it is not complete at its deadline,
/// - [`OutOfMemory`](io::ErrorKind::OutOfMemory) when the budget of all bodies is used up,
/// - [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) when the sender closes early or breaks the framing.
///
/// The receivers of `article-webhook` answer these with 408, 503 and 400.
///
/// ```
/// use std::{convert::Infallible, io::ErrorKind, time::Duration};
/// use article_webhook_server::{Body, Server};
/// use http::{Request, Response};
/// use http_body_util::BodyExt;
/// use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// /// A service that reads the body, and answers 408 to one that is late.
/// async fn length(request: Request<Body>) -> Result<Response<String>, Infallible> {
///     let (status, text) = match request.into_body().collect().await {
///         Ok(body) => (200, format!("{} bytes", body.to_bytes().len())),
///         Err(error) if error.kind() == ErrorKind::TimedOut => (408, "too late".to_owned()),
///         Err(error) if error.kind() == ErrorKind::OutOfMemory => (503, "too busy".to_owned()),
///         Err(_) => (400, "incomplete".to_owned()),
///     };
///     Ok(Response::builder().status(status).body(text).expect("the status is valid"))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = Server::builder().body_deadline(Duration::from_millis(100)).bind("127.0.0.1:0").await?;
/// let address = server.local_addr()?;
/// tokio::spawn(server.serve(tower::service_fn(length), std::future::pending()));
///
/// let head = "POST / HTTP/1.1\r\nHost: receiver.test\r\nConnection: close\r\nContent-Length: 5\r\n\r\n";
/// for (body, answer) in [("whole", "5 bytes"), ("half", "too late")] {
///     let (mut sender, mut answered) = (TcpStream::connect(address).await?, String::new());
///     sender.write_all([head, body].concat().as_bytes()).await?;
///     sender.read_to_string(&mut answered).await?;
///     assert!(answered.ends_with(answer));
/// }
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Body {
    /// `None` after the end.
    incoming: Option<Incoming>,
    deadline: Instant,
    /// Set at the first wait. Most bodies have arrived when they are read, and need no timer.
    timer: Option<Pin<Box<Sleep>>>,
    reservation: Arc<BudgetReservation>,
    slot: Arc<ConnectionSlot>,
}

impl Body {
    pub(crate) fn new(
        incoming: Incoming,
        deadline: Instant,
        reservation: Arc<BudgetReservation>,
        slot: Arc<ConnectionSlot>,
    ) -> Self {
        let incoming = (!http_body::Body::is_end_stream(&incoming)).then_some(incoming);
        Self { incoming, deadline, timer: None, reservation, slot }
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let deadline = self.deadline;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        timer.as_mut().poll(context).is_ready()
    }

    fn fail(&mut self, error: impl Into<io::Error>) -> Option<Result<Frame<Bytes>, io::Error>> {
        self.incoming = None;
        self.slot.body_dropped();
        Some(Err(error.into()))
    }

    /// Checks one frame.
    fn check(
        &mut self,
        polled: Option<Result<Frame<Bytes>, hyper::Error>>,
    ) -> Option<Result<Frame<Bytes>, io::Error>> {
        let frame = match polled {
            Some(Err(error)) => return self.fail(read_error(error)),
            Some(Ok(frame)) => Some(frame),
            None => None,
        };
        let bytes = frame.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len);
        if !self.reservation.take(bytes) {
            return self.fail(io::ErrorKind::OutOfMemory);
        }
        if frame.is_none() || http_body::Body::is_end_stream(self) {
            self.incoming = None;
            self.slot.body_complete();
        }
        frame.map(Ok)
    }
}

/// Keeps a read error of the socket as the source: it may be a network timeout.
fn read_error(error: impl Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, error)
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = &mut *self;
        let Some(incoming) = &mut this.incoming else {
            return Poll::Ready(None);
        };
        // The deadline is checked first: bytes that arrive slowly do not extend it.
        if Instant::now() >= this.deadline {
            return Poll::Ready(this.fail(io::ErrorKind::TimedOut));
        }
        match Pin::new(incoming).poll_frame(context) {
            Poll::Ready(polled) => Poll::Ready(this.check(polled)),
            Poll::Pending if this.is_late(context) => {
                Poll::Ready(this.fail(io::ErrorKind::TimedOut))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.incoming.as_ref().map(http_body::Body::size_hint);
        hint.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.incoming.take().is_some() {
            self.slot.body_dropped();
        }
    }
}
