//! The responses of the service match its OpenAPI description (`openapi.json`), for each call and each error.

use std::{collections::BTreeSet, num::NonZeroU32};

use article_webhook_simulator::{Settings, Tenant};
use http::{Method, Request};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::common::{Answered, Api, KEY, TOKEN, URL, request, seconds, settings, shoes};

const CODES: [&str; 9] = [
    "credits_exhausted",
    "ga4_not_connected",
    "generation_failed",
    "invalid_api_key",
    "invalid_request",
    "job_not_found",
    "not_configured",
    "plan_required",
    "rate_limit_exceeded",
];

fn description() -> Value {
    serde_json::from_str(include_str!("openapi.json")).unwrap()
}

/// A validator for a schema. Its references point into the description.
fn validator(schema: &Value) -> Validator {
    let schema = json!({ "allOf": [schema], "components": description()["components"] });
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

fn validator_of(name: &str) -> Validator {
    validator(&json!({ "$ref": format!("#/components/schemas/{name}") }))
}

fn content(place: &Value) -> &Value {
    &place["content"]["application/json"]["schema"]
}

/// Makes calls, and validates requests and responses with the description.
struct Caller {
    api: Api,
    description: Value,
    /// The statuses of each call.
    seen: BTreeSet<(String, u16)>,
    codes: BTreeSet<String>,
}

impl Caller {
    fn new() -> Self {
        let api = Api::delivering();
        Self { api, description: description(), seen: BTreeSet::new(), codes: BTreeSet::new() }
    }

    fn call(&mut self, request: &Request<bytes::Bytes>) -> Answered {
        let answered = self.api.call(request);
        let path = match request.uri().path() {
            path if path.starts_with("/v1/content/articles/") => "/v1/content/articles/{job_id}",
            path => path,
        };
        let method = request.method().as_str().to_lowercase();
        let operation = &self.description["paths"][path][method];
        let status = answered.status;
        let schema = content(&operation["responses"][status.to_string()]);
        assert!(schema.is_object(), "{path} says nothing of {status}: {}", answered.body);
        validator(schema).validate(&answered.body).unwrap_or_else(|error| {
            panic!("{path}, {status}: {error}: {}", answered.body);
        });
        if status < 300 && request.method() == Method::POST {
            let sent: Value = serde_json::from_slice(request.body()).unwrap();
            assert!(validator(content(&operation["requestBody"])).is_valid(&sent), "{sent}");
        }
        let name = operation["operationId"].as_str().unwrap().to_owned();
        self.seen.insert((name, status));
        self.codes.extend(answered.body["error"].as_str().map(str::to_owned));
        answered
    }

    fn post(&mut self, path: &str, body: &Value) -> Answered {
        self.call(&request(Method::POST, path, body.to_string()))
    }

    fn order(&mut self, body: &Value) -> Answered {
        self.post("/v1/content/articles", body)
    }

    fn poll(&mut self, job_id: &str) -> Answered {
        self.call(&request(Method::GET, &format!("/v1/content/articles/{job_id}"), ""))
    }

    fn start(&mut self, settings: Settings) {
        self.api = Api::new(settings);
    }

    /// Makes each call successfully, and in each way in which it can fail.
    fn walk(&mut self) {
        self.job();
        self.failures();
        self.configuration();
        for (method, path) in [
            (Method::GET, "/v1/content/articles/job_1"),
            (Method::POST, "/v1/content/articles"),
            (Method::POST, "/v1/config/publish-targets"),
            (Method::POST, "/v1/config/brand"),
        ] {
            self.start(Settings { rate_limit: Some((NonZeroU32::MIN, seconds(60))), ..settings() });
            self.call(&Request::builder().method(&method).uri(path).body("{}".into()).unwrap());
            self.poll("job_1");
            assert_eq!(self.call(&request(method, path, "{}")).status, 429);
        }
    }

    fn job(&mut self) {
        self.start(settings());
        let order = json!({ "topic": "Shoes", "webhook_url": URL, "words": 700 });
        let job_id = self.order(&order).body["job_id"].as_str().unwrap().to_owned();
        for until in 0..=180 {
            self.api.now = seconds(until);
            self.poll(&job_id);
        }
        assert_eq!(self.poll(&job_id).body["status"], "complete");
        self.poll("job_1");
    }

    fn failures(&mut self) {
        self.start(settings());
        self.order(&json!({ "topic": "Shoes", "fail_at": "outline" }));
        let failing = json!({ "topic": "Shoes", "fail_at": "draft" });
        let job_id = self.order(&failing).body["job_id"].as_str().unwrap().to_owned();
        self.api.now = seconds(180);
        assert_eq!(self.poll(&job_id).status, 500);
        self.order(&json!({ "topic": "Shoes", "analytics": true }));
        self.order(&json!({ "topic": "Shoes", "plan_feature": "bulk" }));
        self.order(&json!({ "topic": 7 }));
        let poor = Tenant { credits: 0, brand_id: Some("b".into()), ..Tenant::new(KEY) };
        self.start(Settings { tenants: vec![poor], ..Settings::default() });
        self.order(&shoes());
    }

    fn configuration(&mut self) {
        self.start(Settings { tenants: vec![Tenant::new(KEY)], ..Settings::default() });
        self.order(&shoes());
        let target = json!({ "type": "webhook", "name": "n", "url": URL, "auth_token": TOKEN });
        let targets = json!({ "brand_id": "b", "targets": [target] });
        self.post("/v1/config/publish-targets", &targets);
        self.post("/v1/config/publish-targets", &json!({ "brand_id": "b", "targets": 7 }));
        self.post("/v1/config/brand", &json!({ "brand_id": "b", "ga4_property_id": "G-1" }));
        self.post("/v1/config/brand", &json!({ "brand_id": 7 }));
    }
}

#[test]
fn every_call_and_every_error_is_answered_as_described() {
    let mut caller = Caller::new();
    caller.walk();
    assert_eq!(caller.codes.iter().collect::<Vec<_>>(), CODES.iter().collect::<Vec<_>>());
    let mut described = BTreeSet::new();
    for operation in operations(&description()) {
        for status in operation["responses"].as_object().unwrap().keys() {
            let name = operation["operationId"].as_str().unwrap().to_owned();
            described.insert((name, status.parse().unwrap()));
        }
    }
    assert_eq!(caller.seen, described, "every described response occurs");
}

#[test]
fn a_complete_result_has_every_field_that_is_described_and_no_other() {
    let mut api = Api::delivering();
    let job_id = api.ordered(&shoes());
    api.now = seconds(180);
    let result = api.poll(&job_id).body;
    let schemas = &description()["components"]["schemas"];
    let described = &schemas["result"]["properties"];
    for (described, answered) in [
        (described, &result),
        (&schemas["article"]["properties"], &result["article"]),
        (&described["featured_image"]["properties"], &result["featured_image"]),
        (&described["social_posts"]["properties"], &result["social_posts"]),
    ] {
        let names =
            |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(names(described), names(answered));
    }
}

/// A control: the description refuses other responses.
#[test]
fn a_response_that_is_not_as_described_is_refused() {
    let mut api = Api::delivering();
    let job_id = api.ordered(&shoes());
    api.now = seconds(180);
    let (result, is_result) = (api.poll(&job_id).body, validator_of("result"));
    assert!(is_result.is_valid(&result));
    for (pointer, odd) in [
        ("/job_id", json!(7)),
        ("/status", json!("done")),
        ("/article", json!({})),
        ("/article/html", json!(["<p>"])),
        ("/article/word_count", json!(7.5)),
        ("/featured_image/url", json!("no URL")),
        ("/social_posts/x", json!("text")),
        ("/credits_used", json!("1")),
    ] {
        let mut spoiled = result.clone();
        *spoiled.pointer_mut(pointer).unwrap() = odd;
        assert!(!is_result.is_valid(&spoiled), "{pointer}");
    }
    for code in CODES {
        let is_error = validator_of(code);
        let error = |code: &str| json!({ "error": code, "message": "What is wrong." });
        assert!(!is_error.is_valid(&error("another")), "{code}");
        let is_more = matches!(code, "credits_exhausted" | "generation_failed");
        assert_eq!(is_error.is_valid(&error(code)), !is_more, "{code}");
    }
}

/// Schemas that the document does not show are marked as choices, and allow further fields.
#[test]
fn undocumented_schemas_are_marked_and_allow_further_fields() {
    let description = description();
    let schemas = &description["components"]["schemas"];
    for name in ["unfinished_job", "created_job", "brand", "configured_brand", "configured_targets"]
    {
        let text = schemas[name]["description"].as_str().unwrap();
        assert!(text.starts_with("The document does not show it"), "{name}: {text}");
        assert_eq!(schemas[name]["additionalProperties"], true, "{name}");
    }
    let posts = &schemas["result"]["properties"]["social_posts"]["properties"];
    for network in ["linkedin", "x"] {
        assert_eq!(posts[network]["items"].get("type"), None, "{network}: of any shape");
    }
}

fn operations(description: &Value) -> Vec<&Value> {
    let paths = description["paths"].as_object().unwrap();
    paths.values().filter_map(Value::as_object).flat_map(Map::values).collect()
}
