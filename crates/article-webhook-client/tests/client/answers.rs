//! Responses that are not as expected.

use std::time::{Duration, Instant};

use article_webhook_client::{ApiKey, Client, Error, JobStatus};

use crate::{
    reads::COMPLETE,
    service::{KEY, Line, Service, answer, json},
};

async fn asked(line: Line) -> Result<JobStatus, Error> {
    let service = Service::start([line]);
    service.client().article(&"job_1".parse().unwrap()).await
}

#[tokio::test]
async fn a_response_about_another_job_is_an_error() {
    for body in [
        COMPLETE.replace("job_1", "job_2"),
        COMPLETE.replace("job_1", "JOB_1"),
        r#"{"job_id":"job_2","status":"queued"}"#.to_owned(),
    ] {
        let error = asked(json(200, &body)).await.unwrap_err();
        assert_eq!(error.to_string(), "the answer is about another job", "{body}");
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn a_job_that_is_not_complete_is_unfinished() {
    for (body, status) in [
        (r#"{"job_id":"job_1","status":"queued","step":2}"#, Some("queued")),
        (r#"{"job_id":"job_1","status":"Complete"}"#, Some("Complete")),
        (r#"{"job_id":"job_1","status":7}"#, None),
        (" {}", None),
    ] {
        let Ok(JobStatus::Unfinished(job)) = asked(json(200, body)).await else { panic!("{body}") };
        assert_eq!((job.status.as_deref(), &job.body[..]), (status, body.as_bytes()));
    }
}

#[tokio::test]
async fn a_response_that_is_not_a_result_is_an_error() {
    for body in [
        "",
        "null",
        "[]",
        r#"["job_1","complete"]"#,
        "{",
        r#"{"status":"queued"} {}"#,
        r#"{"job_id":"job_1","status":"queued","status":"complete"}"#,
    ] {
        let error = asked(answer(200, "", body)).await.unwrap_err();
        assert_eq!(error.to_string(), "the answer is not one JSON object", "{body}");
    }
    let untitled = COMPLETE.replace("\"title\"", "\"name\"");
    let error = asked(json(200, &untitled)).await.unwrap_err();
    assert!(error.to_string().contains("article.title"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    let nameless = COMPLETE.replace("\"job_id\"", "\"id\"");
    assert!(asked(json(200, &nameless)).await.is_err());
}

#[tokio::test]
async fn a_response_over_the_limit_is_an_error() {
    let article = |bytes: usize| {
        let padding = " ".repeat(bytes - COMPLETE.len());
        json(200, &[COMPLETE, &padding].concat())
    };
    let ask = async |bytes| {
        let client = Service::start([article(bytes)]).builder("").body_limit(4096).build().unwrap();
        client.article(&"job_1".parse().unwrap()).await
    };
    assert!(ask(4096).await.is_ok());
    let error = ask(4097).await.unwrap_err();
    assert!(error.to_string().starts_with("the answer is over the limit of 4096 bytes"), "{error}");
    assert!(!error.is_transient());

    // Without an article.
    let queued = |bytes: usize| {
        let start = r#"{"job_id":"job_1","status":"queued"}"#;
        json(200, &[start, &" ".repeat(bytes - start.len())].concat())
    };
    assert!(asked(queued(1 << 20)).await.is_ok());
    let error = asked(queued((1 << 20) + 1)).await.unwrap_err();
    assert!(error.to_string().contains("over the limit of 1048576 bytes"), "{error}");

    // The default limit.
    assert!(asked(article(16 << 20)).await.is_ok());
    assert!(asked(article((16 << 20) + 1)).await.is_err());
}

#[tokio::test]
async fn a_response_without_end_is_an_error() {
    for head in ["", "content-length: 1000000000000\r\n", "transfer-encoding: chunked\r\n"] {
        let start = format!("HTTP/1.1 200 OK\r\n{head}\r\n");
        let chunk = if head.contains("chunked") {
            [b"10000\r\n", &[b' '; 65536][..], b"\r\n"].concat()
        } else {
            vec![b' '; 65536]
        };
        let error = asked(Line::Flood(start.into(), chunk)).await.unwrap_err();
        assert!(error.to_string().starts_with("the answer is over the limit"), "{head}: {error}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_an_error() {
    let start = b"HTTP/1.1 200 OK\r\nx: ".to_vec();
    let error = asked(Line::Flood(start, vec![b'x'; 65536])).await.unwrap_err();
    assert_eq!(error.to_string(), "the connection to the service broke");
}

#[tokio::test]
async fn a_response_that_does_not_end_in_time_is_an_error() {
    for bytes in
        [&b""[..], b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"]
    {
        let service = Service::start([Line::Hang(bytes.to_vec())]);
        let client = service.builder("").timeout(Duration::from_millis(100)).build().unwrap();
        let start = Instant::now();
        let error = client.article(&"job_1".parse().unwrap()).await.unwrap_err();
        assert_eq!(error.to_string(), "the service did not answer in time");
        assert!(error.is_transient() && start.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_goes_nowhere_else() {
    let trap = Service::start([json(200, COMPLETE)]);
    for status in [300, 301, 302, 303, 304, 307, 308, 399] {
        for place in
            [format!("http://{}/", trap.address), "/elsewhere".to_owned(), "//x".to_owned()]
        {
            let service = Service::start([answer(status, &format!("location: {place}\r\n"), "")]);
            let error = service.client().article(&"job_1".parse().unwrap()).await.unwrap_err();
            assert_eq!(error.status().unwrap(), status);
            assert!(error.to_string().contains("a redirect, which is not followed"), "{error}");
            assert!(!error.is_transient());
            assert_eq!(service.count(), 1);
        }
    }
    assert_eq!(trap.count(), 0);
}

#[test]
fn a_key_does_not_travel_without_tls() {
    for base in ["http://service.example", "http://127.0.0.1.nip.io", "http://0.0.0.0"] {
        let key = ApiKey::new(KEY).unwrap();
        let error = Client::new(key.clone(), base).unwrap_err();
        assert!(error.to_string().contains("use https"), "{base}: {error}");
        assert!(Client::builder(key, base).allow_http().build().is_ok());
    }
}
