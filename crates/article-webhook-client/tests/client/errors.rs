//! The errors of the service document, section 7, and errors that are not documented.

use std::time::Duration;

use article_webhook_client::{AuthToken, Error, ErrorCode, JobStatus, NewArticle, PublishTarget};

use crate::service::{KEY, Line, Service, answer, json};

/// The error of an order when every response is this one.
async fn ordered(line: Line) -> Error {
    let service = Service::start([line]);
    service.client().create_article(&NewArticle::new("Shoes")).await.unwrap_err()
}

/// The error of a question when every response is this one.
async fn asked(line: Line) -> Error {
    let service = Service::start([line]);
    service.client().article(&"job_1".parse().unwrap()).await.unwrap_err()
}

#[tokio::test]
async fn each_code_of_the_document_is_known() {
    for (status, name, code) in [
        (401, "invalid_api_key", ErrorCode::InvalidApiKey),
        (402, "credits_exhausted", ErrorCode::CreditsExhausted),
        (400, "not_configured", ErrorCode::NotConfigured),
        (429, "rate_limit_exceeded", ErrorCode::RateLimitExceeded),
        (404, "job_not_found", ErrorCode::JobNotFound),
        (500, "generation_failed", ErrorCode::GenerationFailed),
        (400, "ga4_not_connected", ErrorCode::Ga4NotConnected),
        (400, "invalid_request", ErrorCode::InvalidRequest),
        (403, "plan_required", ErrorCode::PlanRequired),
    ] {
        let body = format!(r#"{{"error":"{name}","message":"What to do about it."}}"#);
        for error in [ordered(json(status, &body)).await, asked(json(status, &body)).await] {
            assert_eq!(error.code(), Some(&code));
            assert_eq!(error.status().unwrap(), status);
            assert_eq!(error.message(), Some("What to do about it."));
            assert_eq!(error.to_string(), format!("{name} ({status}): What to do about it."));
            assert_eq!(error.is_transient(), code == ErrorCode::RateLimitExceeded);
            assert!(!error.is_outcome_unknown() && !error.is_deadline());
        }
    }
}

#[tokio::test]
async fn exhausted_credits_say_how_many_remain_and_where_more_are() {
    let url = format!("https://service.example/account?from={}", "x".repeat(300));
    let body = format!(
        r#"{{"error":"credits_exhausted","message":"No credits.","credits_remaining":0,"upgrade_url":"{url}"}}"#
    );
    let error = ordered(json(402, &body)).await;
    assert_eq!(error.credits_remaining(), Some(0));
    assert_eq!(error.upgrade_url(), Some(&*url));
    assert_eq!((error.step(), error.credits_refunded()), (None, None));
}

#[tokio::test]
async fn a_failed_generation_says_where_and_what_was_refunded() {
    for credits in ["3", "3.0"] {
        let body = format!(
            r#"{{"error":"generation_failed","message":"It failed at draft.","details":{{"step":"draft","credits_refunded":{credits}}}}}"#
        );
        let error = asked(json(500, &body)).await;
        assert_eq!((error.step(), error.credits_refunded()), (Some("draft"), Some(3)));
        assert_eq!((error.credits_remaining(), error.upgrade_url()), (None, None));
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn details_of_another_type_are_ignored() {
    let body = r#"{"error":"generation_failed","message":7,"details":{"step":["draft"],"credits_refunded":2.5}}"#;
    let error = asked(json(500, body)).await;
    assert_eq!(error.message(), Some(""));
    assert_eq!((error.step(), error.credits_refunded()), (None, None));
    let error = asked(json(500, r#"{"error":"generation_failed","details":[1]}"#)).await;
    assert_eq!((error.step(), error.credits_refunded()), (None, None));
}

#[tokio::test]
async fn an_unknown_code_keeps_its_name() {
    let error = ordered(json(409, r#"{"error":"quota_frozen","message":"Later."}"#)).await;
    assert_eq!(error.code().map(ErrorCode::as_str), Some("quota_frozen"));
    assert!(!error.is_transient() && !error.is_outcome_unknown());
}

#[tokio::test]
async fn texts_of_the_service_are_shortened_and_cannot_control_a_terminal() {
    let long = "x".repeat(100_000);
    let body = format!(r#"{{"error":"a\u001b[31m","message":"\u001b[2J{}"}}"#, &long[..60_000]);
    let text = asked(json(400, &body)).await.to_string();
    assert!(text.starts_with(r"a\u{1b}[31m (400): \u{1b}[2Jxxx") && text.len() < 300, "{text}");
    let text = asked(json(400, &long)).await.to_string();
    assert!(text.len() < 300, "{text}");
}

#[tokio::test]
async fn a_key_in_an_error_response_is_not_shown() {
    let body = format!(
        r#"{{"error":"invalid_api_key","message":"{KEY} is wrong","details":{{"step":"{KEY}"}},"upgrade_url":"/?{KEY}"}}"#
    );
    let escaped = body.replace("sk-5", r"\u0073k-5");
    for line in [json(401, &body), json(401, &escaped), answer(401, "", KEY)] {
        let error = asked(line).await;
        let shown = format!("{error} {error:?} {:?} {:?}", error.message(), error.upgrade_url());
        assert!(!shown.contains("5f2b9c0e7a1d4e38") && shown.contains("(the API key)"), "{shown}");
    }
}

/// A capability URL is a secret: with it, anyone can deliver an article for 30 days.
#[tokio::test]
async fn a_webhook_url_in_an_error_response_is_not_shown() {
    let secret = "djEucG9zdC0xNy4xNzYzODM2MDAw_5f2b9c0e7a1d4e38";
    let url = format!("https://shop.example/orders/{secret}");
    let order = NewArticle::new("Shoes").webhook_url(&url);
    let sent = serde_json::to_string(&order).unwrap();
    let escaped = sent.replace('/', r"\/");
    let quoted = serde_json::to_string(&escaped).unwrap();
    let reported = format!(
        r#"{{"error":"{url}","message":{quoted},"step":"{secret}","upgrade_url":"/?{url}"}}"#
    );
    let elsewhere = format!("no route to /other/path/{secret}?a=1");
    for body in [sent, escaped, quoted, reported, elsewhere] {
        for status in [400, 500, 502] {
            let service = Service::start([json(status, &body)]);
            let client = service.client();
            let once = client.create_article_once(&order).await.unwrap_err();
            let error = client.create_article(&order).await.unwrap_err();
            for error in [once, error] {
                let (response, code) = (error.response().unwrap(), error.code());
                let fields = (error.message(), error.step(), error.upgrade_url(), code);
                let shown = format!("{error} {error:?} {response} {response:?} {fields:?}");
                assert!(!shown.contains(&secret[..16]), "{shown}");
                assert!(shown.contains("(the webhook URL)"), "{shown}");
                assert_eq!(response.body, body, "the bytes are as they came");
            }
        }
    }
}

#[tokio::test]
async fn a_publish_target_in_an_error_response_is_not_shown() {
    let url = "https://shop.example/orders/djEucG9zdC0xNy4xNzYzODM2MDAw";
    let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap();
    let target = PublishTarget::webhook("shop", url, &token);
    let sent = serde_json::to_string(&target).unwrap();
    for body in [sent.replace('/', r"\/"), sent, "5f2b9c0e7a1d4e38 is no token".to_owned()] {
        let service = Service::start([json(400, &body)]);
        let error =
            service.client().set_publish_targets("brand_1", std::slice::from_ref(&target)).await;
        let error = error.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("5f2b9c0e") && !shown.contains("djEucG9z"), "{shown}");
        assert!(shown.contains("(the token)"), "{shown}");
    }
}

/// A URL with a short path may differ from another in its query alone.
#[tokio::test]
async fn a_webhook_url_is_hidden_whole_whatever_its_path_is() {
    for url in ["https://shop.example/w?of=5f2b9c0e", "https://shop.example/5f2b9c0e/", "5f2b9c0e"]
    {
        let line = answer(502, "", format!("cannot deliver to {url}, {}", url.replace('/', r"\/")));
        let order = NewArticle::new("Shoes").webhook_url(url);
        let error = Service::start([line]).client().create_article(&order).await.unwrap_err();
        let shown = "cannot deliver to (the webhook URL), (the webhook URL)";
        assert!(error.to_string().contains(shown), "{error}");
    }
    let order = NewArticle::new("Shoes").webhook_url("");
    let service = Service::start([answer(400, "", "no, not so")]);
    let error = service.client().create_article(&order).await.unwrap_err();
    assert!(error.to_string().contains("\"no, not so\""), "an empty URL hides nothing: {error}");
}

#[tokio::test]
async fn a_key_in_a_status_is_not_shown() {
    for status in [KEY.to_owned(), format!("{}{KEY}", "x".repeat(190)), KEY.repeat(100)] {
        let service = Service::start([json(200, &format!(r#"{{"status":"{status}"}}"#))]);
        let (client, job_id) = (service.client(), "job_1".parse().unwrap());
        let Ok(JobStatus::Unfinished(job)) = client.article(&job_id).await else {
            panic!("{status}")
        };
        let wait = client.wait(&job_id).deadline(Duration::from_millis(200)).await;
        let shown = format!("{job:?} {} {0:?}", wait.unwrap_err());
        assert!(!shown.contains("5f2b9c"), "{shown}");
        assert!(job.status.unwrap().chars().count() <= 200);
    }
}
