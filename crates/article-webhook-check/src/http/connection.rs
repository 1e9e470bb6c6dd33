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

/// One request on a connection of its own.
///
/// A receiver ends a connection on which nothing comes for a while, by closing it or by 408 (RFC 9110, 15.5.9), and a busy machine
/// may lie between connecting and writing. So the bytes are made before the connection is opened, and then sent once more.
pub(crate) async fn exchange(endpoint: &Endpoint, request: &Request) -> Observed {
    let pieces = request.pieces();
    let first = exchange_once(endpoint, request.method, &pieces).await;
    match first {
        Observed::Closed | Observed::Response(Response { status: 408, .. }) => {
            exchange_once(endpoint, request.method, &pieces).await
        }
        _ => first,
    }
}

async fn exchange_once(endpoint: &Endpoint, method: &str, pieces: &[Piece]) -> Observed {
    match Connection::open(endpoint).await {
        Ok(mut connection) => connection.exchange(method, pieces).await,
        Err(observed) => observed,
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

    /// Reads while it writes: a receiver may answer and close before it has read the whole body.
    pub(crate) async fn exchange(&mut self, method: &str, pieces: &[Piece]) -> Observed {
        let Self { stream, responses, response_timeout } = self;
        let (mut from, mut to) = stream.split();
        let sending = async {
            for piece in pieces {
                for chunk in piece.bytes.chunks(CHUNK) {
                    if !matches!(timeout(*response_timeout, to.write_all(chunk)).await, Ok(Ok(())))
                    {
                        return; // the response says why
                    }
                }
                sleep(piece.pause).await;
            }
        };
        let mut responding = pin!(responses.response(&mut from, method));
        select! {
            observed = &mut responding => return observed,
            () = sending => {}
        }
        let sent = Instant::now();
        let observed = timeout(*response_timeout, responding).await;
        timed_from(observed.unwrap_or(Observed::TimedOut), sent)
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
