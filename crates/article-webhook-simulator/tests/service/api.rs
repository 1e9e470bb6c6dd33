//! The calls and errors of the document, with the service without sockets.

use std::{num::NonZeroU32, time::Duration};

use article_webhook::ArticleResult;
use article_webhook_simulator::{
    DeliveryOutcome, Fault, Rule, Settings, SimulatedJobState, StatusCode, Step, Tenant,
};
use http::{Method, Request};
use serde_json::{Value, json};

use crate::common::{Answered, Api, KEY, URL, request, seconds, settings, shoes};

/// Section 7: every error has a code and a message, and its details are an object.
fn assert_error(answered: &Answered, status: u16, code: &str) {
    assert_eq!((answered.status, &answered.body["error"]), (status, &json!(code)));
    assert!(answered.body["message"].as_str().is_some_and(|message| !message.is_empty()));
    assert!(answered.body.get("details").is_none_or(Value::is_object));
    assert_eq!(answered.headers["content-type"], "application/json");
}

fn unconfigured() -> Api {
    Api::new(Settings { tenants: vec![Tenant::new(KEY)], ..Settings::default() })
}

#[test]
fn a_missing_wrong_doubled_or_bare_key_is_invalid_api_key() {
    let mut api = Api::delivering();
    for keys in
        [&[][..], &["Bearer sk-2"], &["sk-1"], &["Bearer sk-1", "Bearer sk-1"], &["Bearer "]]
    {
        for (method, path) in [
            ("POST", "/v1/content/articles"),
            ("GET", "/v1/content/articles/job_1"),
            ("POST", "/v1/config/brand"),
            ("POST", "/v1/config/publish-targets"),
        ] {
            let mut request = Request::builder().method(method).uri(path);
            for key in keys {
                request = request.header("Authorization", *key);
            }
            let answered = api.call(&request.body("{}".into()).unwrap());
            assert_error(&answered, 401, "invalid_api_key");
            assert_eq!(answered.body["message"], "The API key is bad or missing.");
        }
    }
}

#[test]
fn an_order_without_a_configured_brand_is_not_configured_until_it_is() {
    let mut api = unconfigured();
    let answered = api.order(&shoes());
    assert_error(&answered, 400, "not_configured");
    assert!(answered.body["message"].as_str().unwrap().contains("POST /v1/config/brand"));

    let target = json!({ "brand_id": "brand_1", "targets": [] });
    assert_eq!(api.post("/v1/config/publish-targets", &target).status, 200);
    assert_error(&api.order(&shoes()), 400, "not_configured");
    let named = json!({ "topic": "Shoes", "brand_id": "brand_1" });
    assert_error(&api.order(&named), 400, "not_configured");

    let answered =
        api.post("/v1/config/brand", &json!({ "brand_id": "brand_1", "name": "Shoes & Co" }));
    assert_eq!((answered.status, &answered.body["brand_id"]), (200, &json!("brand_1")));
    api.ordered(&shoes());
    api.ordered(&named);
    let other = json!({ "topic": "Shoes", "brand_id": "brand_2" });
    assert_error(&api.order(&other), 400, "not_configured");
}

#[test]
fn a_brand_needs_no_field_at_all() {
    let mut api = unconfigured();
    assert_eq!(api.post("/v1/config/brand", &json!({})).status, 200);
    api.ordered(&shoes());
}

#[test]
fn an_order_without_credits_is_credits_exhausted_with_the_upgrade_url() {
    let tenant = Tenant { credits: 2, brand_id: Some("b".into()), ..Tenant::new(KEY) };
    let mut api = Api::new(Settings { tenants: vec![tenant], ..Settings::default() });
    api.ordered(&shoes());
    api.ordered(&shoes());
    let answered = api.order(&shoes());
    assert_error(&answered, 402, "credits_exhausted");
    assert_eq!(answered.body["credits_remaining"], 0);
    assert_eq!(answered.body["upgrade_url"], "http://simulator.test/account");
    assert_eq!(api.service.jobs(api.now).len(), 2);
}

#[test]
fn too_many_calls_are_rate_limit_exceeded_until_the_retry_after() {
    let calls = NonZeroU32::new(3).unwrap();
    let mut api = Api::new(Settings { rate_limit: Some((calls, seconds(60))), ..settings() });
    (0..3).for_each(|_| assert_eq!(api.poll("job_1").status, 404));
    let answered = api.order(&shoes());
    assert_error(&answered, 429, "rate_limit_exceeded");
    assert_eq!(answered.headers["retry-after"], "20");
    assert_eq!(api.credits(), 1000);

    api.now += seconds(20) - Duration::from_nanos(1);
    assert_eq!(api.order(&shoes()).headers["retry-after"], "1", "rounded up");
    api.now += Duration::from_nanos(1);
    api.ordered(&shoes());
    assert_error(&api.poll("job_1"), 429, "rate_limit_exceeded");
}

#[test]
fn one_key_does_not_use_up_the_limit_of_another() {
    let tenants = vec![Tenant::new(KEY), Tenant::new("sk-2")];
    let rate_limit = Some((NonZeroU32::MIN, seconds(60)));
    let mut api = Api::new(Settings { tenants, rate_limit, ..Settings::default() });
    assert_eq!(api.poll("job_1").status, 404);
    assert_eq!(api.poll("job_1").status, 429);
    let other = Request::get("/v1/content/articles/job_1").header("Authorization", "Bearer sk-2");
    assert_eq!(api.call(&other.body("".into()).unwrap()).status, 404);
}

#[test]
fn an_unknown_job_and_that_of_another_key_are_job_not_found() {
    let mut api = Api::new(Settings {
        tenants: vec![
            Tenant { brand_id: Some("b".into()), ..Tenant::new(KEY) },
            Tenant::new("sk-2"),
        ],
        ..Settings::default()
    });
    let job_id = api.ordered(&shoes());
    for unknown in ["job_1", "x", "a/b", "%20", &format!("{job_id}0")] {
        assert_error(&api.poll(unknown), 404, "job_not_found");
    }
    let other = Request::get(format!("/v1/content/articles/{job_id}"));
    let other = other.header("Authorization", "Bearer sk-2").body("".into()).unwrap();
    assert_error(&api.call(&other), 404, "job_not_found");
    assert_eq!(api.poll(&job_id).status, 200);
}

#[test]
fn a_job_goes_through_its_steps_to_a_complete_result() {
    let mut api = Api::delivering();
    let job_id = api.ordered(&json!({ "topic": "How to choose running shoes", "words": 700 }));
    let mut seen = Vec::new();
    let result = loop {
        let answered = api.poll(&job_id);
        assert_eq!((answered.status, &answered.body["job_id"]), (200, &json!(job_id)));
        let status = answered.body["status"].as_str().unwrap().to_owned();
        if status == "complete" {
            break answered.body;
        }
        assert!(answered.body.get("article").is_none());
        let state = answered.body.get("step").cloned().unwrap_or(json!(status));
        if seen.last() != Some(&state) {
            seen.push(state);
        }
        api.now += Duration::from_millis(100);
    };
    assert_eq!(seen, ["queued", "outline", "research", "draft", "edit", "image", "social"]);

    let ends_at = api.service.job(api.now, &job_id).unwrap().ends_at;
    assert!((seconds(30)..=seconds(180)).contains(&ends_at));
    assert!(api.now - ends_at < Duration::from_millis(100));
    let result = ArticleResult::from_json(result.to_string().as_bytes()).unwrap();
    assert_eq!(result.article.title, "How to choose running shoes");
    assert_eq!(result.credits_used, Some(1.0));
    assert_eq!(api.credits(), 999);
}

#[test]
fn a_failure_at_the_outline_fails_the_order_and_is_refunded() {
    let mut api = Api::new(Settings { price: 5, ..settings() });
    let answered = api.order(&json!({ "topic": "Shoes", "fail_at": "outline" }));
    assert_error(&answered, 500, "generation_failed");
    assert_eq!(answered.body["details"], json!({ "step": "outline", "credits_refunded": 5 }));
    assert!(answered.body["message"].as_str().unwrap().contains("outline"));
    assert_eq!((api.credits(), api.service.jobs(api.now).len()), (1000, 0));
}

#[test]
fn a_later_failure_fails_the_job_at_its_time_and_is_refunded_then() {
    for step in &Step::ALL[1..] {
        let mut api = Api::new(Settings { price: 5, ..settings() });
        let job_id = api.ordered(&json!({ "topic": "Shoes", "fail_at": step }));
        assert_eq!(api.credits(), 995);
        let ends_at = api.service.job(api.now, &job_id).unwrap().ends_at;

        api.now = ends_at - Duration::from_nanos(1);
        assert_eq!(api.poll(&job_id).body["step"], json!(step));
        assert_eq!(api.credits(), 995);

        api.now = ends_at;
        let answered = api.poll(&job_id);
        assert_error(&answered, 500, "generation_failed");
        assert_eq!(answered.body["details"], json!({ "step": step, "credits_refunded": 5 }));
        assert!(answered.body["message"].as_str().unwrap().contains(&step.to_string()));
        assert_eq!(api.credits(), 1000);
        assert_eq!(
            api.service.job(api.now, &job_id).unwrap().state,
            SimulatedJobState::Failed(*step)
        );
        assert!(
            api.run(seconds(3600), |_| DeliveryOutcome::status(StatusCode::OK)).is_empty(),
            "nothing is delivered"
        );
        assert_eq!(api.credits(), 1000, "refunded once");
    }
}

#[test]
fn a_rule_fails_the_pipeline_of_a_topic_at_the_first_step_that_is_named() {
    let fails = |step| Rule::new(Fault::StepFails(step)).topic("Hats");
    let faults = [Step::Image, Step::Draft, Step::Social].map(fails).to_vec();
    let mut api = Api::new(Settings { faults, ..settings() });
    let (shoes, hats) = (api.ordered(&shoes()), api.ordered(&json!({ "topic": "Hats" })));
    api.now = seconds(180);
    assert_eq!(api.poll(&shoes).status, 200);
    assert_eq!(api.poll(&hats).body["details"]["step"], "draft");
}

#[test]
fn an_order_that_fails_at_once_does_not_make_the_next_fail() {
    let faults = vec![Rule::new(Fault::StepFails(Step::Outline)).probability(0.5)];
    let mut api = Api::new(Settings { faults, ..settings() });
    let failed = (0..200).filter(|_| api.order(&shoes()).status == 500).count();
    assert!((60..140).contains(&failed), "{failed}");
}

#[test]
fn analytics_without_ga4_are_ga4_not_connected() {
    let mut api = Api::delivering();
    let order = json!({ "topic": "Shoes", "analytics": true });
    assert_error(&api.order(&order), 400, "ga4_not_connected");
    let brand = json!({ "brand_id": "brand_1", "ga4_property_id": "G-1" });
    assert_eq!(api.post("/v1/config/brand", &brand).status, 200);
    api.ordered(&order);
}

#[test]
fn a_feature_of_a_plan_is_plan_required_without_one() {
    let order = json!({ "topic": "Shoes", "plan_feature": "white_label" });
    let mut api = Api::delivering();
    let answered = api.order(&order);
    assert_error(&answered, 403, "plan_required");
    assert_eq!(answered.body["details"]["feature"], "white_label");

    let tenant = Tenant { has_paid_plan: true, brand_id: Some("b".into()), ..Tenant::new(KEY) };
    let mut api = Api::new(Settings { tenants: vec![tenant], ..Settings::default() });
    api.ordered(&order);
}

#[test]
fn a_malformed_body_is_invalid_request_and_names_the_field() {
    let mut api = Api::delivering();
    let target = |target: Value| json!({ "brand_id": "b", "targets": [target] }).to_string();
    let good = json!({ "type": "webhook", "name": "n", "url": URL, "auth_token": "t" });
    let but = |field: &str, value: Value| {
        let mut bad = good.clone();
        bad[field] = value;
        target(bad)
    };
    let ordering = |field: &str, value: Value| {
        let mut bad = shoes();
        bad[field] = value;
        bad.to_string()
    };
    for (path, body, field) in [
        ("/v1/content/articles", "{".to_owned(), "the body"),
        ("/v1/content/articles", "[]".to_owned(), "the body"),
        ("/v1/content/articles", "{}".to_owned(), "topic"),
        ("/v1/content/articles", r#"{"topic":"a"} x"#.to_owned(), "the body"),
        ("/v1/content/articles", ordering("topic", json!(7)), "topic"),
        ("/v1/content/articles", ordering("topic", json!(" ")), "topic"),
        ("/v1/content/articles", ordering("webhook_url", json!("/hook")), "webhook_url"),
        ("/v1/content/articles", ordering("webhook_url", json!("ftp://a.test")), "webhook_url"),
        ("/v1/content/articles", ordering("webhook_url", json!(7)), "webhook_url"),
        ("/v1/content/articles", ordering("words", json!(499)), "words"),
        ("/v1/content/articles", ordering("bytes", json!(0)), "bytes"),
        ("/v1/content/articles", ordering("bytes", json!(-1)), "bytes"),
        ("/v1/content/articles", ordering("analytics", json!("yes")), "analytics"),
        ("/v1/content/articles", ordering("fail_at", json!("typing")), "fail_at"),
        ("/v1/config/brand", "".to_owned(), "the body"),
        ("/v1/config/brand", r#"{"brand_id":7}"#.to_owned(), "brand_id"),
        ("/v1/config/publish-targets", r#"{"targets":[]}"#.to_owned(), "brand_id"),
        ("/v1/config/publish-targets", r#"{"brand_id":"b"}"#.to_owned(), "targets"),
        ("/v1/config/publish-targets", target(json!("b")), "targets"),
        ("/v1/config/publish-targets", but("type", json!("email")), "targets[].type"),
        ("/v1/config/publish-targets", but("name", json!(null)), "targets[].name"),
        ("/v1/config/publish-targets", but("url", json!("/hook")), "targets[].url"),
        ("/v1/config/publish-targets", but("url", json!("ftp://receiver.test/")), "targets[].url"),
        ("/v1/config/publish-targets", but("auth_token", json!("")), "targets[].auth_token"),
        ("/v1/config/publish-targets", but("auth_token", json!(" ")), "targets[].auth_token"),
        ("/v1/config/publish-targets", but("auth_token", json!("a\nb")), "targets[].auth_token"),
    ] {
        let answered = api.call(&request(Method::POST, path, body.clone()));
        assert_error(&answered, 400, "invalid_request");
        assert_eq!(answered.body["details"]["field"], field, "{path} {body}");
        assert!(answered.body["message"].as_str().unwrap().contains(field));
    }
    let answered = api.call(&request(Method::POST, "/v1/config/publish-targets", target(good)));
    assert_eq!((answered.status, &answered.body["targets"]), (200, &json!(1)));
}

#[test]
fn a_body_that_is_not_declared_as_json_is_invalid_request() {
    let mut api = Api::delivering();
    let mut request = request(Method::POST, "/v1/content/articles", r#"{"topic":"a"}"#);
    request.headers_mut().remove("content-type");
    let answered = api.call(&request);
    assert_error(&answered, 400, "invalid_request");
    assert_eq!(answered.body["details"]["field"], "Content-Type");
    let parameters = "Application/JSON; charset=utf-8".parse().unwrap();
    request.headers_mut().insert("content-type", parameters);
    assert_eq!(api.call(&request).status, 202);
}

#[test]
fn undocumented_calls_get_errors_in_the_documented_shape() {
    let mut api = Api::delivering();
    for path in ["/", "/v1", "/v2/content/articles", "/v1/content", "/v1/content/articles_"] {
        assert_error(&api.call(&request(Method::POST, path, "{}")), 404, "not_found");
    }
    for (method, path, allowed) in [
        (Method::GET, "/v1/content/articles", "POST"),
        (Method::DELETE, "/v1/content/articles/job_1", "GET"),
        (Method::PUT, "/v1/config/brand", "POST"),
    ] {
        let answered = api.call(&request(method, path, "{}"));
        assert_error(&answered, 405, "method_not_allowed");
        assert_eq!(answered.headers["allow"], allowed);
    }
}

#[test]
fn the_image_of_a_result_is_served_without_a_key() {
    let mut api = Api::delivering();
    let job_id = api.ordered(&shoes());
    api.now = seconds(180);
    let url = api.poll(&job_id).body["featured_image"]["url"].as_str().unwrap().to_owned();
    let path = url.strip_prefix("http://simulator.test").unwrap();
    let image = api.service.call(api.now, &Request::get(path).body("".into()).unwrap());
    assert_eq!(
        (image.status().as_u16(), &image.headers()["content-type"]),
        (200, &"image/png".parse().unwrap())
    );
    assert!(image.body().starts_with(b"\x89PNG"));
    assert_error(&api.call(&request(Method::GET, "/images/x.png", "")), 404, "not_found");
}

#[test]
fn api_faults_happen_only_at_their_calls() {
    let mut api = Api::delivering();
    api.service.set_faults(vec![
        Rule::new(Fault::ApiStatus(StatusCode::SERVICE_UNAVAILABLE)).topic("Hats").nth(1),
    ]);
    api.ordered(&shoes());
    let hats = json!({ "topic": "Hats" });
    assert_eq!(api.order(&hats).status, 503);
    assert_eq!(api.credits(), 999, "it was not carried out");
    api.ordered(&hats);

    api.service.set_faults(vec![Rule::new(Fault::ApiRateLimited(seconds(9)))]);
    let answered = api.order(&hats);
    assert_error(&answered, 429, "rate_limit_exceeded");
    assert_eq!(answered.headers["retry-after"], "9");

    api.service.set_faults(vec![Rule::new(Fault::ApiMalformed)]);
    let answered = api.order(&hats);
    assert_eq!((answered.status, answered.body), (202, Value::Null));
    assert_eq!(api.credits(), 997, "it was carried out");
}
