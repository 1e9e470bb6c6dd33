//! One short program per file; `cargo run -q --example NAME` runs it.
//!
//! This file holds what the programs have in common: their messages on the terminal. An application of
//! your own does not need it.
#![allow(clippy::print_stdout, clippy::print_stderr)] // programs write to the terminal

use std::{
    io::{self, IsTerminal},
    net::SocketAddr,
    process::exit,
};

use article_webhook::TokenError;
use tracing_subscriber::filter::LevelFilter;

/// Logs to standard error why the receiver refused a delivery, and why a handler failed.
pub fn log_refusals() {
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
}

/// Prints where a program listens, and how to deliver an article to it. The token is not shown.
pub fn listening(address: SocketAddr) {
    println!(
        r#"Listening on http://{address}/webhooks/articles

Deliver an article to it from another terminal, with the same ARTICLE_WEBHOOK_TOKEN:

  curl -i http://{address}/webhooks/articles --data-binary @tests/fixtures/complete.json \
    -H "Authorization: $ARTICLE_WEBHOOK_TOKEN" -H 'Content-Type: application/json' \
    -H 'X-Service-Event: article.complete' -H 'X-Service-Job-Id: job_7c1e4a52'
"#
    );
}

/// Ends a program that was started without a usable token, with the command that starts it.
pub fn no_token(example: &str, error: &TokenError) -> ! {
    eprintln!(
        "error: {error}

To try it:

  export ARTICLE_WEBHOOK_TOKEN=\"Bearer $(openssl rand -hex 24)\"
  cargo run -q --example {example}
"
    );
    exit(2)
}

/// Ends a program whose inbox cannot be opened.
pub fn cannot_open(error: &article_webhook_inbox::Error) -> ! {
    eprintln!(
        "error: cannot open the inbox: {error}

To keep it in another file, set ARTICLE_INBOX_DB, as in ARTICLE_INBOX_DB=/var/lib/articles/inbox.db
"
    );
    exit(2)
}

/// Ends a program whose address is in use or not valid.
pub fn cannot_listen(address: &str, error: &io::Error) -> ! {
    eprintln!(
        "error: cannot listen on {address}: {error}

To listen elsewhere, set ARTICLE_WEBHOOK_ADDR, as in ARTICLE_WEBHOOK_ADDR=127.0.0.1:3001
"
    );
    exit(2)
}
