//! A small blog: stores each article before the service is answered, and shows them as web pages.
//!
//! The articles are files in `ARTICLE_BLOG_DIR`, or else in `blog-articles`.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program writes to the terminal

use std::{env, io, process::exit};

use article_webhook_axum::{AuthToken, Receiver, receive};
use article_webhook_examples::{cannot_listen, listening, log_refusals, no_token};
use axum::{
    Router,
    extract::{Path, State},
    http::{
        StatusCode,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    },
    middleware::map_response,
    response::{IntoResponse, Response},
    routing::{any, get},
};
use maud::Markup;
use tokio::{net::TcpListener, task::spawn_blocking};

use crate::store::Store;

mod pages;
mod store;

/// Sent with every page. If the sanitiser ever misses a script, the browser will not run it.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src http: https:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[tokio::main]
async fn main() -> io::Result<()> {
    log_refusals();
    let token = AuthToken::from_env("ARTICLE_WEBHOOK_TOKEN");
    let receiver = Receiver::new(token.unwrap_or_else(|error| no_token("blog", &error)));
    let directory = env::var("ARTICLE_BLOG_DIR").unwrap_or("blog-articles".to_owned());
    let store = Store::open(directory.as_ref()).unwrap_or_else(|error| {
        eprintln!("error: cannot use the folder {directory}: {error}");
        exit(2)
    });

    let style = ([(CONTENT_TYPE, "text/css")], include_str!("style.css"));
    let with_policy = async |page: Response| ([(CONTENT_SECURITY_POLICY, POLICY)], page);
    let app = Router::new()
        .route("/", get(list))
        .route("/articles/{key}", get(article))
        .route("/style.css", get(style))
        .fallback(async || page(|| Ok(None)).await)
        .layer(map_response(with_policy))
        .with_state(store.clone())
        .route("/webhooks/articles", any(receive(receiver, store)));

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&address).await;
    let listener = listener.unwrap_or_else(|error| cannot_listen(&address, &error));
    listening(listener.local_addr()?);
    println!("Then read it at http://{}/\n", listener.local_addr()?);
    axum::serve(listener, app).await
}

async fn list(State(store): State<Store>) -> Response {
    page(move || Ok(Some(pages::list(&store.newest_first()?)))).await
}

async fn article(State(store): State<Store>, Path(key): Path<String>) -> Response {
    page(move || Ok(store.entry(key)?.map(|entry| pages::article(&entry)))).await
}

/// Reads and renders on a thread that may block, because files and the sanitiser block.
async fn page(render: impl FnOnce() -> io::Result<Option<Markup>> + Send + 'static) -> Response {
    let rendered = spawn_blocking(render).await.map_err(io::Error::from);
    let (status, message) = match rendered.flatten() {
        Ok(Some(page)) => return page.into_response(),
        Ok(None) => (StatusCode::NOT_FOUND, "There is no such page."),
        Err(error) => {
            eprintln!("cannot show a page: {error}");
            let message = "The articles cannot be read now.";
            (StatusCode::INTERNAL_SERVER_ERROR, message)
        }
    };
    (status, pages::message(message)).into_response()
}
