//! Waiting for a job.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use article_webhook_client::{Error, Wait};
use tokio::time;

use crate::{
    reads::COMPLETE,
    service::{Line, Service, answer, cut, json},
};

const QUEUED: &str = r#"{"job_id":"job_1","status":"queued"}"#;

async fn waited(service: &Service, deadline: u64) -> Result<String, Error> {
    let client = service.client();
    let wait: Wait<'_> = client.wait(&"job_1".parse().unwrap());
    let pause = Duration::from_millis(1);
    let complete = wait.pauses(pause, pause).deadline(Duration::from_millis(deadline)).await?;
    Ok(complete.result.article.title)
}

#[tokio::test]
async fn it_ends_when_the_job_is_complete() {
    let running = QUEUED.replace("queued", "running");
    let script = [json(200, QUEUED), json(200, QUEUED), json(200, &running), json(200, COMPLETE)];
    let service = Service::start(script);
    let (client, seen) = (service.client(), Mutex::new(Vec::new()));
    let pause = Duration::from_millis(1);
    let complete = client
        .wait(&"job_1".parse().unwrap())
        .pauses(pause, pause)
        .on_progress(|job| seen.lock().unwrap().push(job.status.clone().unwrap()))
        .await;
    assert_eq!(complete.unwrap().result.article.title, "Shoes");
    assert_eq!(seen.into_inner().unwrap(), ["queued", "queued", "running"]);
    assert_eq!(service.count(), 4);
}

#[tokio::test]
async fn it_continues_after_transient_errors() {
    let mut script: Vec<Line> = (0..9).map(|_| answer(503, "", "")).collect();
    script.extend([cut(), json(200, QUEUED), answer(429, "", ""), json(200, COMPLETE)]);
    let service = Service::start(script);
    assert_eq!(waited(&service, 20_000).await.unwrap(), "Shoes");
    assert_eq!(service.count(), 13);
}

#[tokio::test]
async fn it_ends_with_a_permanent_error() {
    for (status, code) in [(500, "generation_failed"), (404, "job_not_found")] {
        let failed = json(status, &format!(r#"{{"error":"{code}","message":"?"}}"#));
        let service = Service::start([json(200, QUEUED), failed, json(200, COMPLETE)]);
        let error = waited(&service, 20_000).await.unwrap_err();
        assert_eq!(error.code().unwrap().as_str(), code);
        assert!(!error.is_deadline());
        assert_eq!(service.count(), 2);
    }
}

const FAILED: &str = r#"{"job_id":"job_1","status":"failed"}"#;

#[tokio::test]
async fn it_ends_at_a_failure_that_two_responses_in_a_row_report() {
    let cancelled = FAILED.replace("failed", "cancelled");
    let busy = answer(503, "", "");
    let script = [FAILED, QUEUED, FAILED, &cancelled].map(|body| json(200, body));
    let service = Service::start([&script[..], &[busy, json(200, &cancelled)]].concat());
    let error = waited(&service, 20_000).await.unwrap_err();
    assert_eq!(error.to_string(), r#"the service says that the job has failed: "cancelled""#);
    assert!(!error.is_deadline() && !error.is_transient());
    assert_eq!(service.count(), 6);
}

#[tokio::test]
async fn a_draft_is_the_article_if_it_is_the_same_a_minute_later() {
    let draft = COMPLETE.replace("complete", "published");
    let service = Service::start([json(200, &draft)]);
    assert!(waited(&service, 1000).await.unwrap_err().is_deadline());
    assert_eq!(service.count(), 1, "not before the minute has passed");

    let client = service.client();
    let job_id = "job_1".parse().unwrap();
    // The minute passes at once, and then the clock runs as before.
    let wait = client.wait(&job_id).on_progress(|job| {
        assert_eq!(job.status.as_deref(), Some("published"));
        time::pause();
        tokio::spawn(async {
            time::sleep(Duration::from_secs(60)).await;
            time::resume();
        });
    });
    let complete = wait.await.unwrap();
    assert_eq!((complete.result.article.title.as_str(), service.count()), ("Shoes", 3));
    assert_eq!(complete.body, draft);
}

#[tokio::test]
async fn it_ends_at_the_deadline_and_reports_the_last_status() {
    for (line, text) in [
        (json(200, QUEUED), r#"the job was not complete in time, its status was "queued""#),
        (json(200, "{}"), "the job was not complete in time"),
        (
            answer(503, "", ""),
            "the job was not complete in time: the service answered 503 without a body",
        ),
        (Line::Hang(Vec::new()), "the job was not complete in time"),
    ] {
        let (service, start) = (Service::start([line]), Instant::now());
        let error = waited(&service, 1000).await.unwrap_err();
        assert_eq!(error.to_string(), text);
        assert!(error.is_deadline() && !error.is_transient() && !error.is_outcome_unknown());
        let elapsed = start.elapsed();
        assert!(elapsed >= Duration::from_secs(1) && elapsed < Duration::from_secs(6));
    }
}

#[tokio::test]
async fn no_call_is_made_within_a_retry_after() {
    for (status, body) in [(429, ""), (200, QUEUED), (202, QUEUED)] {
        let later = answer(status, "retry-after: 3600\r\n", body);
        let service = Service::start([later, json(200, COMPLETE)]);
        let error = waited(&service, 300).await.unwrap_err();
        assert!(error.is_deadline(), "{error}");
        assert_eq!(service.count(), 1, "{status}");
    }
}
