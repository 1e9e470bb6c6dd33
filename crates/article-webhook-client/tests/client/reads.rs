//! Questions change nothing, so they are repeated after transient errors.

use std::time::Duration;

use article_webhook_client::{Error, JobStatus};

use crate::service::{Line, Service, answer, cut, json, torn};

pub(crate) const COMPLETE: &str = r#"{"job_id":"job_1","status":"complete","article":{"title":"Shoes","html":"<article></article>"}}"#;

async fn ask(service: &Service) -> Result<JobStatus, Error> {
    let client = service.builder("").timeout(Duration::from_millis(500)).build().unwrap();
    client.article(&"job_1".parse().unwrap()).await
}

#[tokio::test]
async fn a_question_is_asked_as_the_document_says() {
    let service = Service::start([json(200, COMPLETE)]);
    let Ok(JobStatus::Complete(complete)) = ask(&service).await else { panic!("it is complete") };
    assert_eq!(complete.result.article.title, "Shoes");
    assert_eq!(complete.body, COMPLETE);
    let request = &service.requests()[0];
    assert_eq!(request.first_line, "GET /v1/content/articles/job_1 HTTP/1.1");
    assert!(request.head.contains("authorization: Bearer sk-5f2b9c0e7a1d4e38"), "{}", request.head);
}

#[tokio::test]
async fn a_question_is_repeated_until_it_is_answered() {
    for line in [
        cut(),
        torn(200),
        Line::Hang(Vec::new()),
        answer(429, "", ""),
        answer(500, "", ""),
        answer(503, "", "busy"),
        answer(408, "", ""),
        json(500, r#"{"error":"internal","message":"?"}"#),
    ] {
        let service =
            Service::start([line.clone(), line.clone(), line.clone(), json(200, COMPLETE)]);
        assert!(matches!(ask(&service).await, Ok(JobStatus::Complete(_))), "{line:?}");
        assert_eq!(service.count(), 4, "{line:?}");

        let service = Service::start([line.clone()]);
        assert!(ask(&service).await.unwrap_err().is_transient(), "{line:?}");
        assert_eq!(service.count(), 4, "{line:?}");
    }
}

#[tokio::test]
async fn a_pause_that_is_longer_than_the_deadline_is_not_waited_for() {
    let service = Service::start([answer(503, "retry-after: 30\r\n", "")]);
    let client = service.builder("").deadline(Duration::from_secs(20)).build().unwrap();
    let error = client.article(&"job_1".parse().unwrap()).await.unwrap_err();
    assert_eq!((error.retry_after(), service.count()), (Some(Duration::from_secs(30)), 1));
}
