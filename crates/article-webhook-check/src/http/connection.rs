use std::{pin::pin, time::Duration};

use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    select,
    time::{Instant, sleep, timeout},
};

use super::{observed::Observed, request::Request, response_reader::ResponseReader};
use crate::endpoint::Endpoint;

/// The sender's side of a connection. It writes any bytes, also those that are not HTTP.
pub(crate) struct Connection {
    stream: TcpStream,
    responses: ResponseReader,
    response_timeout: Duration,
}

/// One request on a connection of its own.
pub(crate) async fn exchange(endpoint: &Endpoint, request: &Request) -> Observed {
    match Connection::open(endpoint).await {
        Ok(mut connection) => connection.exchange(request).await,
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
    pub(crate) async fn exchange(&mut self, request: &Request) -> Observed {
        let limit = self.response_timeout + request.duration();
        let Self { stream, responses, .. } = self;
        let (mut from, mut to) = stream.split();
        let sending = async {
            for piece in request.pieces() {
                if to.write_all(&piece.bytes).await.is_err() {
                    break; // the response says why
                }
                sleep(piece.pause).await;
            }
            Instant::now()
        };
        let exchange = async {
            let mut responding = pin!(responses.response(&mut from, request.method));
            select! {
                observed = &mut responding => observed,
                sent = sending => timed_from(responding.await, sent),
            }
        };
        timeout(limit, exchange).await.unwrap_or(Observed::TimedOut)
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
