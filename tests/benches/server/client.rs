//! A sender, as plain as can be: it must cost less than the servers, and it is not measured.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpStream},
    thread,
    time::Duration,
};

use article_webhook::fixture::DeliveryRequest;

/// How the sender's bytes come to the server.
#[derive(Clone, Copy)]
pub(crate) enum Road {
    /// As fast as the loopback interface takes them: a megabyte is on its way before any server
    /// can answer its first line.
    Loopback,
    /// As over a fast network, 2 Gbit/s with a quarter of a millisecond there and back: the answer
    /// to the first line comes before the second piece is sent.
    Network,
}

impl Road {
    const PIECE: usize = 64 << 10;
    const THERE_AND_BACK: Duration = Duration::from_micros(250);

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Loopback => "all at once",
            Self::Network => "piece by piece",
        }
    }

    /// Whether the whole request was sent. Like curl and hyper, it stops when the server answers,
    /// or hangs up, while the body is still on its way.
    fn send(self, connection: &mut TcpStream, request: &[u8]) -> bool {
        for piece in request.chunks(Self::PIECE) {
            if is_answered(connection) || connection.write_all(piece).is_err() {
                return false;
            }
            if matches!(self, Self::Network) && request.len() > Self::PIECE {
                thread::sleep(Self::THERE_AND_BACK);
            }
        }
        true
    }
}

/// A connection that is kept as long as the server keeps it.
pub(crate) struct Client {
    port: u16,
    road: Road,
    connection: Option<TcpStream>,
}

impl Client {
    pub(crate) fn new(port: u16, road: Road) -> Self {
        let connection = None;
        Self { port, road, connection }
    }

    /// Sends a request and returns the status of the answer; `None` where the server closed the
    /// connection before the answer was read, which a server may that wants no more of the body.
    pub(crate) fn send(&mut self, request: &[u8]) -> Option<u16> {
        let port = self.port;
        let mut connection = self.connection.take().unwrap_or_else(|| connect(port));
        let sent = self.road.send(&mut connection, request);
        let answer = answer(&mut connection).ok()?;
        if sent && !answer.contains("connection: close") {
            self.connection = Some(connection);
        }
        answer.split(' ').nth(1)?.parse().ok()
    }
}

fn connect(port: u16) -> TcpStream {
    let connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the server listens");
    let timeout = Some(Duration::from_secs(10));
    connection.set_read_timeout(timeout).expect("it is not zero");
    connection.set_write_timeout(timeout).expect("it is not zero");
    connection.set_nodelay(true).expect("it is connected");
    connection
}

fn is_answered(connection: &TcpStream) -> bool {
    let nonblocking = |nonblocking| connection.set_nonblocking(nonblocking);
    nonblocking(true).expect("the socket is open");
    let peeked = connection.peek(&mut [0]);
    nonblocking(false).expect("the socket is open");
    !matches!(peeked, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

/// The head of the answer in lower case, after its body was read.
fn answer(connection: &mut TcpStream) -> io::Result<String> {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = connection.read(&mut buffer)?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer).to_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split("content-length: ").nth(1);
            let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(head.to_owned());
            }
        }
    }
}

/// The bytes of a request.
pub(crate) fn request(post: &DeliveryRequest) -> Vec<u8> {
    let mut request = b"POST / HTTP/1.1\r\nHost: localhost\r\n".to_vec();
    for (name, value) in post.headers() {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    request.extend_from_slice(b"\r\n");
    request.extend_from_slice(post.bytes());
    request
}
