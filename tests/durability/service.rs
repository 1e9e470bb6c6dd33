//! The service: it delivers over a socket, and waits for the answer.

#[allow(dead_code, unreachable_pub)] // the conformance suite looks closer at connections
#[path = "../connection.rs"]
mod connection;

use std::{io, net::SocketAddr};

use article_webhook::fixture;
use connection::{Connection, Response, wire};

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
        let request = wire("POST /webhooks/articles", &post);
        Self { job_id: job_id.to_owned(), body: post.bytes().to_vec(), request }
    }
}

/// A connection to a receiver, which stays open.
#[derive(Debug)]
pub(crate) struct Line(Connection);

impl Line {
    /// Fails if the receiver is not there.
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        Connection::try_open(address).map(Self)
    }

    /// The port of this side, by which the answers of the receiver are distinguished.
    pub(crate) fn port(&self) -> u16 {
        self.0.port()
    }

    /// The status of the answer.
    pub(crate) fn deliver(&mut self, parcel: &Parcel) -> io::Result<u16> {
        self.exchange(&parcel.request).map(|response| response.status)
    }

    /// The status and the body of the answer to a question.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<(u16, String)> {
        let response =
            self.exchange(format!("GET {path} HTTP/1.1\r\nHost: receiver.test\r\n\r\n"))?;
        Ok((response.status, response.body))
    }

    /// The body of a success.
    pub(crate) fn ask(&mut self, path: &str) -> io::Result<String> {
        match self.get(path)? {
            (200, body) => Ok(body),
            (status, body) => Err(io::Error::other(format!("{status}: {body}"))),
        }
    }

    /// Fails if the receiver hung up, or died.
    fn exchange(&mut self, request: impl AsRef<[u8]>) -> io::Result<Response> {
        self.0.send(request);
        self.0.response().map_err(|silence| io::Error::other(format!("{silence:?}")))
    }
}
