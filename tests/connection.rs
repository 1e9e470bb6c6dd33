//! A client that sends whatever bytes it is given, over a socket of the loopback.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use article_webhook::fixture::DeliveryRequest;

/// An upper bound, and never a pace: what is waited for comes at once, or the test has failed.
pub const CLIENT_TIMEOUT: Duration = Duration::from_secs(20);

/// A client's side of one connection, which writes whatever bytes it is given.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A response as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The code of its status line.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// As many bytes as it declares.
    pub body: String,
    /// Every byte but those of the `date` line.
    pub timeless: String,
}

/// Why there is no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The server closed the connection.
    Closed,
    /// The server closed it in the middle of a response.
    Torn,
    /// The server sent nothing within the timeout of the client.
    Late,
}

impl Response {
    /// The value of the first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Connection {
    /// Connects to a server that listens.
    pub fn open(address: SocketAddr) -> Self {
        Self::try_open(address).expect("the server listens")
    }

    /// Connects to a server that may be gone.
    pub fn try_open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(CLIENT_TIMEOUT))?;
        stream.set_read_timeout(Some(CLIENT_TIMEOUT))?;
        Ok(Self { stream, read: Vec::new() })
    }

    /// The port of this side.
    pub fn port(&self) -> u16 {
        self.stream.local_addr().expect("it is connected").port()
    }

    /// Writes all, unless the server has closed before: that shows in what it answers.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Waits until the server has sent something, and leaves it unread: a connection that is dropped
    /// then is reset.
    pub fn leave_unread(&self) {
        let waiting = self.stream.peek(&mut [0]).expect("the server sends something");
        assert_eq!(waiting, 1, "the server closed the connection");
    }

    /// Ends the stream of this side.
    pub fn finish_sending(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next response, `100 Continue` included.
    pub fn response(&mut self) -> Result<Response, Silence> {
        self.response_to("POST")
    }

    /// The next response that is not an interim one.
    pub fn answer_to(&mut self, method: &str) -> Result<Response, Silence> {
        loop {
            let response = self.response_to(method)?;
            if response.status >= 200 {
                return Ok(response);
            }
        }
    }

    fn response_to(&mut self, method: &str) -> Result<Response, Silence> {
        let head = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break String::from_utf8_lossy(&self.read[..end]).into_owned();
            }
            self.fill()?;
        };
        let start = head.len() + 4;
        let mut lines = head.split("\r\n");
        let status_line = lines.next().unwrap_or_default();
        let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: Vec<_> =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        let mut response = Response {
            status: status.unwrap_or_else(|| panic!("not a status line: {status_line}")),
            headers,
            body: String::new(),
            timeless: String::new(),
        };
        let length = response
            .header("content-length")
            .map_or(0, |length| length.parse().expect("a length is a number"));
        let length = if method == "HEAD" { 0 } else { length };
        while self.read.len() < start + length {
            self.fill()?;
        }
        let bytes: Vec<u8> = self.read.drain(..start + length).collect();
        response.body = String::from_utf8_lossy(&bytes[start..]).into_owned();
        response.timeless = String::from_utf8_lossy(&bytes)
            .split_inclusive('\n')
            .filter(|line| !line.to_ascii_lowercase().starts_with("date: "))
            .collect();
        Ok(response)
    }

    /// Waits for the server to close the connection without another byte.
    pub fn is_closed(&mut self) -> bool {
        self.read.is_empty() && self.fill() == Err(Silence::Closed)
    }

    fn fill(&mut self) -> Result<(), Silence> {
        let mut some = [0; 4096];
        let end = if self.read.is_empty() { Silence::Closed } else { Silence::Torn };
        match self.stream.read(&mut some) {
            Ok(0) => Err(end),
            Ok(count) => {
                self.read.extend_from_slice(&some[..count]);
                Ok(())
            }
            Err(error) if is_late(&error) => Err(Silence::Late),
            Err(_reset) => Err(end),
        }
    }
}

/// The bytes of a delivery, whose first words are method and path.
pub fn wire(first: &str, post: &DeliveryRequest) -> Vec<u8> {
    let mut wire = format!("{first} HTTP/1.1\r\nHost: receiver.test\r\n").into_bytes();
    for (name, value) in post.headers() {
        wire.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    wire.extend(b"\r\n");
    wire.extend(post.bytes());
    wire
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
