//! The smallest receiver on actix-web: prints a line for each article.
#![allow(clippy::print_stdout)] // its output is what the program is for

use std::{env, io};

use actix_web::{App, HttpServer, web};
use article_webhook_actix_web::{ArticleComplete, Receiver, Retry, RunToCompletion};
use article_webhook_examples::{cannot_listen, listening, log_refusals, no_token};

async fn on_article(ArticleComplete(result, ..): ArticleComplete) -> Result<(), Retry> {
    // Both texts come from outside. Escaped, they cannot control the terminal.
    let (job, title) = (result.job_id.as_str().escape_debug(), result.article.title);
    let bytes = result.article.html.len();
    println!("{job}  {title:?}  {bytes} bytes of HTML");
    Ok(())
}

#[actix_web::main]
async fn main() -> io::Result<()> {
    log_refusals();
    let receiver = Receiver::from_env("ARTICLE_WEBHOOK_TOKEN");
    let receiver = receiver.unwrap_or_else(|error| no_token("actix_web", &error));
    let app = move || {
        let articles = web::resource("/webhooks/articles")
            .route(web::post().to(on_article))
            .wrap(RunToCompletion::new(receiver.clone()));
        App::new().app_data(receiver.clone()).service(articles)
    };

    let address = env::var("ARTICLE_WEBHOOK_ADDR").unwrap_or("127.0.0.1:3000".to_owned());
    let server = HttpServer::new(app).bind(&address);
    let server = server.unwrap_or_else(|error| cannot_listen(&address, &error));
    listening(server.addrs()[0]);
    server.run().await
}
