//! A small blog: stores each article before the service is answered, and shows them as web pages.
//!
//! The articles are files in `ARTICLE_BLOG_DIR`, or else in `blog-articles`. The featured image of an article is fetched as
//! soon as the article is stored, because its URL may expire: over https, from public addresses. `ARTICLE_BLOG_FETCH=loopback` is
//! for tests: images come over http from this machine alone. Other images browsers load only from the origins in
//! `ARTICLE_BLOG_IMAGES`, as in `ARTICLE_BLOG_IMAGES='https://cdn.example'`, or else none.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program writes to the terminal

use std::{env, io, process::exit, sync::Arc};

use article_webhook_axum::{Receiver, receive};
use article_webhook_examples::{cannot_listen, listening, log_refusals, no_token};
use axum::{
    Router,
    extract::{Path, State},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::map_response,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use maud::Markup;
use tokio::{net::TcpListener, sync::Semaphore, task::spawn_blocking};

use crate::{
    images::{Origin, media_type},
    store::Store,
};

mod images;
mod pages;
mod store;

/// How many pages are rendered at a time, because each takes the memory of its articles.
const PAGES_AT_A_TIME: usize = 4;

/// What the pages are made from.
#[derive(Clone)]
struct Blog {
    store: Store,
    rendering: Arc<Semaphore>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    log_refusals();
    let receiver = Receiver::from_env("ARTICLE_WEBHOOK_TOKEN");
    let receiver = receiver.unwrap_or_else(|error| no_token("blog", &error));
    let directory = env::var("ARTICLE_BLOG_DIR").unwrap_or("blog-articles".to_owned());
    let origin = match env::var("ARTICLE_BLOG_FETCH").as_deref() {
        Err(_) | Ok("public") => Origin::Public,
        Ok("loopback") => Origin::Loopback,
        Ok(other) => {
            eprintln!("error: ARTICLE_BLOG_FETCH is {other:?}: it must be public or loopback");
            exit(2)
        }
    };
    let store = Store::open(directory.as_ref(), origin).unwrap_or_else(|error| {
        eprintln!("error: cannot use the folder {directory}: {error}");
        exit(2)
    });

    let images = env::var("ARTICLE_BLOG_IMAGES").unwrap_or_default();
    let policy = policy(&images).unwrap_or_else(|| {
        eprintln!("error: ARTICLE_BLOG_IMAGES must be origins, as in https://cdn.example");
        exit(2)
    });

    let style = ([(CONTENT_TYPE, "text/css")], include_str!("style.css"));
    let headers = [
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        // A link does not send the address of its page to its target.
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    let blog = Blog { store: store.clone(), rendering: Arc::new(Semaphore::new(PAGES_AT_A_TIME)) };
    let app = Router::new()
        .route("/", get(async |blog| list(blog, Path(1)).await))
        .route("/pages/{number}", get(list))
        .route("/articles/{key}", get(article))
        .route("/images/{key}", get(image))
        .route("/style.css", get(style))
        .fallback(async || not_found())
        .layer(map_response(move |page: Response| {
            let headers = headers.clone();
            async { (headers, page) }
        }))
        .with_state(blog)
        .route("/webhooks/articles", post(receive(receiver, store)));

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&address).await;
    let listener = listener.unwrap_or_else(|error| cannot_listen(&address, &error));
    listening(listener.local_addr()?);
    println!("Then read it at http://{}/\n", listener.local_addr()?);
    axum::serve(listener, app).await
}

/// If the sanitiser ever misses a script, the browser will not run it. An image shows its server who reads the page,
/// so it is loaded from here, or from these origins.
fn policy(images: &str) -> Option<HeaderValue> {
    let is_origin = |origin: &str| {
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let is_part = |byte| matches!(byte, b'.' | b'-' | b':') || u8::is_ascii_alphanumeric(&byte);
        host.is_some_and(|host| !host.is_empty() && host.bytes().all(is_part))
    };
    if !images.split_whitespace().all(is_origin) {
        return None;
    }
    let images = format!("'self' {}", images.trim());
    let images = images.trim();
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src {images}; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::try_from(policy).ok()
}

async fn list(State(blog): State<Blog>, Path(number): Path<usize>) -> Response {
    let store = blog.store.clone();
    blog.page(move || Ok(store.newest_first(number)?.map(|page| pages::list(&page)))).await
}

async fn article(State(blog): State<Blog>, Path(key): Path<String>) -> Response {
    let store = blog.store.clone();
    blog.page(move || Ok(store.entry(key)?.map(|entry| pages::article(&entry)))).await
}

/// The copy of an article's image. Its type is what it is, not what its host declared.
async fn image(State(blog): State<Blog>, Path(key): Path<String>) -> Response {
    let image = spawn_blocking(move || blog.store.image(&key)).await;
    let image = image.map_err(io::Error::from).flatten().ok().flatten();
    let found = image.and_then(|image| Some(([(CONTENT_TYPE, media_type(&image)?)], image)));
    found.map_or_else(not_found, IntoResponse::into_response)
}

impl Blog {
    /// Reads and renders on a thread that may block, because files and the sanitiser block.
    async fn page(
        self,
        render: impl FnOnce() -> io::Result<Option<Markup>> + Send + 'static,
    ) -> Response {
        let permit = self.rendering.acquire_owned().await.expect("it is never closed");
        let rendered = spawn_blocking(move || {
            let rendered = render();
            drop(permit);
            rendered
        });
        match rendered.await.map_err(io::Error::from).flatten() {
            Ok(Some(page)) => page.into_response(),
            Ok(None) => not_found(),
            Err(error) => {
                eprintln!("cannot show a page: {error}");
                let message = pages::message("The articles cannot be read now.");
                (StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
            }
        }
    }
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, pages::message("There is no such page.")).into_response()
}
