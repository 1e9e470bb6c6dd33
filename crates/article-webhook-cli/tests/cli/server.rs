//! Servers that answer wrongly in one way each.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// The head and the body of a request.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn has(&self, text: &str) -> bool {
        self.head.to_ascii_lowercase().contains(&text.to_ascii_lowercase())
    }

    /// Without the lines of these headers.
    pub(crate) fn without(&self, names: &[&str]) -> String {
        let stays = |line: &&str| {
            let line = line.to_ascii_lowercase();
            !names.iter().any(|name| line.starts_with(&format!("{name}:")))
        };
        self.head.split("\r\n").filter(stays).collect::<Vec<_>>().join("\r\n")
    }
}

pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// A refusal as receivers of this project write it.
pub(crate) fn refusal(status: &str, code: &str) -> String {
    answer(status, "Content-Type: application/json\r\n", &format!("{{\"error\":\"{code}\"}}"))
}

/// Serves each connection in a thread, for one request each.
pub(crate) fn serve_connections(
    host: &str,
    each: impl Fn(TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((host, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let each = Arc::new(each);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let each = Arc::clone(&each);
            thread::spawn(move || each(stream.unwrap()));
        }
    });
    address
}

/// Serves requests, and returns their origin.
pub(crate) fn serve<T: Into<Vec<u8>>>(
    each: impl Fn(&Request) -> T + Send + Sync + 'static,
) -> String {
    let address = serve_connections("127.0.0.1", move |mut stream| {
        if let Some(request) = read(&mut stream) {
            let _ = stream.write_all(&each(&request).into());
        }
    });
    format!("http://{address}")
}

/// A proxy before a receiver that removes headers.
pub(crate) fn stripping(receiver: SocketAddr, names: &'static [&'static str]) -> String {
    serve(move |request| {
        let head = request.without(names).replacen("\r\n", "\r\nConnection: close\r\n", 1);
        let mut stream = TcpStream::connect(receiver).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&request.body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    })
}

/// Posts to the path of the receiver at this URL, and returns the response. Empty: no receiver was there.
pub(crate) fn post<'a>(
    url: &str,
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
) -> String {
    let address = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let mut request =
        format!("POST /webhooks/articles HTTP/1.1\r\nHost: {address}\r\n").into_bytes();
    for (name, value) in headers {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    request.extend([b"Connection: close\r\n\r\n", body].concat());
    let mut response = String::new();
    let Ok(mut stream) = TcpStream::connect(address) else { return response };
    let _ =
        stream.write_all(&request).and_then(|()| stream.read_to_string(&mut response).map(drop));
    response
}

/// A request, with the empty line at the end of its head.
pub(crate) fn read(stream: &mut impl Read) -> Option<Request> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    let mut more = |bytes: &mut Vec<u8>| {
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        Some(())
    };
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        more(&mut bytes)?;
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let lower = head.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + length {
        more(&mut bytes)?;
    }
    Some(Request { head, body: bytes.split_off(end) })
}
