//! The list of an inbox with many entries: every page of it is soon there.

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{Digest, Inbox, SqliteStore};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::{Mark, running::Running};

/// What is promised of each page.
const SOON: Duration = Duration::from_millis(300);

/// How often each page is read.
const TIMES: usize = 20;

pub(crate) async fn run(http: &Client, entries: u32) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let start = Instant::now();
    fill(&file, entries).await;
    println!("the page over {entries} entries and as many jobs, filled in {:.0?}", start.elapsed());

    let page = Running::start(&["inbox", "page"], &file);
    let cookie = page.cookie(http).await;
    let (middle, last) = (entries / 2 + 1, 60);
    let mut is_kept = true;
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
        ("a cause", "?state=dead&cause=the+blog+is+down".to_owned()),
        ("the ledger, with as many jobs", "ledger".to_owned()),
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
        took.sort();
        let (median, longest) = (took[TIMES / 2], took[TIMES - 1]);
        let is_soon = longest < SOON;
        is_kept &= is_soon;
        println!(
            "  {name:<36} {median:.0?}, {longest:.0?} (< 300 ms) {}",
            Mark { is_kept: is_soon }
        );
    }
    is_kept
}

fn job(number: u32) -> String {
    format!("job_{number:08}")
}

async fn fill(file: &Path, entries: u32) {
    let inbox = Inbox::new(SqliteStore::open(file).unwrap());
    let numbers: Vec<_> = (1..=entries).collect();
    for numbers in numbers.chunks(10_000) {
        let lines = numbers.iter().flat_map(|number| {
            let [expected, entry] = [expected(*number), entry(*number, entries)];
            number.is_multiple_of(10).then(|| intent(*number)).into_iter().chain([entry, expected])
        });
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        inbox.import_partial(lines.as_bytes()).await.unwrap();
    }
    inbox.close().await.unwrap();
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
            "kind": "intent", "name": format!("lost-{number}"), "state": "ordering", "created_at": then, "at": then,
        }),
        false => json!({
            "kind": "intent", "name": format!("post-{number}"), "state": "ordered", "created_at": then, "at": then,
            "job_id": job(number),
        }),
    }
}

/// Of a hundred entries one is dead, and of a thousand one has another event. The oldest three of a hundred wait, so that the
/// newest of them are far from the newest of all.
fn entry(number: u32, entries: u32) -> Value {
    let job = job(number);
    let body = format!(
        r#"{{"job_id":"{job}","status":"complete","article":{{"title":"Article {number}","html":"<p>{number}</p>"}}}}"#
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
            "sha256": Digest::of(body.as_bytes()).to_string(),
            "body": body,
        }],
    })
}
