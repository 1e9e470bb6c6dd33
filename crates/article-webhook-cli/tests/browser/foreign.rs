//! Another origin: it serves what a test gives it, and remembers all that it was asked for.

use std::{
    collections::HashMap,
    mem::take,
    sync::{Arc, Mutex},
};

use axum::{Router, extract::Request, response::Html};
use tokio::net::TcpListener;

#[derive(Clone)]
pub(crate) struct Foreign {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The text of each path.
    pages: Mutex<HashMap<String, String>>,
    /// The path of each request, and of each that brought a cookie.
    seen: Mutex<Vec<String>>,
    with_cookie: Mutex<Vec<String>>,
}

impl Foreign {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let asked = Arc::clone(&shared);
        let answer = async move |request: Request| asked.answer(&request);
        let service = axum::serve(listener, Router::new().fallback(answer));
        tokio::spawn(async move { service.await.unwrap() });
        Self { url, shared }
    }

    pub(crate) fn serve(&self, path: &str, text: &str) {
        self.shared.pages.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    /// What it was asked for since the last call, without a browser's own question for an icon.
    pub(crate) fn seen(&self) -> Vec<String> {
        take(&mut *self.shared.seen.lock().unwrap())
    }

    /// The paths that were asked for with a cookie since the last call.
    pub(crate) fn with_cookie(&self) -> Vec<String> {
        take(&mut *self.shared.with_cookie.lock().unwrap())
    }
}

impl Shared {
    fn answer(&self, request: &Request) -> Html<String> {
        let path = request.uri().to_string();
        if path != "/favicon.ico" {
            self.seen.lock().unwrap().push(path.clone());
        }
        if request.headers().contains_key("cookie") {
            self.with_cookie.lock().unwrap().push(path.clone());
        }
        Html(self.pages.lock().unwrap().get(&path).cloned().unwrap_or_default())
    }
}
