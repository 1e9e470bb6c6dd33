use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use article_webhook_client::{ApiKey, Client, ClientBuilder, Response};

pub(crate) const KEY: &str = "sk-5f2b9c0e7a1d4e38";

/// A service that answers each request with the next line of its script, and repeats the last line.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    is_flood_read: Arc<AtomicBool>,
}

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) first_line: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// How a request is answered.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// Sends these bytes and closes the connection.
    Say(Vec<u8>),
    /// Sends these bytes and keeps the connection open.
    Hang(Vec<u8>),
    /// Sends the first bytes once, and the second bytes until they are [`FLOOD`].
    Flood(Vec<u8>, Vec<u8>),
}

/// What no client reads, far more than the largest limit of a body and what sockets buffer.
const FLOOD: usize = 64 << 20;

impl Service {
    pub(crate) fn start(script: impl Into<Vec<Line>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let service = Self { address, requests: Arc::default(), is_flood_read: Arc::default() };
        let (requests, is_flood_read) = (service.requests.clone(), service.is_flood_read.clone());
        let script = script.into();
        thread::spawn(move || {
            for (count, stream) in listener.incoming().flatten().enumerate() {
                let line = script[count.min(script.len() - 1)].clone();
                let (requests, is_flood_read) = (requests.clone(), is_flood_read.clone());
                thread::spawn(move || {
                    let request = read(&stream);
                    requests.lock().expect("no thread panics").push(request);
                    line.perform(&stream, &is_flood_read);
                });
            }
        });
        service
    }

    pub(crate) fn client(&self) -> Client {
        self.builder("").build().expect("the settings are valid")
    }

    /// A builder with short pauses, and with `path` after the host.
    pub(crate) fn builder(&self, path: &str) -> ClientBuilder {
        let key = ApiKey::new(KEY).expect("it is a key");
        let pauses = [1, 2].map(Duration::from_millis);
        Client::builder(key, &format!("http://{}{path}", self.address)).pauses(pauses[0], pauses[1])
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no thread panics").clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.requests().len()
    }

    /// Whether a client has read on until a flood ended.
    pub(crate) fn is_flood_read(&self) -> bool {
        self.is_flood_read.load(Ordering::Relaxed)
    }
}

/// What comes of a question with one attempt that is answered like this.
pub(crate) async fn asked_once(line: Line) -> Response {
    let client = Service::start([line]).client();
    client.article_once(&"job_1".parse().expect("it is an id")).await.expect("it is answered")
}

/// An answer with a JSON body.
pub(crate) fn json(status: u16, body: &str) -> Line {
    answer(status, "content-type: application/json\r\n", body)
}

pub(crate) fn answer(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Line {
    let body = body.as_ref();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    );
    Line::Say([head.as_bytes(), body].concat())
}

pub(crate) fn cut() -> Line {
    Line::Say(Vec::new())
}

/// A response with a part of the body that it declares.
pub(crate) fn torn(status: u16) -> Line {
    let head = format!("HTTP/1.1 {status} Status\r\ncontent-length: 100\r\n\r\n{{\"job_id\":");
    Line::Say(head.into())
}

impl Line {
    fn perform(&self, mut stream: &TcpStream, is_flood_read: &AtomicBool) {
        match self {
            Self::Say(bytes) => {
                let _ = stream.write_all(bytes);
            }
            Self::Hang(bytes) => {
                let _ = stream.write_all(bytes);
                // Until the client closes the connection.
                let _ = stream.read(&mut [0]);
            }
            Self::Flood(start, more) => {
                let _ = stream.write_all(start);
                let is_read = (0..FLOOD / more.len()).all(|_| stream.write_all(more).is_ok());
                is_flood_read.fetch_or(is_read, Ordering::Relaxed);
            }
        }
    }
}

fn read(mut stream: &TcpStream) -> Request {
    let mut bytes = Vec::new();
    let mut some = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map_or(0, |length| length.parse().expect("a length is a number"));
            if body.len() >= length {
                let first_line = head.lines().next().unwrap_or_default().to_owned();
                let (head, body) = (head.to_owned(), body.to_owned());
                return Request { first_line, head, body };
            }
        }
        match stream.read(&mut some) {
            Ok(count @ 1..) => bytes.extend(&some[..count]),
            _ => panic!("the client ended its request early: {text:?}"),
        }
    }
}
