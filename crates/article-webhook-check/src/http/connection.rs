use std::{pin::pin, time::Duration};

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    select,
    time::{Instant, sleep, timeout},
};

use super::{
    observed::{Observed, Response},
    request::{Piece, Request},
    response_reader::ResponseReader,
};
use crate::endpoint::Endpoint;

/// The sender's side of a connection. It writes any bytes, also those that are not HTTP.
pub(crate) struct Connection {
    stream: TcpStream,
    responses: ResponseReader,
    response_timeout: Duration,
}

/// How many bytes are written before the writer shows that it goes on.
const CHUNK: usize = 64 << 10;

/// After this time a receiver may have given a connection up before it could read a request that was written whole.
const LATE: Duration = Duration::from_secs(1);

/// One request on a connection of its own.
///
/// A receiver ends a connection on which nothing comes for a while, by closing it or by 408 (RFC 9110, 15.5.9), and on a busy
/// machine a while may pass between connecting and writing. So the bytes are made before the connection is opened, and what was
/// not written whole, or late, is sent once more.
pub(crate) async fn exchange(endpoint: &Endpoint, request: &Request) -> Observed {
    let pieces = request.pieces();
    let start = Instant::now();
    let (first, written) = exchange_once(endpoint, request.method, &pieces).await;
    let is_late = written.is_none_or(|at| at - start > LATE);
    match first {
        Observed::Closed | Observed::Response(Response { status: 408, .. }) if is_late => {
            exchange_once(endpoint, request.method, &pieces).await.0
        }
        _ => first,
    }
}

async fn exchange_once(
    endpoint: &Endpoint,
    method: &str,
    pieces: &[Piece],
) -> (Observed, Option<Instant>) {
    match Connection::open(endpoint).await {
        Ok(mut connection) => connection.exchange(method, pieces).await,
        Err(observed) => (observed, None),
    }
}

impl Connection {
    pub(crate) async fn open(endpoint: &Endpoint) -> Result<Self, Observed> {
        match timeout(endpoint.response_timeout, TcpStream::connect(endpoint.address)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                Ok(Self {
                    stream,
                    responses: ResponseReader::new(),
                    response_timeout: endpoint.response_timeout,
                })
            }
            Ok(Err(_)) => Err(Observed::Unreachable),
            Err(_) => Err(Observed::TimedOut),
        }
    }

    /// Returns also when all of it was written. Reads while it writes: a receiver may answer and close before it has read the whole
    /// body.
    pub(crate) async fn exchange(
        &mut self,
        method: &str,
        pieces: &[Piece],
    ) -> (Observed, Option<Instant>) {
        let Self { stream, responses, response_timeout } = self;
        let (mut from, mut to) = stream.split();
        let sending = async {
            for piece in pieces {
                for chunk in piece.bytes.chunks(CHUNK) {
                    if !matches!(timeout(*response_timeout, to.write_all(chunk)).await, Ok(Ok(())))
                    {
                        return false; // the response says why
                    }
                }
                if !piece.pause.is_zero() {
                    sleep(piece.pause).await;
                }
            }
            true
        };
        let mut responding = pin!(responses.response(&mut from, method));
        let is_written = select! {
            observed = &mut responding => return (observed, None),
            is_written = sending => is_written,
        };
        let sent = Instant::now();
        let observed = timeout(*response_timeout, responding).await;
        (timed_from(observed.unwrap_or(Observed::TimedOut), sent), is_written.then_some(sent))
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let _ = timeout(self.response_timeout, self.stream.write_all(bytes)).await;
    }

    /// The next response.
    pub(crate) async fn response(&mut self, method: &str) -> Observed {
        let sent = Instant::now();
        let response = self.responses.response(&mut self.stream, method);
        let observed = timeout(self.response_timeout, response).await;
        timed_from(observed.unwrap_or(Observed::TimedOut), sent)
    }

    /// Waits for the first byte of a response, also of an interim response, up to `limit`.
    pub(crate) async fn wait_for_bytes(&mut self, limit: Duration) {
        let _ = timeout(limit, self.responses.has_bytes(&mut self.stream)).await;
    }

    /// Closes the sending direction.
    pub(crate) async fn shut_down_writing(&mut self) {
        let _ = self.stream.shutdown().await;
    }
}

fn timed_from(observed: Observed, sent: Instant) -> Observed {
    match observed {
        Observed::Response(mut response) => {
            response.after = sent.elapsed();
            Observed::Response(response)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::AsyncReadExt,
        net::{TcpListener, TcpStream},
    };

    use super::*;

    /// What is observed of a receiver that reads `read` bytes of the first connection, ends it with the response `first`, and
    /// answers on the second.
    async fn observed(request: Request, read: usize, first: &[u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let endpoint = Endpoint::new(&url, &"t".repeat(32)).unwrap();
        let all = request.bytes().len();
        let receiver = async {
            for (read, response) in
                [(read.min(all), first), (all, b"HTTP/1.1 204 No Content\r\n\r\n")]
            {
                let (mut stream, _): (TcpStream, _) = listener.accept().await.unwrap();
                stream.read_exact(&mut vec![0; read]).await.unwrap();
                stream.write_all(response).await.unwrap();
            }
        };
        select! {
            observed = exchange(&endpoint, &request) => observed.describe(),
            () = async { receiver.await; std::future::pending().await } => unreachable!(),
        }
    }

    #[tokio::test]
    async fn what_was_not_written_whole_or_late_is_sent_once_more() {
        let small = || Request::post("/", vec![b'a'; 11]);
        // More than the buffers of both sides take.
        let large = Request::post("/", vec![b'a'; 32 << 20]);
        assert!(observed(large, 1, b"").await.starts_with("204"));
        let timeout = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n";
        assert!(observed(small().in_pieces(11), usize::MAX, timeout).await.starts_with("204"));
        let closed = "connection closed without a response";
        assert_eq!(observed(small(), usize::MAX, b"").await, closed, "it was read");
    }
}
