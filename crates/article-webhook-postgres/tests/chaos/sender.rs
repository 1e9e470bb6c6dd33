//! The service: it delivers over a socket until it is acknowledged.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use article_webhook::fixture;
use article_webhook_inbox::Digest;

/// The article of a job, as the service sends it each time.
pub(crate) struct Parcel {
    pub(crate) job_id: String,
    pub(crate) digest: Digest,
    request: Vec<u8>,
}

impl Parcel {
    pub(crate) fn new(job_id: String, bytes: usize) -> Self {
        let post = fixture::generated(fastrand::u64(..), bytes).job_id(&job_id);
        let mut request = b"POST /webhooks/articles HTTP/1.1\r\nHost: receiver.test\r\n".to_vec();
        for (name, value) in post.headers() {
            request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        request.extend(format!("Content-Length: {}\r\n\r\n", post.bytes().len()).bytes());
        request.extend_from_slice(post.bytes());
        Self { job_id, digest: Digest::of(post.bytes()), request }
    }
}

/// Connections to the nodes, which stay open.
#[derive(Default)]
pub(crate) struct Sender {
    open: Option<(SocketAddr, TcpStream)>,
}

impl Sender {
    /// Whether the node acknowledges the delivery.
    pub(crate) fn deliver(&mut self, to: SocketAddr, parcel: &Parcel) -> bool {
        let status = self.attempt(to, parcel);
        if status.is_err() {
            self.open = None;
        }
        status.is_ok_and(|status| (200..300).contains(&status))
    }

    fn attempt(&mut self, to: SocketAddr, parcel: &Parcel) -> io::Result<u16> {
        let stream = match self.open.take() {
            Some((address, stream)) if address == to => stream,
            _ => {
                let stream = TcpStream::connect(to)?;
                stream.set_nodelay(true)?;
                // Longer than any answer of a node that works.
                stream.set_read_timeout(Some(Duration::from_secs(20)))?;
                stream
            }
        };
        let (_, stream) = self.open.insert((to, stream));
        stream.write_all(&parcel.request)?;
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        loop {
            let read = stream.read(&mut piece)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            answer.extend_from_slice(&piece[..read]);
            let text = String::from_utf8_lossy(&answer).to_ascii_lowercase();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
                let status = head.get(9..12).and_then(|status| status.parse().ok());
                return status.ok_or_else(|| io::Error::other("no status"));
            }
        }
    }
}
