//! A receiver on axum with an inbox: each article is stored before the service is answered, and printed after that.
//! Articles that were not printed before Ctrl-C, SIGTERM or a power cut are printed at the next start.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{env, error::Error};

use article_webhook_axum::{Receiver, receive};
use article_webhook_examples::{cannot_listen, cannot_open, listening, log_refusals, no_token};
use article_webhook_inbox::{Failed, Inbox, Job, stop_signal};
use article_webhook_server::Server;
use axum::{Router, routing::post};

async fn print(job: Job) -> Result<(), Failed> {
    // Both texts come from outside. Escaped, they cannot control the terminal.
    let (id, article) = (job.job_id().as_str().escape_debug(), &job.article()?.article);
    println!("{id}  {:?}  {} bytes of HTML", article.title, article.html.len());
    Ok(()) // done; after an error the worker retries, first after 10 seconds
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    log_refusals();
    let receiver = Receiver::from_env("ARTICLE_WEBHOOK_TOKEN");
    let receiver = receiver.unwrap_or_else(|error| no_token("inbox_axum", &error));
    let path = env::var("ARTICLE_INBOX_DB").unwrap_or("inbox.db".to_owned());
    let inbox = Inbox::open(&path).await.unwrap_or_else(|error| cannot_open(&error));
    let app = Router::new().route("/webhooks/articles", post(receive(receiver, inbox.clone())));

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let server = Server::bind(&address).await;
    let server = server.unwrap_or_else(|error| cannot_listen(&address, &error));
    listening(server.local_addr()?);

    // In a task of its own: if the worker ends with an error, the log says so, and articles are still stored.
    let worker = tokio::spawn(inbox.worker(print).concurrency(4).run(stop_signal()));
    // Both stop at the same time and within 25 seconds, so that 30 are enough for the whole program.
    server.serve(app, stop_signal()).await?;
    worker.await??;
    Ok(inbox.close().await?)
}
