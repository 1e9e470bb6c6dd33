//! Checks any receiver, in any language, by its URL: what it answers to deliveries, to forgeries, and to broken
//! connections. Exits with 1 if the receiver loses articles or accepts forgeries.
//!
//! ARTICLE_WEBHOOK_TOKEN='…' cargo run -q --example check_receiver -- http://127.0.0.1:3000/webhooks/articles

use std::{
    env,
    io::{Write, stderr, stdout},
    process::ExitCode,
};

use article_webhook_check::{Check, CheckError, CheckReport};

/// Writes to a pipe whose reader may have ended, as in `check_receiver … | head -1`.
fn say(mut to: impl Write, text: &str) {
    let _ = writeln!(to, "{text}");
}

async fn check(url: &str, token: &str) -> Result<CheckReport, CheckError> {
    let check = Check::new(url, token)?;
    say(stderr(), &check.notice());
    check.run().await
}

#[tokio::main]
async fn main() -> ExitCode {
    let (Some(url), Ok(token)) = (env::args().nth(1), env::var("ARTICLE_WEBHOOK_TOKEN")) else {
        let usage = "error: give the receiver's URL, and its token in ARTICLE_WEBHOOK_TOKEN

With the same ARTICLE_WEBHOOK_TOKEN as the receiver has:

  cargo run -q --example check_receiver -- http://127.0.0.1:3000/webhooks/articles
";
        say(stderr(), usage);
        return ExitCode::from(2);
    };
    match check(&url, &token).await {
        Ok(report) => {
            say(stdout(), &report.to_string());
            if report.is_conformant() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            say(stderr(), &format!("error: {error:?}"));
            ExitCode::from(2)
        }
    }
}
