//! Deliveries and their retries (service document, section 6), with the service without sockets.

use article_webhook_simulator::{DeliveryOutcome, Settings, StatusCode, Tenant};
use serde_json::json;

use crate::common::{Api, KEY, Sent, TOKEN, URL, request, seconds, settings, shoes};

/// The time of each attempt, in seconds after the first.
fn pauses(sent: &[Sent]) -> Vec<u64> {
    sent.iter().map(|attempt| (attempt.at - sent[0].at).as_secs()).collect()
}

#[test]
fn a_delivery_has_the_four_headers_and_the_body_that_polling_gives() {
    let mut api = Api::delivering();
    let job_id = api.ordered(&shoes());
    let sent = api.run(seconds(180), |_| DeliveryOutcome::status(StatusCode::OK));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].at, api.service.job(api.now, &job_id).unwrap().ends_at);
    let delivery = sent[0].push.request();
    assert_eq!((delivery.method().as_str(), delivery.uri().to_string()), ("POST", URL.to_owned()));
    let headers: Vec<_> = delivery
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    assert_eq!(
        headers,
        [
            ("authorization", TOKEN),
            ("content-type", "application/json"),
            ("x-service-event", "article.complete"),
            ("x-service-job-id", &*job_id),
        ]
    );
    let path = format!("/v1/content/articles/{job_id}");
    let polled = api.service.call(api.now, &request(http::Method::GET, &path, ""));
    assert_eq!(delivery.body(), polled.body());
}

#[test]
fn retries_come_10_60_and_300_seconds_after_the_failure_and_then_never_again() {
    let mut api = Api::delivering();
    api.ordered(&shoes());
    let sent = api.run(seconds(30 * 24 * 3600), |_| {
        DeliveryOutcome::status(StatusCode::INTERNAL_SERVER_ERROR)
    });
    assert_eq!(pauses(&sent), [0, 10, 70, 370]);
    assert_eq!(sent.iter().map(|sent| sent.push.attempt()).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let bodies: Vec<_> = sent.iter().map(|sent| sent.push.request().into_body()).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert_eq!(api.service.next_due(), None);
}

#[test]
fn a_pause_begins_when_the_failure_is_known() {
    let mut api = Api::delivering();
    api.ordered(&shoes());
    let at = api.service.next_due().unwrap();
    let push = api.service.due(at).remove(0);
    assert_eq!(api.service.next_due(), None);
    api.service.pushed(at + seconds(30), &push, DeliveryOutcome::failed("no answer within 30s"));
    assert_eq!(api.service.next_due(), Some(at + seconds(40)));
    assert_eq!(api.service.attempts()[0].at, at, "it is logged when it began");
}

#[test]
fn success_is_2xx_and_nothing_else() {
    for status in 100..600 {
        let mut api = Api::delivering();
        api.ordered(&shoes());
        let answer = StatusCode::from_u16(status).unwrap();
        let sent = api.run(seconds(3600), |_| DeliveryOutcome::status(answer));
        let expected = if (200..300).contains(&status) { 1 } else { 4 };
        assert_eq!(sent.len(), expected, "{status}");
    }
    let mut api = Api::delivering();
    api.ordered(&shoes());
    assert_eq!(api.run(seconds(3600), |_| DeliveryOutcome::failed("refused")).len(), 4);
}

#[test]
fn a_publish_target_and_a_webhook_url_are_both_delivered_to_and_retried_separately() {
    let mut api = Api::delivering();
    let own = "http://other.test/orders/1";
    api.ordered(&json!({ "topic": "Shoes", "webhook_url": own }));
    let sent = api.run(seconds(3600), |push| {
        let (success, failure) = (StatusCode::OK, StatusCode::INTERNAL_SERVER_ERROR);
        DeliveryOutcome::status(if push.url() == own { failure } else { success })
    });
    assert_eq!(sent.iter().filter(|sent| sent.push.url() == URL).count(), 1);
    let own: Vec<_> = sent.into_iter().filter(|sent| sent.push.url() == own).collect();
    assert_eq!(pauses(&own), [0, 10, 70, 370]);
    assert!(!own[0].push.request().headers().contains_key("authorization"));
}

#[test]
fn a_webhook_url_needs_no_publish_target() {
    let mut settings = settings();
    settings.tenants = vec![Tenant { brand_id: Some("b".into()), ..Tenant::new(KEY) }];
    let mut api = Api::new(settings);
    api.ordered(&shoes());
    assert!(api.run(seconds(3600), |_| DeliveryOutcome::status(StatusCode::OK)).is_empty());
    api.ordered(&json!({ "topic": "Shoes", "webhook_url": URL }));
    assert_eq!(api.run(seconds(3600), |_| DeliveryOutcome::status(StatusCode::OK)).len(), 1);
}

#[test]
fn new_targets_replace_the_old_but_retries_carry_the_old_token() {
    let mut api = Api::delivering();
    api.ordered(&shoes());
    let done = api.service.next_due().unwrap();
    assert_eq!(api.run(done, |_| DeliveryOutcome::status(StatusCode::UNAUTHORIZED)).len(), 1);

    let target = json!({ "type": "webhook", "name": "n", "url": URL, "auth_token": "Bearer new" });
    let targets = json!({ "brand_id": "brand_1", "targets": [target] });
    assert_eq!(api.post("/v1/config/publish-targets", &targets).status, 200);
    api.ordered(&shoes());
    let sent = api.run(seconds(3600), |_| DeliveryOutcome::status(StatusCode::UNAUTHORIZED));
    let tokens: Vec<_> = sent
        .iter()
        .map(|sent| {
            let request = sent.push.request();
            request.headers()["authorization"].to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(tokens.iter().filter(|token| *token == TOKEN).count(), 3);
    assert_eq!(tokens.iter().filter(|token| *token == "Bearer new").count(), 4);
}

#[test]
fn the_same_seed_and_the_same_calls_give_the_same_run() {
    let run = |seed| {
        let mut api = Api::new(Settings { seed, ..settings() });
        (0..20).for_each(|_| _ = api.ordered(&shoes()));
        let sent =
            api.run(seconds(3600), |_| DeliveryOutcome::status(StatusCode::INTERNAL_SERVER_ERROR));
        sent.into_iter().map(|sent| (sent.at, sent.push.request().into_body())).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn many_deliveries_at_once_are_due_in_batches_and_none_is_lost() {
    let generation = seconds(60)..=seconds(60);
    let mut settings = Settings { generation, ..settings() };
    settings.tenants[0].credits = 5000;
    let mut api = Api::new(settings);
    (0..5000).for_each(|_| _ = api.ordered(&shoes()));
    let batch = api.service.due(seconds(60)).len();
    assert!((1..5000).contains(&batch));
    assert_eq!(
        batch + api.run(seconds(60), |_| DeliveryOutcome::status(StatusCode::OK)).len(),
        5000
    );
}

#[test]
fn an_article_goes_to_the_targets_of_its_brand_the_last_one_if_none_is_named() {
    let mut api = Api::delivering();
    let other = "http://other.test/hook";
    let target = json!({ "type": "webhook", "name": "n", "url": other, "auth_token": "t" });
    let targets = json!({ "brand_id": "brand_2", "targets": [target] });
    assert_eq!(api.post("/v1/config/publish-targets", &targets).status, 200);
    let goes_to = |api: &mut Api, order| {
        api.ordered(&order);
        let sent = api.run(seconds(180), |_| DeliveryOutcome::status(StatusCode::OK));
        sent.iter().map(|sent| sent.push.url().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(goes_to(&mut api, shoes()), [URL], "brand_2 is not configured yet");

    assert_eq!(api.post("/v1/config/brand", &json!({ "brand_id": "brand_2" })).status, 200);
    assert_eq!(goes_to(&mut api, shoes()), [other]);
    let named = json!({ "topic": "Shoes", "brand_id": "brand_1" });
    assert_eq!(goes_to(&mut api, named), [URL]);
}
