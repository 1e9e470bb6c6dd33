use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

use crate::slot::ConnectionSlot;

/// The body of a request, as a [`Server`](crate::Server) passes it to its service.
///
/// It has no deadline and no limit: the service limits what it reads, as the receivers of `article-webhook` do. It
/// ends with an error of kind [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) when the sender closes early or breaks
/// the framing.
///
/// ```
/// use std::{convert::Infallible, io::ErrorKind};
/// use article_webhook_server::{ServerBody, Server};
/// use http::{Request, Response};
/// use http_body_util::BodyExt;
/// use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// async fn length(request: Request<ServerBody>) -> Result<Response<String>, Infallible> {
///     Ok(Response::new(match request.into_body().collect().await {
///         Ok(body) => format!("{} bytes", body.to_bytes().len()),
///         Err(error) => {
///             assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
///             "incomplete".to_owned()
///         }
///     }))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = Server::bind("127.0.0.1:0").await?;
/// let address = server.local_addr()?;
/// tokio::spawn(server.serve(tower::service_fn(length), std::future::pending()));
///
/// let head = "POST / HTTP/1.1\r\nHost: receiver.test\r\nConnection: close\r\nContent-Length: 5\r\n\r\n";
/// for (body, answer) in [("whole", "5 bytes"), ("half", "incomplete")] {
///     let (mut sender, mut answered) = (TcpStream::connect(address).await?, String::new());
///     sender.write_all([head, body].concat().as_bytes()).await?;
///     sender.shutdown().await?;
///     sender.read_to_string(&mut answered).await?;
///     assert!(answered.ends_with(answer));
/// }
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ServerBody {
    /// `None` after the end.
    incoming: Option<Incoming>,
    slot: Arc<ConnectionSlot>,
}

impl ServerBody {
    pub(crate) fn new(incoming: Incoming, slot: Arc<ConnectionSlot>) -> Self {
        let incoming = (!http_body::Body::is_end_stream(&incoming)).then_some(incoming);
        Self { incoming, slot }
    }
}

impl http_body::Body for ServerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        let frame = ready!(Pin::new(incoming).poll_frame(context));
        match frame {
            Some(Err(_)) => self.incoming = None,
            Some(Ok(_)) if !self.is_end_stream() => {}
            Some(Ok(_)) | None => {
                self.incoming = None;
                self.slot.body_complete();
            }
        }
        // The error of the socket stays the source: it may be a network timeout.
        let unexpected_eof = |error| io::Error::new(io::ErrorKind::UnexpectedEof, error);
        Poll::Ready(frame.map(|frame| frame.map_err(unexpected_eof)))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.incoming.as_ref().map(http_body::Body::size_hint);
        hint.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}
