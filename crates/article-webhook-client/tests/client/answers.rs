//! Responses that are not as expected.

use article_webhook_client::{Error, JobStatus};

use crate::{
    reads::COMPLETE,
    service::{Line, Service, json},
};

async fn asked(line: Line) -> Result<JobStatus, Error> {
    let service = Service::start([line]);
    service.client().article(&"job_1".parse().unwrap()).await
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
