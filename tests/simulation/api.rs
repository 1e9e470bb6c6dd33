use std::{cell::Cell, future::pending, sync::Arc, time::Duration};

use article_webhook_client::{
    ApiKey, Created, Error, JobId, NewArticle, RawResponse, Response, StatusCode,
};
use article_webhook_collector::{Api, Calling};
use article_webhook_simulator::SimulatedJobState;
use bytes::Bytes;
use http::Request;
use tokio::time::sleep;

use crate::{
    faults::{ApiFault, CallFault},
    forge::order_is_read,
    node::Process,
    observed::{API_TIMEOUT, Observed, Route},
    world::{Account, SECOND, World, span},
};

/// JSON about a job that is no article. Each number, from one, gives bytes that no other body has.
pub(crate) fn not_an_article(job: &str, number: u8) -> Bytes {
    format!(r#"{{"job_id":"{job}","status":"complete","article":{{"title":{number}}}}}"#).into()
}

/// What came of a call.
enum Called {
    Unreachable,
    /// It was sent.
    Unanswered,
    Answered(RawResponse, Order),
}

impl Called {
    fn result(self) -> Result<RawResponse, Error> {
        match self {
            Self::Unreachable => Err(Error::unreachable("no connection")),
            Self::Unanswered => Err(Error::unanswered("the connection was cut")),
            Self::Answered(answer, _) => Ok(answer),
        }
    }
}

/// Whether the service took an order in a call.
#[derive(Clone, Copy)]
enum Order {
    Taken,
    NotTaken,
}

/// The calls of one process to the service: the state machine of the simulator, without sockets.
#[derive(Clone)]
pub(crate) struct ApiConnection {
    world: Arc<World>,
    process: Process,
    key: ApiKey,
}

impl ApiConnection {
    pub(crate) fn new(world: &Arc<World>, process: &Process) -> Self {
        let key = ApiKey::new(process.account().key()).expect("the key is valid");
        Self { world: Arc::clone(world), process: process.clone(), key }
    }

    /// One call: its faults, and what comes of it.
    async fn call(
        &self,
        name: &str,
        request: Request<Bytes>,
        sent: impl FnOnce(&mut Observed, Duration) -> Result<(), String>,
    ) -> Called {
        self.process.while_running().await;
        let world = &self.world;
        let now = world.now();
        let (call_fault, api_fault, latency) = world.with(|inner| {
            let call_fault = inner.faults.call_fault(&mut inner.rng);
            let api_fault = inner.faults.api_fault(&mut inner.rng, now);
            (call_fault, api_fault, span(&mut inner.rng, SECOND / 100, 20 * SECOND))
        });
        if call_fault == CallFault::CrashBefore {
            self.process.crash(world, name, "before").await;
        }
        world.note(&format!("{} {name} {}: {api_fault:?}", self.process, subject(&request)));
        world.seen(sent);
        match api_fault {
            ApiFault::Unreachable => return Called::Unreachable,
            ApiFault::Panics => panic!("planted"),
            ApiFault::Hangs => pending().await,
            _ => {}
        }
        let half = latency / 2;
        sleep(half).await;
        let answer = self.answer(api_fault, &request, half);
        if call_fault == CallFault::CrashAfter {
            self.process.crash(world, name, "after").await;
        }
        sleep(half).await;
        self.process.while_running().await;
        answer.map_or(Called::Unanswered, |(answer, order)| Called::Answered(answer, order))
    }

    /// What the service answers, if an answer comes. It is under way for this time.
    fn answer(
        &self,
        api_fault: ApiFault,
        request: &Request<Bytes>,
        way: Duration,
    ) -> Option<(RawResponse, Order)> {
        let order = Cell::new(Order::NotTaken);
        let carried_out = || {
            let (status, body) = self.carry_out(request);
            if status == 202 {
                order.set(Order::Taken);
            }
            (status, body)
        };
        let pause = |status, pause: Duration| {
            let now = self.world.now();
            self.world.with(|inner| {
                inner.observed.rate.pause_answered(&self.process, now, way, pause);
            });
            self.raw(status, &pause.as_secs().to_string(), Bytes::new())
        };
        let answer = match api_fault {
            ApiFault::CutBefore => return None,
            ApiFault::CutAfter => {
                carried_out();
                return None;
            }
            ApiFault::StatusAfter(status) => {
                carried_out();
                self.raw(status, "", "<h1>out of order</h1>")
            }
            ApiFault::Status(status) => self.raw(status, "", "<h1>out of order</h1>"),
            ApiFault::RateLimited(time) => pause(429, time),
            ApiFault::Unavailable(time) => pause(503, time),
            ApiFault::Unauthorized => {
                self.world.with(|inner| inner.observed.rate.key_refused());
                self.raw(401, "", r#"{"error":"invalid_api_key"}"#)
            }
            ApiFault::Forbidden => self.raw(403, "", r#"{"error":"plan_required"}"#),
            ApiFault::Page => self.raw(200, "", "<!doctype html><h1>Sign in</h1>"),
            ApiFault::Truncated => {
                let (status, body) = carried_out();
                self.raw(status, "", body.slice(..body.len() / 2))
            }
            ApiFault::NotAnArticle if request.method() == http::Method::GET => {
                let number = self.world.draw(|rng| rng.u8(1..8));
                self.world.with(|inner| inner.observed.forgeries.vouched(id(request)));
                self.raw(200, "", not_an_article(id(request), number))
            }
            ApiFault::OtherJob if request.method() == http::Method::GET => {
                let (status, body) = carried_out();
                let text = String::from_utf8_lossy(&body).replace(id(request), "job_of_another");
                self.raw(status, "", text)
            }
            _ => {
                let (status, body) = carried_out();
                self.raw(status, "", body)
            }
        };
        Some((answer, order.get()))
    }

    /// The service sees the call.
    fn carry_out(&self, request: &Request<Bytes>) -> (u16, Bytes) {
        let response = self.world.service(|service, now| service.call(now, request));
        if response.status() == 202 {
            self.world.taken(self.process.account(), subject(request), response.body());
        }
        let (status, body) = (response.status().as_u16(), response.into_body());
        let is_complete = self.world.state_of(id(request)) == Some(SimulatedJobState::Complete);
        match status == 200 && is_complete {
            true => (status, self.world.sent_body(Route::Polled, id(request), body)),
            false => (status, body),
        }
    }

    fn raw(&self, status: u16, retry_after: &str, body: impl Into<Bytes>) -> RawResponse {
        let headers: &[(&str, &str)] = &[("Retry-After", retry_after)];
        let status = StatusCode::from_u16(status).expect("it is a status");
        RawResponse::new(status, headers, body, self.world.time())
    }
}

fn id(request: &Request<Bytes>) -> &str {
    request.uri().path().rsplit('/').next().unwrap_or_default()
}

/// The job that is polled, or the order.
fn subject(request: &Request<Bytes>) -> &str {
    match request.method() {
        &http::Method::GET => id(request),
        _ => std::str::from_utf8(request.body()).unwrap_or_default(),
    }
}

/// A request to the service.
pub(crate) fn request(
    account: Account,
    method: &str,
    path: &str,
    body: impl Into<Bytes>,
) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("Authorization", format!("Bearer {}", account.key()));
    let request = request.header("Content-Type", "application/json").body(body.into());
    request.expect("the request is valid")
}

impl Api for ApiConnection {
    fn create<'a>(&'a self, article: &'a NewArticle) -> Calling<'a, Created> {
        Box::pin(async move {
            let order = serde_json::to_value(article).expect("an order is JSON");
            let intent = order["topic"].as_str().expect("it has a topic").to_owned();
            order_is_read(&self.world, &intent);
            let account = self.process.account();
            let sent = request(account, "POST", "/v1/content/articles", order.to_string());
            let order =
                |observed: &mut Observed, now| observed.order_sent(&self.process, &intent, now);
            let called = self.call("create", sent, order).await;
            if matches!(called, Called::Unreachable | Called::Answered(_, Order::NotTaken)) {
                self.world.with(|inner| inner.observed.order_refused(&intent));
            }
            let created = Created::classify(&self.key, article, called.result());
            if let Ok(created) = &created {
                let answered = (created.job_id.to_string(), self.process.clone());
                self.world.with(|inner| inner.observed.answered_orders.push(answered));
            }
            created
        })
    }

    fn poll<'a>(&'a self, job_id: &'a JobId) -> Calling<'a, Response> {
        Box::pin(async move {
            let path = format!("/v1/content/articles/{job_id}");
            let sent = request(self.process.account(), "GET", &path, Bytes::new());
            let poll = |observed: &mut Observed, now| {
                observed.poll_sent(&self.process, job_id.as_str(), now)
            };
            let raw = self.call("poll", sent, poll).await.result()?;
            Ok(Response::classify(&self.key, job_id, raw))
        })
    }

    fn timeout(&self) -> Duration {
        API_TIMEOUT
    }

    fn key_fingerprint(&self) -> u64 {
        self.process.account().fingerprint()
    }
}
