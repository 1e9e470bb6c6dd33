//! The smallest receiver on axum: prints a line for each article.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{env, io};

use article_webhook_axum::{ArticleComplete, Receiver, Retry, RunToCompletion};
use article_webhook_examples::{cannot_listen, listening, log_refusals, no_token};
use axum::{Router, routing::post};
use tokio::net::TcpListener;

async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> Result<(), Retry> {
    // Both texts come from outside. Escaped, they cannot control the terminal.
    let (job, title) = (result.job_id.as_str().escape_debug(), result.article.title);
    let bytes = result.article.html.len();
    println!("{job}  {title:?}  {bytes} bytes of HTML");
    Ok(())
}

#[tokio::main]
async fn main() -> io::Result<()> {
    log_refusals();
    let receiver = Receiver::from_env("ARTICLE_WEBHOOK_TOKEN");
    let receiver = receiver.unwrap_or_else(|error| no_token("axum", &error));
    let on_article = post(on_article).layer(RunToCompletion::new(receiver.clone()));
    let app = Router::new().route("/webhooks/articles", on_article).with_state(receiver);

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&address).await;
    let listener = listener.unwrap_or_else(|error| cannot_listen(&address, &error));
    listening(listener.local_addr()?);
    axum::serve(listener, app).await
}
