//! An inbox with many entries: every view of the page and every command that reads is soon there.
//!
//! `cargo bench -p article-webhook-cli --bench page -- [ENTRIES] [--long]`
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a benchmark ends where it cannot go on, and prints its figures

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../../tests/cli/running.rs"]
mod process;
#[allow(dead_code, reason = "the tests of the page use more of it")]
#[path = "../../tests/page/running.rs"]
mod running;
#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../../tests/cli/tool.rs"]
mod tool;

use std::{
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{Digest, Inbox, SqliteStore};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::running::Running;

/// The entries of the list, unless the command line says another number.
const ENTRIES: u32 = 100_000;
const ENTRIES_IF_LONG: u32 = 1_000_000;

/// How often each view is read, and each command run.
const TIMES: usize = 20;

/// How long something may take that takes no time on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> ExitCode {
    let is_long = std::env::args().any(|word| word == "--long");
    let entries = if is_long { ENTRIES_IF_LONG } else { ENTRIES };
    let entries = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(entries);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    fill(&inbox, entries).await;
    inbox.close().await.unwrap();
    if read(&file, entries).await { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether all is soon there. A command starts a process and opens the inbox, and `status` counts all rows.
async fn read(inbox: &Path, entries: u32) -> bool {
    let millis = Duration::from_millis;
    let [view, command] =
        if entries > ENTRIES { [millis(300), millis(1000)] } else { [millis(150), millis(300)] };
    println!("{entries} entries and as many jobs: median and longest of {TIMES}");
    let (mut longest_view, mut longest_command) = (Duration::ZERO, Duration::ZERO);
    let show = |name: &str, longest_of_all: &mut Duration, mut took: Vec<Duration>| {
        took.sort();
        let (median, longest) = (took[TIMES / 2], took[TIMES - 1]);
        *longest_of_all = longest.max(*longest_of_all);
        println!("  {name:<40} {median:.0?}, {longest:.0?}");
    };
    let page = Running::page(inbox, &[]);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let opened = http.get(&page.url).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let (middle, last) = (entries / 2 + 1, 60);
    for (name, query) in [
        ("all, the newest", String::new()),
        ("all, the middle", format!("?after={middle}")),
        ("done, the middle", format!("?state=done&after={middle}")),
        ("waiting, which are old, the newest", "?state=waiting".to_owned()),
        ("waiting, the oldest", format!("?state=waiting&after={last}")),
        ("dead, which are few, the middle", format!("?state=dead&after={middle}")),
        ("a state that none is in", "?state=corrupt".to_owned()),
        ("a search that finds one", format!("?q=article+{middle}")),
        ("a cause", "?state=dead&cause=the+blog+is+down".to_owned()),
        ("the ledger, with as many jobs", "ledger".to_owned()),
        ("the refused", "refused".to_owned()),
        ("the health", "health".to_owned()),
        ("an entry", format!("entry/{}/article.complete", job(middle))),
    ] {
        let url = format!("{}/{query}", page.base);
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let start = Instant::now();
            let answer = http.get(&url).header("Cookie", cookie).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{url}");
            answer.bytes().await.unwrap();
            took.push(start.elapsed());
        }
        show(name, &mut longest_view, took);
    }
    let (one, title) = (job(middle), format!("Article {middle}"));
    for words in [
        &["status"][..],
        &["list"],
        &["list", "--state", "dead"],
        &["list", "--cause", "the blog is down"],
        &["list", "--since", "2h"],
        &["list", "--search", &title],
        &["causes"],
        &["jobs"],
        &["show", &one],
    ] {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_article-webhook"));
        tool.arg("inbox").arg(words[0]).arg(inbox).args(&words[1..]).stdout(Stdio::null());
        tool.stderr(Stdio::null());
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let start = Instant::now();
            // The exit code of `status` says that entries need a person.
            let status = tool.status().unwrap();
            assert!(status.success() || words[0] == "status", "{words:?}: {status}");
            took.push(start.elapsed());
        }
        show(&format!("inbox {}", words.join(" ")), &mut longest_command, took);
    }
    println!("page: list: views {longest_view:.0?}, commands {longest_command:.0?} at most");
    longest_view < view && longest_command < command
}

fn job(number: u32) -> String {
    format!("job_{number:08}")
}

async fn fill(inbox: &Inbox, entries: u32) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    let then = then.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let then = u64::try_from(then).unwrap();
    let numbers: Vec<_> = (1..=entries).collect();
    for numbers in numbers.chunks(10_000) {
        let lines = numbers
            .iter()
            .flat_map(|number| [entry(*number, entries, then), job_line(*number, then)]);
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        inbox.import_partial(lines.as_bytes()).await.unwrap();
    }
}

/// Each entry's job was ordered, and of a hundred jobs two are of articles that are not there: one is overdue, one not found.
fn job_line(number: u32, then: u64) -> Value {
    let state = match number % 100 {
        1 => "expected",
        2 => "not_found",
        _ => "arrived",
    };
    let has_article = state == "arrived";
    json!({
        "kind": "job",
        "job_id": if has_article { job(number) } else { format!("lost_{number:08}") },
        "state": state,
        "reason": "ordered",
        "expected_at": then,
        "at": then,
        "polls": u32::from(!has_article),
        "pushed_at": has_article.then_some(then),
        "cause": (!has_article).then_some("job_not_found (404): There is no job of that job_id."),
    })
}

/// Of a hundred entries one is dead. The oldest three of a hundred wait, so that the newest of them are far from the newest of all.
fn entry(number: u32, entries: u32, then: u64) -> Value {
    let job = job(number);
    let title = format!("Article {number}");
    let body = format!(
        r#"{{"job_id":"{job}","status":"complete","article":{{"title":"{title}","html":"<p>{number}</p>"}}}}"#
    );
    let state = match number {
        _ if number.is_multiple_of(100) => "dead",
        _ if number <= entries / 100 * 3 => "waiting",
        _ => "done",
    };
    json!({
        "kind": "entry",
        "job_id": job,
        "event": "article.complete",
        "state": state,
        "attempts": 1,
        "received_at": then,
        "at": if state == "waiting" { then + 7_200_000 } else { then },
        "since": then,
        "cause": (state == "dead").then_some("the blog is down"),
        "bodies": [{
            "received_at": then,
            "source": "webhook",
            "target": "default",
            "title": title,
            "sha256": Digest::of(body.as_bytes()).to_string(),
            "body": body,
        }],
    })
}
