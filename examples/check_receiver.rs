//! Checks any receiver, in any language, by its URL: what it answers to deliveries, to forgeries, and to broken
//! connections. Exits with 1 if the receiver loses articles or accepts forgeries.
//!
//! ARTICLE_WEBHOOK_TOKEN='…' cargo run -q --example check_receiver -- http://127.0.0.1:3000/webhooks/articles
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program writes to its terminal

use std::{env, process::ExitCode};

use article_webhook_check::check_receiver;

#[tokio::main]
async fn main() -> ExitCode {
    let (Some(url), Ok(token)) = (env::args().nth(1), env::var("ARTICLE_WEBHOOK_TOKEN")) else {
        eprintln!(
            "error: give the receiver's URL, and its token in ARTICLE_WEBHOOK_TOKEN

  ARTICLE_WEBHOOK_TOKEN='Bearer my-secret-token-1234' \\
    cargo run -q --example check_receiver -- http://127.0.0.1:3000/webhooks/articles
"
        );
        return ExitCode::from(2);
    };
    match check_receiver(&url, &token).await {
        Ok(report) => {
            println!("{report}");
            if report.is_conformant() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
