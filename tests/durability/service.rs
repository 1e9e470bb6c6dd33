//! The service: it delivers over a socket, and waits for the answer.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use article_webhook::fixture;

/// The article of a job, as the service sends it each time.
#[derive(Debug, Clone)]
pub(crate) struct Parcel {
    pub(crate) job_id: String,
    pub(crate) body: Vec<u8>,
    request: Vec<u8>,
}

impl Parcel {
    /// An article of about this number of bytes, or the smallest result.
    pub(crate) fn new(job_id: &str, bytes: usize) -> Self {
        let seed = job_id
            .bytes()
            .fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let post = if bytes == 0 { fixture::minimal() } else { fixture::generated(seed, bytes) }
            .job_id(job_id);
        let mut request = b"POST /webhooks/articles HTTP/1.1\r\nHost: receiver.test\r\n".to_vec();
        for (name, value) in post.headers() {
            request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        request.extend(format!("Content-Length: {}\r\n\r\n", post.bytes().len()).bytes());
        request.extend_from_slice(post.bytes());
        Self { job_id: job_id.to_owned(), body: post.bytes().to_vec(), request }
    }
}

/// A connection to a receiver, which stays open.
#[derive(Debug)]
pub(crate) struct Line {
    stream: TcpStream,
    port: u16,
}

impl Line {
    /// # Errors
    ///
    /// The receiver is not there.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        // About the timeout of the service. Any answer of a receiver that works comes sooner.
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let port = stream.local_addr()?.port();
        Ok(Self { stream, port })
    }

    /// The port of this side, by which the answers of the receiver are distinguished.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The status of the answer.
    ///
    /// # Errors
    ///
    /// The receiver hung up, or died.
    pub(crate) fn deliver(&mut self, parcel: &Parcel) -> io::Result<u16> {
        self.stream.write_all(&parcel.request)?;
        let (status, _) = self.answer()?;
        Ok(status)
    }

    /// The body of the answer to a question.
    ///
    /// # Errors
    ///
    /// The receiver hung up, or died.
    pub(crate) fn ask(&mut self, path: &str) -> io::Result<String> {
        let (status, body) = self.get(path)?;
        if status == 200 { Ok(body) } else { Err(io::Error::other(format!("{status}: {body}"))) }
    }

    /// The status and the body of the answer to a question.
    ///
    /// # Errors
    ///
    /// The receiver hung up, or died.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<(u16, String)> {
        write!(self.stream, "GET {path} HTTP/1.1\r\nHost: receiver.test\r\n\r\n")?;
        let (status, body) = self.answer()?;
        Ok((status, String::from_utf8(body).map_err(io::Error::other)?))
    }

    fn answer(&mut self) -> io::Result<(u16, Vec<u8>)> {
        let mut answer = Vec::new();
        let head = loop {
            if let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.more(&mut answer)?;
        };
        let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
        let status = text.get(9..12).and_then(|status| status.parse().ok());
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let length: usize = length.unwrap_or(0);
        while answer.len() < head + length {
            self.more(&mut answer)?;
        }
        Ok((status.ok_or_else(|| io::Error::other("no status"))?, answer.split_off(head)))
    }

    fn more(&mut self, answer: &mut Vec<u8>) -> io::Result<()> {
        let mut piece = [0; 4096];
        let read = self.stream.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&piece[..read]);
        Ok(())
    }
}
