//! A receiver whose output is read late, or not at all.

use std::{io::Read, process::Stdio};

use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::{deliver, listening::Listening, sample, tool::TOKEN};

/// More than a pipe holds, and more than waits for it.
const DELIVERIES: usize = 120;
const TITLE: usize = 16 << 10;

/// Its output is not read, but for the first line.
fn listening() -> (TempDir, Listening) {
    let (folder, file) = sample::place();
    (folder, Listening::with(&file, &["--no-page"], Stdio::piped()))
}

async fn deliver(url: &str, job: &str) -> u16 {
    let article = json!({ "title": "x".repeat(TITLE), "html": "<p>a</p>" });
    let body = json!({ "job_id": job, "status": "complete", "article": article }).to_string();
    deliver::deliver(url, TOKEN, "article.complete", job, body).await
}

async fn deliver_all(url: &str) {
    for number in 0..DELIVERIES {
        assert_eq!(deliver(url, &format!("job_{number}")).await, 200);
    }
}

#[tokio::test]
async fn a_reader_that_stops_holds_up_no_delivery_and_is_shown_what_it_missed() {
    let (_folder, mut listening) = listening();
    deliver_all(&listening.url).await;
    // It reads again.
    let (mut shown, mut lost) = (0, 0);
    while shown + lost < DELIVERIES {
        let line = listening.next();
        match line["lost_lines"].as_u64() {
            Some(number) => lost += usize::try_from(number).unwrap(),
            None => {
                assert_eq!(line["delivered"], format!("job_{}", shown + lost), "in order");
                shown += 1;
            }
        }
    }
    assert!(shown > 0 && lost > 0, "{shown} shown, {lost} lost");
    assert_eq!(shown + lost, DELIVERIES, "each is shown or counted");
    assert_eq!(deliver(&listening.url, "job_last").await, 200);
    assert_eq!(listening.next()["delivered"], "job_last");
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test]
async fn ctrl_c_ends_it_although_its_output_is_not_read() {
    let (_folder, listening) = listening();
    deliver_all(&listening.url).await;
    assert_eq!(listening.end(Signal::INT), Some(0));
}

#[tokio::test]
async fn a_reader_that_has_ended_ends_it_after_the_delivery_is_stored() {
    let (_folder, mut listening) = listening();
    drop(listening.process.lines.take());
    assert_eq!(deliver(&listening.url, "job_1").await, 200);
    assert_eq!(listening.process.ended(), Some(0));
}

#[tokio::test]
async fn refusals_are_answered_although_the_log_is_not_read() {
    let (_folder, mut listening) = listening();
    let wrong = "Bearer another-token-1234";
    for _ in 0..1500 {
        let refused = deliver::deliver(&listening.url, wrong, "article.complete", "job_1", "{}");
        assert_eq!(refused.await, 401);
    }
    let mut log = listening.process.process.stderr.take().unwrap();
    let mut some = vec![0; 4096];
    let length = log.read(&mut some).unwrap();
    assert!(String::from_utf8_lossy(&some[..length]).contains("unauthorized"), "{some:?}");
    drop(log);
    assert_eq!(listening.end(Signal::INT), Some(0));
}
