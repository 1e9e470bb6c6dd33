//! The smallest receiver on hyper, or on any other server for tower services: prints a line for each
//! article. The service does not route, so it receives every path.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{env, io, time::Duration};

use article_webhook_examples::{cannot_listen, listening, log_refusals, no_token};
use article_webhook_tower::{Delivery, Receiver, Reply, receive};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, time::sleep};

async fn print(delivery: Delivery) -> Reply {
    let Ok(result) = delivery.decode() else {
        return Reply::Ignored; // an event that this program does not use
    };
    // Both texts come from outside. Escaped, they cannot control the terminal.
    let (job, title) = (result.job_id.as_str().escape_debug(), result.article.title);
    let bytes = result.article.html.len();
    println!("{job}  {title:?}  {bytes} bytes of HTML");
    Reply::Stored // return this only from a program that stores it
}

#[tokio::main]
async fn main() -> io::Result<()> {
    log_refusals();
    let receiver = Receiver::from_env("ARTICLE_WEBHOOK_TOKEN");
    let receiver = receiver.unwrap_or_else(|error| no_token("hyper", &error));
    let service = TowerToHyperService::new(receive(receiver, print));

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let listener = TcpListener::bind(&address).await;
    let listener = listener.unwrap_or_else(|error| cannot_listen(&address, &error));
    listening(listener.local_addr()?);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await; // no file descriptor is free: wait for one
            continue;
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(5))
            .serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(connection);
    }
}
