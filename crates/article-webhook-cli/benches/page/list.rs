//! An inbox with many entries, in SQLite and in PostgreSQL: every view of the page and every command that reads is soon there.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{Digest, Inbox, SqliteStore};
use article_webhook_postgres::{PostgresSettings, PostgresStore};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::{Mark, cookie, running::Running, server::Server};

/// How often each view is read, and each command run.
const TIMES: usize = 20;

/// Up to this many entries, views and commands have the shorter limits. A command starts a process and opens the inbox, and
/// `status` counts all rows.
const MANY: u32 = 100_000;

pub(crate) async fn run(http: &Client, entries: u32) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    fill(&inbox, entries).await;
    inbox.close().await.unwrap();
    let mut is_kept = read("SQLite", &file, http, entries).await;
    if let Some(server) = Server::start(&[]) {
        let settings = PostgresSettings::new(&server.url()).unwrap();
        let inbox = Inbox::new(PostgresStore::connect(settings).await.unwrap());
        fill(&inbox, entries).await;
        inbox.close().await.unwrap();
        is_kept &= read("PostgreSQL", Path::new(&server.url()), http, entries).await;
    }
    is_kept
}

async fn read(store: &str, inbox: &Path, http: &Client, entries: u32) -> bool {
    let millis = Duration::from_millis;
    let [view, command] =
        if entries > MANY { [millis(300), millis(1000)] } else { [millis(150), millis(300)] };
    println!("{entries} entries and as many jobs in {store}: median and longest of {TIMES}");
    let mut is_kept = true;
    let (mut longest_view, mut longest_command) = (Duration::ZERO, Duration::ZERO);
    let mut show = |name: &str, limit: Duration, mut took: Vec<Duration>| {
        took.sort();
        let (median, longest) = (took[TIMES / 2], took[TIMES - 1]);
        let most = if limit == view { &mut longest_view } else { &mut longest_command };
        *most = longest.max(*most);
        let is_soon = longest < limit;
        is_kept &= is_soon;
        let mark = Mark { is_kept: is_soon };
        println!("  {name:<40} {median:.0?}, {longest:.0?} (< {limit:?}) {mark}");
    };
    let page = Running::page(inbox, &[]);
    let cookie = cookie(&page, http).await;
    let (middle, last) = (entries / 2 + 1, 60);
    for (name, query) in [
        ("all, the newest", String::new()),
        ("all, the middle", format!("?after={middle}")),
        ("all, the oldest", format!("?after={last}")),
        ("done, the newest", "?state=done".to_owned()),
        ("done, the middle", format!("?state=done&after={middle}")),
        ("done, the oldest", format!("?state=done&after={last}")),
        ("waiting, which are old, the newest", "?state=waiting".to_owned()),
        ("waiting, the oldest", format!("?state=waiting&after={last}")),
        ("dead, which are few, the newest", "?state=dead".to_owned()),
        ("dead, the middle", format!("?state=dead&after={middle}")),
        ("a state that none is in", "?state=corrupt".to_owned()),
        ("a search that finds soon", "?q=article".to_owned()),
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
            let answer = http.get(&url).header("Cookie", &cookie).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{url}");
            answer.bytes().await.unwrap();
            took.push(start.elapsed());
        }
        show(name, view, took);
    }
    let (one, title) = (job(middle), format!("Article {middle}"));
    for words in [
        &["status"][..],
        &["list"],
        &["list", "--newest"],
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
        show(&format!("inbox {}", words.join(" ")), command, took);
    }
    println!(
        "page: list, {store}: views {longest_view:.0?}, commands {longest_command:.0?} at most"
    );
    is_kept
}

fn job(number: u32) -> String {
    format!("job_{number:08}")
}

async fn fill(inbox: &Inbox, entries: u32) {
    let numbers: Vec<_> = (1..=entries).collect();
    for numbers in numbers.chunks(10_000) {
        let lines = numbers.iter().flat_map(|number| {
            let [expected, entry] = [expected(*number), entry(*number, entries)];
            number.is_multiple_of(10).then(|| intent(*number)).into_iter().chain([entry, expected])
        });
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        inbox.import_partial(lines.as_bytes()).await.unwrap();
    }
}

/// An hour ago, in milliseconds since 1970.
fn then() -> u64 {
    let then = SystemTime::now() - Duration::from_secs(3600);
    then.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

/// Each entry's job was ordered, and of a hundred jobs six are of articles that are not there: each of six kinds, of which
/// most are overdue.
fn expected(number: u32) -> Value {
    let state = match number % 100 {
        1 => "expected",
        2 => "polling",
        3 => "failed",
        4 => "unreadable",
        5 => "not_found",
        6 => "collected",
        _ => "arrived",
    };
    let has_article = matches!(state, "arrived" | "collected");
    let then = then();
    let mut line = json!({
        "kind": "job",
        "job_id": if has_article { job(number) } else { format!("lost_{number:08}") },
        "state": state,
        "reason": "ordered",
        "expected_at": then,
        "at": then,
        "polls": u32::from(!has_article),
    });
    if number.is_multiple_of(10) {
        line["intent"] = format!("post-{number}").into();
    }
    match state {
        "arrived" => line["pushed_at"] = then.into(),
        "collected" => line["collected_at"] = then.into(),
        _ => line["cause"] = "job_not_found (404): There is no job of that job_id.".into(),
    }
    line
}

/// Of ten jobs one was ordered under a name, and of a thousand names one has an answer that was lost.
fn intent(number: u32) -> Value {
    let then = then();
    match number.is_multiple_of(10_000) {
        true => json!({
            "kind": "intent", "name": format!("lost-{number}"), "state": "ordering", "created_at": then, "at": then, "calls": 1,
        }),
        false => json!({
            "kind": "intent", "name": format!("post-{number}"), "state": "ordered", "created_at": then, "at": then, "calls": 1,
            "job_id": job(number), "topic": format!("What to know of number {number}"),
        }),
    }
}

/// Of a hundred entries one is dead, and of a thousand one has another event. The oldest three of a hundred wait, so that the
/// newest of them are far from the newest of all.
fn entry(number: u32, entries: u32) -> Value {
    let job = job(number);
    let title = format!("Article {number}");
    let body = format!(
        r#"{{"job_id":"{job}","status":"complete","article":{{"title":"{title}","html":"<p>{number}</p>"}}}}"#
    );
    let then = then();
    let state = match number {
        _ if number.is_multiple_of(100) => "dead",
        _ if number <= entries / 100 * 3 => "waiting",
        _ => "done",
    };
    json!({
        "kind": "entry",
        "job_id": job,
        "event": if number.is_multiple_of(1000) { "article.rare" } else { "article.complete" },
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
