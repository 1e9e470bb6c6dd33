//! What each response means, in tables: for a call with one attempt, and for one that is repeated.

use std::error::Error as _;

use article_webhook_client::{CallOutcome, JobId, JobStatus, NewArticle};

use crate::{
    reads::COMPLETE,
    service::{KEY, Line, Service, answer, asked_once, json, torn},
};

/// A body without end.
fn flood(head: &str) -> Line {
    Line::Flood(format!("HTTP/1.1 {head}\r\n\r\n").into(), vec![b' '; 65536])
}

/// The cells of a table, a line each, filled in.
fn rows<const CELLS: usize>(table: &str) -> impl Iterator<Item = [String; CELLS]> {
    let failed = r#"{"error":"generation_failed","message":"It failed at draft.","details":{"step":"draft","credits_refunded":3}}"#;
    let filled = move |cell: &str| {
        cell.trim()
            .replace("{article}", r#""article":{"title":"Shoes","html":"<article></article>"}"#)
            .replace("{failed}", failed)
            .replace("{key}", KEY)
            .replace("{bell}", "\u{7}")
            .replace("{escape}", "\u{1b}")
            .replace("{line end}", "\r\n")
    };
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(move |line| {
        let cells: Vec<_> = line.split(" |").map(&filled).collect();
        cells.try_into().unwrap_or_else(|_| panic!("{line}"))
    })
}

fn line(status: &str, body: &str) -> Line {
    json(status.parse().unwrap(), body)
}

/// What may come after a question for `job_1`: its name, the response, the outcome and the message.
fn to_a_question() -> Vec<(String, Line, String, String)> {
    let late = [r#"{"job_id":"job_1"}"#, &" ".repeat(1 << 20)].concat();
    let too_large = |limit: u32| {
        format!(
            "the answer is over the limit of {limit} bytes: is the base URL right, or ClientBuilder::body_limit too low?"
        )
    };
    let undocumented = "and no documented error";
    let spaces = format!("the service answered 403 {undocumented}: {:?}", " ".repeat(200));
    let half = format!("the service answered 503 {undocumented}: {:?}", r#"{"job_id":"#);
    let no_text = format!("the service answered 502 {undocumented}: {:?}", "\u{fffd}".repeat(3));
    let more = [
        ("a 403 without end", flood("403 Forbidden"), "Forbidden", spaces),
        ("a 502 whose body is no text", answer(502, "", [0xff; 3]), "Unavailable", no_text),
        ("a 503 whose body breaks off", torn(503), "Unavailable", half),
        (
            "a body without end",
            flood("200 OK"),
            "TooLarge { limit: 16777216 }",
            too_large(16 << 20),
        ),
        (
            "a MiB and no article",
            json(200, &late),
            "TooLarge { limit: 1048576 }",
            too_large(1 << 20),
        ),
    ];
    let more =
        more.map(|(what, line, outcome, message)| (what.into(), line, outcome.into(), message));
    rows(include_str!("questions.txt"))
        .map(|[what, status, body, outcome, message]| {
            (what, line(&status, &body), outcome, message)
        })
        .chain(more)
        .collect()
}

/// The body that a line sends.
fn sent(line: &Line) -> Vec<u8> {
    match line {
        Line::Say(bytes) => {
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
            bytes[end..].to_vec()
        }
        Line::Hang(_) => panic!("it sends nothing"),
        Line::Flood(_, more) => more.iter().copied().cycle().take(1 << 20).collect(),
    }
}

#[tokio::test]
async fn each_response_to_a_question_has_its_outcome_its_message_and_its_bytes() {
    let asked: JobId = "job_1".parse().unwrap();
    for (what, line, outcome, message) in to_a_question() {
        let service = Service::start([line.clone()]);
        let response = service.client().article_once(&asked).await.unwrap();
        assert_eq!(format!("{:?}", response.outcome), outcome, "{what}");
        assert_eq!(response.to_string(), message, "{what}");
        let mut body = sent(&line);
        body.truncate(1 << 20);
        assert!(response.body == body, "{what}: {} of {} bytes", response.body.len(), body.len());
        assert_eq!(service.count(), 1, "{what} was asked for again");
        let shown = format!("{response:?} {response}");
        assert!(!shown.contains(KEY), "{shown}");

        // A repeated call says the same.
        match service.client().article(&asked).await {
            Ok(JobStatus::Unfinished(job)) => {
                let (CallOutcome::Unfinished { status, .. } | CallOutcome::Draft { status, .. }) =
                    &response.outcome
                else {
                    panic!("{what}: {job:?}")
                };
                assert_eq!((&job.status, &job.body), (status, &response.body), "{what}");
            }
            Ok(JobStatus::Complete(job)) => panic!("{what}: {job:?}"),
            Err(error) => {
                assert_eq!(error.to_string(), message, "{what}");
                assert_eq!(error.status(), Some(response.status), "{what}");
                assert!(error.response().unwrap().body == response.body, "{what}");
                let is_documented = message.contains(&format!(" ({}): ", response.status.as_u16()));
                assert_eq!(error.code().is_some(), is_documented, "{what}");
                assert_eq!(error.source().is_some(), outcome.starts_with("Undecodable"), "{what}");
                // Statuses from 600 are read as 5xx.
                let is_transient = matches!(&*outcome, "RateLimited" | "Unavailable")
                    || response.status.as_u16() >= 600;
                let asked = if is_transient { 5 } else { 2 };
                assert_eq!(
                    (error.is_transient(), service.count()),
                    (is_transient, asked),
                    "{what}"
                );
            }
        }
        assert!(!service.is_flood_read(), "{what} was read to its end");
    }
}

#[tokio::test]
async fn the_response_about_a_complete_job_has_the_bytes_of_its_delivery() {
    let response = asked_once(json(200, COMPLETE)).await;
    let CallOutcome::Complete(result) = &response.outcome else { panic!("{response:?}") };
    assert_eq!(result.article.title, "Shoes");
    assert_eq!(response.status, 200);
    assert_eq!(response.body, COMPLETE);
    assert_eq!(response.to_string(), "the job is complete");
}

#[tokio::test]
async fn a_synonym_of_complete_with_an_article_is_complete() {
    for status in ["completed", "Complete", "success", "succeeded", "DONE"] {
        let body = COMPLETE.replace("complete", status);
        let response = asked_once(json(200, &body)).await;
        assert!(matches!(response.outcome, CallOutcome::Complete(_)), "{response:?}");
        assert!(response.unconfirmed().is_none() && response.body == body);
    }
}

#[tokio::test]
async fn an_order_whose_answer_must_be_repaired_has_its_job() {
    let service = Service::start([json(202, r#"{"job_id":"job_1","topic":"Run \ud83c"}"#)]);
    let created = service.client().create_article_once(&NewArticle::new("Run")).await.unwrap();
    assert_eq!(created.job_id.as_str(), "job_1");
}

#[tokio::test]
async fn a_response_that_must_be_repaired_is_read_as_its_delivery_would_be() {
    for (fault, title) in [
        (["\u{feff}", COMPLETE].concat(), "Shoes"),
        (COMPLETE.replace("Shoes", "Sho\tes"), "Sho\tes"),
        (COMPLETE.replace("Shoes", r"Sho\ud83c"), "Sho\u{fffd}"),
    ] {
        let response = asked_once(json(200, &fault)).await;
        let CallOutcome::Complete(result) = &response.outcome else { panic!("{response:?}") };
        assert_eq!((&*result.article.title, response.names_the_job()), (title, true));
        assert_eq!(response.body, fault.as_bytes(), "the bytes stay as they came");
    }
}

#[tokio::test]
async fn each_response_to_an_order_says_whether_it_may_have_been_taken() {
    let too_large = "the answer is over the limit of 1048576 bytes: is the base URL right, or ClientBuilder::body_limit too low?";
    let table = rows(include_str!("orders.txt")).map(|[status, body, taken, message]| {
        (format!("{status} {body}"), line(&status, &body), taken == "maybe", message)
    });
    let endless = ("a body without end".into(), flood("200 OK"), true, too_large.to_owned());
    for (what, line, is_unknown, message) in table.chain([endless]) {
        let service = Service::start([line.clone()]);
        let (client, order) = (service.client(), NewArticle::new("Shoes"));
        let error = client.create_article_once(&order).await.unwrap_err();
        let unknown = "the request may have been carried out, do not repeat it blindly: ";
        let message = format!("{}{message}", if is_unknown { unknown } else { "" });
        assert_eq!(
            (error.to_string(), error.is_outcome_unknown()),
            (message, is_unknown),
            "{what}"
        );
        assert!(error.response().unwrap().body == sent(&line), "{what}");
        assert_eq!(service.count(), 1, "{what}");

        // Only what the service refused for a time is repeated.
        let again = client.create_article(&order).await.unwrap_err();
        assert_eq!(again.to_string(), error.to_string(), "{what}");
        let is_busy = error.status().unwrap() == 429;
        let asked = if is_busy { 5 } else { 2 };
        assert_eq!((again.is_transient(), service.count()), (is_busy, asked), "{what}");
        assert!(!service.is_flood_read(), "{what} was read to its end");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_that_is_set_is_an_error() {
    for (more, is_read) in [(0, true), (1, false)] {
        let body = [COMPLETE, &" ".repeat(4096 - COMPLETE.len() + more)].concat();
        let service = Service::start([json(200, &body)]);
        let client = service.builder("").body_limit(4096).build().unwrap();
        let read = client.article(&"job_1".parse().unwrap()).await;
        assert_eq!(read.is_ok(), is_read, "{read:?}");
    }
}
