//! The page: while much arrives, and over an inbox with many entries.
//!
//! `cargo bench -p article-webhook-cli --bench page -- [live] [list [ENTRIES]] [--long]`
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a benchmark ends where it cannot go on, and prints its figures

mod list;
mod live;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../../tests/cli/running.rs"]
mod process;
#[allow(dead_code, reason = "the tests of the page use more of it")]
#[path = "../../tests/page/running.rs"]
mod running;
#[path = "../../../article-webhook-postgres/tests/common/server.rs"]
mod server;
#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../../tests/cli/tool.rs"]
mod tool;

use std::process::ExitCode;

/// The entries of the list, unless the command line says another number.
const ENTRIES: u32 = 100_000;
const ENTRIES_IF_LONG: u32 = 1_000_000;

/// How long something may take that takes no time on an idle machine.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked = |name: &str| {
        words.iter().any(|word| word == name)
            || !words.iter().any(|it| it == "live" || it == "list")
    };
    let is_long = std::env::args().any(|word| word == "--long");
    let entries = if is_long { ENTRIES_IF_LONG } else { ENTRIES };
    let entries = words.iter().find_map(|word| word.parse().ok()).unwrap_or(entries);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut is_kept = true;
    if is_asked("live") {
        is_kept &= live::run(&http).await;
    }
    if is_asked("list") {
        is_kept &= list::run(&http, entries).await;
    }
    if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a browser gets for the key.
async fn cookie(page: &running::Running, http: &reqwest::Client) -> String {
    let opened = http.get(&page.url).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

/// Whether something that is promised is kept.
struct Mark {
    is_kept: bool,
}

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_kept { "✓" } else { "✗" })
    }
}
