//! The list of an inbox with many entries: every page of it is soon there.

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{
    Body, Digest, Entry, EntryKey, ExpectedJob, Intent, IntentState, JobState, Reason, Source,
    SqliteStore, State,
    store::{ImportRow, Store},
};
use bytes::Bytes;
use reqwest::{Client, StatusCode};
use tokio::task::JoinSet;

use crate::{Mark, running::Running};

/// What is promised of each page.
const SOON: Duration = Duration::from_millis(300);

/// How often each page is read.
const TIMES: usize = 20;

/// How many entries are added in one commit, about.
const AT_ONCE: usize = 500;

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
        ("a job, the first", format!("?job={}", job(1))),
        ("a job, in the middle", format!("?job={}", job(middle))),
        ("a job that is not there", "?job=job_x".to_owned()),
        ("an event, the newest", "?event=article.complete".to_owned()),
        ("an event that is rare, the newest", "?event=article.rare".to_owned()),
        ("an event that is not there", "?event=article.none".to_owned()),
        ("a state and an event", "?state=dead&event=article.rare".to_owned()),
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
    let store = SqliteStore::open(file).unwrap();
    let mut adding = JoinSet::new();
    for number in 1..=entries {
        if adding.len() >= AT_ONCE {
            adding.join_next().await.unwrap().unwrap();
        }
        let store = store.clone();
        adding.spawn(async move {
            let (entry, body) = entry(number, entries);
            let job = expected(number, &entry);
            assert!(
                store.import(vec![ImportRow::Entry(entry, vec![body])]).await.unwrap().0.added == 1
            );
            assert!(
                store.import(vec![ImportRow::RemovedJob(job)]).await.unwrap().0.ledger_added == 1
            );
            if number.is_multiple_of(10) {
                assert!(
                    store
                        .import(vec![ImportRow::Intent(intent(number))])
                        .await
                        .unwrap()
                        .0
                        .ledger_added
                        == 1
                );
            }
        });
    }
    adding.join_all().await;
    store.close().await.unwrap();
}

/// Each entry's job was ordered, and of a hundred jobs six are of articles that are not there: each of six kinds, of which
/// most are overdue.
fn expected(number: u32, entry: &Entry) -> ExpectedJob {
    let state = match number % 100 {
        1 => JobState::Expected,
        2 => JobState::Polling,
        3 => JobState::Failed,
        4 => JobState::Unreadable,
        5 => JobState::NotFound,
        6 => JobState::Collected,
        _ => JobState::Arrived,
    };
    let job_id = match state.has_article() {
        true => entry.key.job_id.clone(),
        false => format!("lost_{number:08}").parse().unwrap(),
    };
    let cause = "job_not_found (404): There is no job of that job_id.";
    ExpectedJob {
        id: number.into(),
        job_id,
        state,
        reason: Reason::Ordered,
        intent: number.is_multiple_of(10).then(|| format!("post-{number}").into()),
        expected_at: entry.received_at,
        at: entry.at,
        polls: u32::from(!state.has_article()),
        key: None,
        missing: None,
        pushed_at: (state == JobState::Arrived).then_some(entry.received_at),
        collected_at: (state == JobState::Collected).then_some(entry.received_at),
        unreadable_since: None,
        cause: (!state.has_article()).then(|| cause.to_owned()),
    }
}

/// Of ten jobs one was ordered under a name, and of a thousand names one has an answer that was lost.
fn intent(number: u32) -> Intent {
    let then = SystemTime::now() - Duration::from_secs(3600);
    let is_lost = number.is_multiple_of(10_000);
    Intent {
        id: number.into(),
        name: format!("post-{number}").into(),
        state: if is_lost { IntentState::Unknown } else { IntentState::Ordered },
        created_at: then,
        at: then,
        job_id: (!is_lost).then(|| job(number).parse().unwrap()),
    }
}

/// Of a hundred entries one is dead, and of a thousand one has another event. The oldest three of a hundred wait, so that the
/// newest of them are far from the newest of all.
fn entry(number: u32, entries: u32) -> (Entry, Body) {
    let job = job(number);
    let body = format!(
        r#"{{"job_id":"{job}","status":"complete","article":{{"title":"Article {number}","html":"<p>{number}</p>"}}}}"#
    );
    let then = SystemTime::now() - Duration::from_secs(3600);
    let state = match number {
        _ if number.is_multiple_of(100) => State::Dead,
        _ if number <= entries / 100 * 3 => State::Waiting,
        _ => State::Done,
    };
    let key = EntryKey::article(job.parse().unwrap());
    let key = match number % 1000 {
        0 => EntryKey { event: "article.rare".into(), ..key },
        _ => key,
    };
    let at = if state == State::Waiting { then + Duration::from_secs(7200) } else { then };
    let entry = Entry {
        id: number.into(),
        key,
        state,
        attempts: 1,
        received_at: then,
        target: "default".into(),
        at,
        since: then,
        conflicts: 0,
        cause: (state == State::Dead).then(|| "the blog is down".to_owned()),
        failures: Vec::new(),
    };
    let body = Body {
        received_at: then,
        source: Source::Webhook,
        target: "default".into(),
        intent: None,
        digest: Digest::of(body.as_bytes()),
        bytes: Some(Bytes::from(body)),
    };
    (entry, body)
}
