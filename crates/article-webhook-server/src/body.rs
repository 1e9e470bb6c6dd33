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

use crate::{budget::Tab, seat::Seat};

/// The body of a request, as a [`Server`](crate::Server) hands it to its service.
///
/// It ends with an error of kind
///
/// - [`TimedOut`](io::ErrorKind::TimedOut) when it is not complete at its deadline,
/// - [`OutOfMemory`](io::ErrorKind::OutOfMemory) when the budget of all bodies is used up,
/// - [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) when the sender breaks off or breaks the framing.
///
/// The receivers of `article-webhook` answer these with 408, 503 and 400.
///
/// ```
/// use std::io::ErrorKind;
/// use article_webhook_server::Body;
/// use http::{Request, StatusCode};
/// use http_body_util::BodyExt;
///
/// /// A handler of one's own: what it answers to a body that did not come.
/// async fn length(request: Request<Body>) -> Result<usize, StatusCode> {
///     match request.into_body().collect().await {
///         Ok(body) => Ok(body.to_bytes().len()),
///         Err(error) if error.kind() == ErrorKind::TimedOut => Err(StatusCode::REQUEST_TIMEOUT),
///         Err(error) if error.kind() == ErrorKind::OutOfMemory => Err(StatusCode::SERVICE_UNAVAILABLE),
///         Err(_) => Err(StatusCode::BAD_REQUEST),
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Body {
    /// `None` after the end.
    incoming: Option<Incoming>,
    deadline: Instant,
    /// Most bodies are there when they are asked for, and never need it.
    timer: Option<Pin<Box<Sleep>>>,
    tab: Arc<Tab>,
    seat: Arc<Seat>,
}

impl Body {
    pub(crate) fn new(
        incoming: Incoming,
        deadline: Instant,
        tab: Arc<Tab>,
        seat: Arc<Seat>,
    ) -> Self {
        let incoming = (!http_body::Body::is_end_stream(&incoming)).then_some(incoming);
        Self { incoming, deadline, timer: None, tab, seat }
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let deadline = self.deadline;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        timer.as_mut().poll(context).is_ready()
    }

    fn broken(&mut self, error: impl Into<io::Error>) -> Option<Result<Frame<Bytes>, io::Error>> {
        self.incoming = None;
        self.seat.body_dropped();
        Some(Err(error.into()))
    }

    /// Judges what came. The last frame is passed on only if the connection is still there to carry
    /// the answer.
    fn judged(
        &mut self,
        came: Option<Result<Frame<Bytes>, hyper::Error>>,
    ) -> Option<Result<Frame<Bytes>, io::Error>> {
        let frame = match came {
            Some(Err(error)) => return self.broken(broken_off(error)),
            Some(Ok(frame)) => Some(frame),
            None => None,
        };
        let bytes = frame.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len);
        if !self.tab.take(bytes) {
            return self.broken(io::ErrorKind::OutOfMemory);
        }
        if frame.is_none() || http_body::Body::is_end_stream(self) {
            self.incoming = None;
            if self.seat.body_read().is_err() {
                return self.broken(io::ErrorKind::ConnectionAborted);
            }
        }
        frame.map(Ok)
    }
}

/// A read error of the socket keeps its place as the source: it may be a time-out of the network.
fn broken_off(error: impl Error + Send + Sync + 'static) -> io::Error {
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
        // The deadline comes first: bytes that trickle in do not extend it.
        if Instant::now() >= this.deadline {
            return Poll::Ready(this.broken(io::ErrorKind::TimedOut));
        }
        match Pin::new(incoming).poll_frame(context) {
            Poll::Ready(came) => Poll::Ready(this.judged(came)),
            Poll::Pending if this.is_late(context) => {
                Poll::Ready(this.broken(io::ErrorKind::TimedOut))
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
            self.seat.body_dropped();
        }
    }
}
