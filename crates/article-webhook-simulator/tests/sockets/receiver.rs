use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// A receiver that records requests, and answers them with the statuses of a script. After its end it answers 200.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    came: Arc<Mutex<Vec<Came>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Came {
    pub(crate) headers: HeaderMap,
    /// `None` if it ended early.
    pub(crate) body: Option<Bytes>,
}

impl Receiver {
    pub(crate) async fn start(script: &'static [u16]) -> Self {
        let came = Arc::new(Mutex::new(Vec::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let notes = came.clone();
        let app = Router::new()
            .fallback(async move |request: Request| note(request, script, &notes).await);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, came }
    }

    pub(crate) fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }
}

async fn note(request: Request<Body>, script: &[u16], notes: &Mutex<Vec<Came>>) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 64 << 20).await.ok();
    let mut notes = notes.lock().unwrap();
    let status = script.get(notes.len()).copied().unwrap_or(200);
    notes.push(Came { headers: head.headers, body });
    let redirect = [(header::LOCATION, head.uri.path().to_owned())];
    (StatusCode::from_u16(status).unwrap(), redirect, format!("answer {status}")).into_response()
}

/// A receiver that accepts one connection, reads one request, answers with `answer`, and returns the request.
pub(crate) async fn raw(answer: &'static [u8]) -> (String, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?shop=1", listener.local_addr().unwrap());
    let came = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut came = Vec::new();
        let mut buffer = [0; 64 << 10];
        loop {
            let read = stream.read(&mut buffer).await.unwrap_or_default();
            came.extend_from_slice(&buffer[..read]);
            if read == 0 {
                return came;
            }
            if came.ends_with(b"}") || came.ends_with(b"0\r\n\r\n") {
                _ = stream.write_all(answer).await;
                return came;
            }
        }
    });
    (url, came)
}
