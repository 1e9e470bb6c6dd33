//! Orders are paid for: an order is sent twice only if the first was certainly not carried out.

use std::time::Duration;

use article_webhook_client::{AuthToken, Created, Error, NewArticle, PublishTarget};
use serde_json::json as value;

use crate::service::{Line, Service, answer, cut, json, torn};

const CREATED: &str = r#"{"job_id":"job_1","status":"queued","eta":30}"#;

async fn order(service: &Service) -> Result<Created, Error> {
    let client = service.builder("").timeout(Duration::from_millis(500)).build().unwrap();
    client.create_article(&NewArticle::new("Shoes")).await
}

#[tokio::test]
async fn an_order_is_sent_as_the_document_says() {
    let service = Service::start([answer(202, "retry-after: 20\r\n", CREATED)]);
    let client = service.builder("/api/").build().unwrap();
    let article =
        NewArticle::new("Shoes").webhook_url("https://shop.example/w").field("n", value!(1));
    let created = client.create_article(&article).await.unwrap();
    assert_eq!(created.job_id.as_str(), "job_1");
    assert_eq!((created.status.as_u16(), &created.body[..]), (202, CREATED.as_bytes()));
    assert_eq!(created.retry_after, Some(Duration::from_secs(20)));

    let request = &service.requests()[0];
    assert_eq!(request.first_line, "POST /api/v1/content/articles HTTP/1.1");
    let head = request.head.to_ascii_lowercase();
    assert!(head.contains("\r\nauthorization: bearer sk-5f2b9c0e7a1d4e38\r\n"), "{head}");
    assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
    assert_eq!(head.matches("authorization:").count(), 1);
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body, value!({"topic": "Shoes", "webhook_url": "https://shop.example/w", "n": 1}));
}

#[tokio::test]
async fn an_order_is_repeated_only_after_429() {
    let busy = json(429, r#"{"error":"rate_limit_exceeded","message":"Slower."}"#);
    let service = Service::start([busy.clone(), answer(429, "", ""), json(200, CREATED)]);
    assert!(order(&service).await.is_ok());
    assert_eq!(service.count(), 3);

    let service = Service::start([busy]);
    assert_eq!(order(&service).await.unwrap_err().status().unwrap(), 429);
    assert_eq!(service.count(), 4);
}

/// After each of these the order may have been carried out, as after some answers: see `orders.txt`.
#[tokio::test]
async fn an_order_of_unknown_outcome_is_sent_once() {
    let slow = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec();
    for line in [
        cut(),
        torn(200),
        Line::Say(b"HTTP/1.1 200".to_vec()),
        Line::Say(b"\0garbage\r\n\r\n".to_vec()),
        Line::Hang(Vec::new()),
        Line::Hang(slow),
        answer(200, "", vec![b' '; (1 << 20) + 1]),
    ] {
        let service = Service::start([line.clone(), json(200, CREATED)]);
        let error = order(&service).await.unwrap_err();
        assert!(error.is_outcome_unknown() && !error.is_transient(), "{line:?}: {error}");
        assert!(error.to_string().starts_with("the request may have been carried out"), "{error}");
        assert_eq!(service.count(), 1, "{line:?}");
    }
}

#[tokio::test]
async fn publish_targets_are_sent_as_the_document_says() {
    let service = Service::start([json(200, r#"{"ok":true}"#), answer(204, "", ""), cut()]);
    let client = service.client();
    let token = AuthToken::new("Bearer 1234567890").unwrap();
    let target = PublishTarget::webhook("shop", "https://shop.example/w", &token);
    let set = async || client.set_publish_targets("brand_1", std::slice::from_ref(&target)).await;
    assert_eq!(set().await.unwrap(), r#"{"ok":true}"#);
    assert_eq!(set().await.unwrap(), "");
    assert!(set().await.unwrap_err().is_outcome_unknown());

    let request = &service.requests()[0];
    assert_eq!(request.first_line, "POST /v1/config/publish-targets HTTP/1.1");
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    let targets = value!([{"type": "webhook", "name": "shop", "url": "https://shop.example/w",
                           "auth_token": "Bearer 1234567890"}]);
    assert_eq!(body, value!({"brand_id": "brand_1", "targets": targets}));
}

#[tokio::test]
async fn a_brand_is_sent_unchanged() {
    let service = Service::start([answer(200, "", ""), answer(200, "", "done")]);
    let client = service.client();
    let brand = value!({"brand_id": "brand_1", "voice": {"tone": "dry"}});
    let brand = brand.as_object().unwrap();
    assert_eq!(client.configure_brand(brand).await.unwrap(), "");
    // The status was a success, so an unreadable body is not a refusal.
    assert!(client.configure_brand(brand).await.unwrap_err().is_outcome_unknown());
    let request = &service.requests()[0];
    assert_eq!(request.first_line, "POST /v1/config/brand HTTP/1.1");
    assert_eq!(request.body, r#"{"brand_id":"brand_1","voice":{"tone":"dry"}}"#);
}
