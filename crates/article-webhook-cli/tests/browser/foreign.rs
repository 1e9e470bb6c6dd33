//! Another origin: it serves what a test gives it, and remembers all that it was asked for.

use std::{
    collections::HashMap,
    mem::take,
    sync::{
        Arc, Mutex,
        atomic::{AtomicIsize, Ordering},
    },
};

use axum::{
    Router,
    extract::Request,
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use tokio::net::TcpListener;

#[derive(Clone)]
pub(crate) struct Foreign {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The policy and the text of each path.
    pages: Mutex<HashMap<String, (String, String)>>,
    /// The path of each request, and of each that brought a cookie.
    seen: Mutex<Vec<String>>,
    with_cookie: Mutex<Vec<String>>,
    /// How many connections asked nothing.
    silent: AtomicIsize,
}

impl Foreign {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let (opened, asked) = (Arc::clone(&shared), Arc::clone(&shared));
        let listener = listener.tap_io(move |_| {
            opened.silent.fetch_add(1, Ordering::Relaxed);
        });
        let answer = async move |request: Request| asked.answer(&request);
        let service = axum::serve(listener, Router::new().fallback(answer));
        tokio::spawn(async move { service.await.unwrap() });
        Self { url, shared }
    }

    /// Serves a text, with a policy of its content unless that is empty.
    pub(crate) fn serve(&self, path: &str, policy: &str, text: &str) {
        let page = (policy.to_owned(), text.to_owned());
        self.shared.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    /// What it was asked for since the last call, without a browser's own question for an icon.
    pub(crate) fn seen(&self) -> Vec<String> {
        take(&mut *self.shared.seen.lock().unwrap())
    }

    /// How many connections were made that asked nothing: a browser makes them ahead of its requests.
    pub(crate) fn silent(&self) -> isize {
        self.shared.silent.load(Ordering::Relaxed)
    }

    /// The paths that were asked for with a cookie since the last call.
    pub(crate) fn with_cookie(&self) -> Vec<String> {
        take(&mut *self.shared.with_cookie.lock().unwrap())
    }
}

impl Shared {
    /// Each connection is for one request.
    fn answer(&self, request: &Request) -> Response {
        self.silent.fetch_sub(1, Ordering::Relaxed);
        let path = request.uri().to_string();
        if path != "/favicon.ico" {
            self.seen.lock().unwrap().push(path.clone());
        }
        if request.headers().contains_key("cookie") {
            self.with_cookie.lock().unwrap().push(path.clone());
        }
        let page = self.pages.lock().unwrap().get(&path).cloned();
        let (policy, text) = page.unwrap_or_default();
        let headers = [("content-type", "text/html; charset=utf-8"), ("connection", "close")];
        let mut answer = (headers, text).into_response();
        if !policy.is_empty() {
            answer.headers_mut().insert("content-security-policy", policy.parse().unwrap());
        }
        answer
    }
}
