//! Another origin: it serves what a test gives it, and remembers all that it was asked for.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[derive(Clone)]
pub(crate) struct Foreign {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The headers and the text of each path.
    pages: Mutex<HashMap<String, (String, String)>>,
    /// The first line of each request; empty for a connection that ended without one.
    seen: Mutex<Vec<String>>,
    /// How many connections are open that have asked nothing yet.
    silent: AtomicUsize,
    /// The path of each request that brought a cookie.
    with_cookie: Mutex<Vec<String>>,
}

impl Foreign {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let foreign = Self { url, shared: Arc::clone(&shared) };
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, Arc::clone(&shared)));
            }
        });
        foreign
    }

    pub(crate) fn serve(&self, path: &str, headers: &str, text: &str) {
        let page = (headers.to_owned(), text.to_owned());
        self.shared.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    /// What it was asked for since the last call, without a browser's own question for an icon.
    pub(crate) fn seen(&self) -> Vec<String> {
        let mut seen = std::mem::take(&mut *self.shared.seen.lock().unwrap());
        seen.retain(|line| !line.starts_with("GET /favicon.ico "));
        seen
    }

    /// How many connections are open that have asked nothing: a browser makes them ahead of its requests.
    pub(crate) fn silent(&self) -> usize {
        self.shared.silent.load(Ordering::Relaxed)
    }

    /// The paths that were asked for with a cookie since the last call.
    pub(crate) fn with_cookie(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.with_cookie.lock().unwrap())
    }
}

async fn answer(mut stream: TcpStream, shared: Arc<Shared>) {
    shared.silent.fetch_add(1, Ordering::Relaxed);
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte).await, Ok(1)) {
        head.push(byte[0]);
    }
    shared.silent.fetch_sub(1, Ordering::Relaxed);
    let head = String::from_utf8_lossy(&head);
    let line = head.lines().next().unwrap_or_default().to_owned();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    shared.seen.lock().unwrap().push(line);
    if head.to_ascii_lowercase().contains("\r\ncookie:") {
        shared.with_cookie.lock().unwrap().push(path.clone());
    }
    let page = shared.pages.lock().unwrap().get(&path).cloned();
    let (headers, text) = page.unwrap_or_default();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\
         {headers}\r\n{text}",
        text.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}
