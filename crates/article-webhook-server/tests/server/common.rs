//! A server in the background, and a peer that sends any bytes.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use article_webhook_server::{Server, ServerBody, ServerBuilder};
use axum::{Router, extract::Request, routing::any};
use http::Response;
use http_body_util::BodyExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};
use tower_service::Service;

/// The deadline of these tests: long enough for a busy machine, short enough to wait for.
pub(crate) const HEAD: Duration = Duration::from_millis(400);
/// How long a test waits for something that must happen.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn server() -> ServerBuilder {
    Server::builder().head_deadline(HEAD).idle_deadline(HEAD).shutdown_grace(TIMEOUT)
}

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<io::Result<()>>,
}

impl Running {
    pub(crate) fn start<S, B>(server: ServerBuilder, service: S) -> Self
    where
        S: Service<Request<ServerBody>, Response = Response<B>, Future: Send>
            + Clone
            + Send
            + 'static,
        B: http_body::Body<
                Data = bytes::Bytes,
                Error: Into<Box<dyn std::error::Error + Send + Sync>>,
            > + Send
            + 'static,
    {
        let socket = TcpSocket::new_v4().expect("a socket can be made");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("a port is free");
        let listener = socket.listen(1024).expect("the socket is bound");
        let server = server.build(listener).expect("the settings are valid");
        let address = server.local_addr().expect("it listens");
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(server.serve(service, async { _ = stopped.await }));
        Self { address, stop, served }
    }

    pub(crate) async fn connect(&self) -> Peer {
        Peer::connect(self.address).await
    }

    /// A peer that has sent this.
    pub(crate) async fn send(&self, bytes: impl AsRef<[u8]>) -> Peer {
        let mut peer = self.connect().await;
        peer.send(bytes).await;
        peer
    }

    /// Asks the server to stop.
    pub(crate) fn stop(self) -> JoinHandle<io::Result<()>> {
        self.stop.send(()).expect("the server runs");
        self.served
    }
}

/// An application that reads the body and answers its length.
pub(crate) fn counting() -> Router {
    let count = |request: Request| async {
        let body = request.into_body().collect().await;
        body.map(|body| body.to_bytes().len().to_string()).map_err(|error| error.to_string())
    };
    Router::new().route("/", any(count))
}

pub(crate) const GET: &str = "GET / HTTP/1.1\r\nHost: receiver.test\r\n\r\n";

/// The head of a request with a body of `length` bytes.
pub(crate) fn post(length: usize) -> String {
    format!("POST / HTTP/1.1\r\nHost: receiver.test\r\nContent-Length: {length}\r\n\r\n")
}

pub(crate) struct Peer(pub(crate) TcpStream);

impl Peer {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.expect("the server listens"))
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.expect("the connection is open");
    }

    /// The next response, whose body has a declared length.
    pub(crate) async fn answer(&mut self) -> String {
        let mut answer = Vec::new();
        let whole = async {
            while !is_whole(&answer) {
                let read = self.0.read_buf(&mut answer).await.expect("no reset");
                assert_ne!(read, 0, "the end, after {}", String::from_utf8_lossy(&answer));
            }
        };
        timeout(TIMEOUT, whole).await.expect("an answer comes");
        String::from_utf8(answer).expect("it is text")
    }

    /// Everything up to the end of the connection, which must come in time.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let read = timeout(TIMEOUT, self.0.read_to_end(&mut rest)).await.expect("it is closed");
        read.expect("no reset");
        String::from_utf8(rest).expect("it is text")
    }

    /// The time until the connection is closed without a response. A reset counts.
    pub(crate) async fn closed_after(&mut self) -> Duration {
        let start = Instant::now();
        let read = timeout(TIMEOUT, self.0.read(&mut [0])).await.expect("it is closed");
        assert_eq!(read.unwrap_or(0), 0, "nothing was to be answered");
        start.elapsed()
    }

    pub(crate) async fn is_open(&mut self) -> bool {
        timeout(Duration::from_millis(50), self.0.read(&mut [0])).await.is_err()
    }

    /// Sends the same byte repeatedly until the connection is closed or the time is up.
    pub(crate) async fn trickle(&mut self, byte: u8, within: Duration) -> Option<Duration> {
        let start = Instant::now();
        while start.elapsed() < within {
            if self.0.write_all(&[byte]).await.is_err() || !self.is_open().await {
                return Some(start.elapsed());
            }
        }
        None
    }
}

fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    body.len() >= length.map_or(0, |length| length.parse().expect("a length is a number"))
}

/// The output of a future that must resolve in time.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(TIMEOUT, future).await.expect("it happens soon")
}

/// Not before its time, beside what passed until the test looked at the clock, and not much later: a busy machine may
/// take seconds.
pub(crate) fn assert_near(elapsed: Duration, expected: Duration) {
    let (least, most) = (expected.mul_f64(0.8), expected + TIMEOUT / 2);
    assert!((least..most).contains(&elapsed), "{elapsed:?} instead of {expected:?}");
}
