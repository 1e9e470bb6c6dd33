//! A service without sockets, at a time that the test sets.

use std::time::Duration;

use article_webhook_simulator::{DeliveryOutcome, Push, Service, Settings, Tenant};
use http::{HeaderMap, Method, Request};
use serde_json::{Value, json};

pub(crate) const KEY: &str = "sk-1";
pub(crate) const URL: &str = "http://receiver.test/hook";
pub(crate) const TOKEN: &str = "Bearer secret";

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) struct Api {
    pub(crate) service: Service,
    pub(crate) now: Duration,
}

pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Api {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { service: Service::new(settings), now: Duration::ZERO }
    }

    /// With a brand, and one publish target.
    pub(crate) fn delivering() -> Self {
        Self::new(settings())
    }

    pub(crate) fn call(&mut self, request: &Request<bytes::Bytes>) -> Answered {
        let response = self.service.call(self.now, request);
        let body = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
        Answered { status: response.status().as_u16(), headers: response.headers().clone(), body }
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Answered {
        self.call(&request(Method::POST, path, body.to_string()))
    }

    pub(crate) fn order(&mut self, body: &Value) -> Answered {
        self.post("/v1/content/articles", body)
    }

    /// Orders an article successfully, and returns the job id.
    pub(crate) fn ordered(&mut self, body: &Value) -> String {
        let answered = self.order(body);
        assert_eq!(answered.status, 202, "{}", answered.body);
        answered.body["job_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn poll(&mut self, job_id: &str) -> Answered {
        self.call(&request(Method::GET, &format!("/v1/content/articles/{job_id}"), ""))
    }

    pub(crate) fn credits(&self) -> u64 {
        self.service.credits(KEY).unwrap()
    }

    /// Lets time pass, and returns the deliveries with their times. `answer` is the receiver.
    pub(crate) fn run(
        &mut self,
        by: Duration,
        mut answer: impl FnMut(&Push) -> DeliveryOutcome,
    ) -> Vec<Sent> {
        let (until, mut sent) = (self.now + by, Vec::new());
        while let Some(at) = self.service.next_due().filter(|&at| at <= until) {
            self.now = at.max(self.now);
            for push in self.service.due(self.now) {
                let outcome = answer(&push);
                self.service.pushed(self.now, &push, outcome);
                sent.push(Sent { at: self.now, push });
            }
        }
        self.now = until;
        sent
    }
}

pub(crate) struct Sent {
    pub(crate) at: Duration,
    pub(crate) push: Push,
}

pub(crate) fn settings() -> Settings {
    let tenant = Tenant::new(KEY).deliver_to(URL, TOKEN).unwrap();
    Settings { seed: 7, tenants: vec![tenant], ..Settings::default() }
}

pub(crate) fn request(
    method: Method,
    path: &str,
    body: impl Into<bytes::Bytes>,
) -> Request<bytes::Bytes> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("Authorization", format!("Bearer {KEY}"))
        .header("Content-Type", "application/json")
        .body(body.into())
        .unwrap()
}

pub(crate) fn shoes() -> Value {
    json!({ "topic": "Shoes" })
}
