use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use super::{
    configure,
    faults::{response_instead, with_faults},
    fields::object,
    order::Order,
};
use crate::{
    Call, Fault, Service, SimulatedJobState, Step,
    accounts::Account,
    faults::{FaultContext, FaultSite},
    jobs::JobRecord,
    response::{ApiError, json_response, response_of_type},
};

const ARTICLES: &str = "/v1/content/articles";
const BRAND: &str = "/v1/config/brand";
const TARGETS: &str = "/v1/config/publish-targets";

impl Service {
    /// Answers a call of the API, or a request for an image of a result.
    pub fn call(&mut self, now: Duration, request: &Request<Bytes>) -> Response<Bytes> {
        let response = self.response(now, request);
        self.latest_calls.add(Call {
            at: now,
            method: request.method().to_string(),
            path: request.uri().path().to_owned(),
            status: response.status(),
        });
        response
    }

    fn response(&mut self, now: Duration, request: &Request<Bytes>) -> Response<Bytes> {
        self.end_jobs(now);
        if let Some(name) = request.uri().path().strip_prefix("/images/") {
            return image(name).unwrap_or_else(Response::from);
        }
        let faults = self.faults_of_call(request);
        let response = response_instead(&faults)
            .unwrap_or_else(|| self.answer(now, request).unwrap_or_else(Response::from));
        with_faults(response, &faults)
    }

    fn answer(
        &mut self,
        now: Duration,
        request: &Request<Bytes>,
    ) -> Result<Response<Bytes>, ApiError> {
        let index = self.authenticate(request).ok_or(ApiError::InvalidApiKey)?;
        let account = &mut self.accounts[index];
        account.admit(now)?;
        let path = request.uri().path();
        let job_id = path.strip_prefix(ARTICLES).and_then(|path| path.strip_prefix('/'));
        let (allowed, method) = match job_id {
            Some(_) => ("GET", Method::GET),
            None if [ARTICLES, BRAND, TARGETS].contains(&path) => ("POST", Method::POST),
            None => return Err(ApiError::NoSuchCall),
        };
        if *request.method() != method {
            return Err(ApiError::WrongMethod { allowed });
        }
        if let Some(job_id) = job_id {
            return self.poll(now, index, job_id);
        }
        let body = object(request.headers(), request.body())?;
        match path {
            BRAND => configure::brand(account, &body),
            TARGETS => configure::publish_targets(account, &body),
            _ => self.order(now, index, &body),
        }
    }

    /// The account of the key (service document, section 5). A request with two keys has none.
    fn authenticate(&self, request: &Request<Bytes>) -> Option<usize> {
        let mut values = request.headers().get_all(header::AUTHORIZATION).into_iter();
        let key = values.next()?.to_str().ok()?.strip_prefix("Bearer ")?;
        let account = self.keys.get(key).copied();
        account.filter(|_| values.next().is_none())
    }

    fn poll(&self, now: Duration, account: usize, id: &str) -> Result<Response<Bytes>, ApiError> {
        let job = self.ids.job(id).ok_or(ApiError::JobNotFound)?;
        let record = self.jobs.get(job).filter(|record| record.account == account);
        let record = record.ok_or(ApiError::JobNotFound)?;
        let unfinished = match record.state(now, &self.timetable(job)) {
            SimulatedJobState::Complete => {
                let body = self.recipe(job).body();
                return Ok(response_of_type(StatusCode::OK, "application/json", body));
            }
            SimulatedJobState::Failed(step) => {
                return Err(ApiError::GenerationFailed { step, refunded: record.price });
            }
            SimulatedJobState::Queued => json!({ "job_id": id, "status": "queued" }),
            SimulatedJobState::Running(step) => {
                json!({ "job_id": id, "status": "running", "step": step })
            }
        };
        Ok(json_response(StatusCode::OK, &unfinished))
    }

    fn order(
        &mut self,
        now: Duration,
        account: usize,
        body: &Map<String, Value>,
    ) -> Result<Response<Bytes>, ApiError> {
        let order = Order::read(body)?;
        let upgrade_url = format!("{}/account", self.base_url);
        let owner = &mut self.accounts[account];
        let brand = owner.ordering_brand(order.brand_id.as_deref())?;
        permitted(owner, brand, &order)?;
        owner.charge(self.price, &upgrade_url)?;
        let fails_at = self.fails_at(&order);
        if fails_at == Some(Step::Outline) {
            self.accounts[account].credits += self.price;
            return Err(ApiError::GenerationFailed { step: Step::Outline, refunded: self.price });
        }
        let record = JobRecord {
            account,
            brand,
            topic: order.topic.into(),
            html_bytes: order.html_bytes,
            webhook: order.webhook.map(Arc::new),
            ordered_at: now,
            fails_at,
            price: self.price,
            is_over: false,
        };
        let job = self.jobs.len();
        self.endings.add(record.ends_at(&self.timetable(job)), job);
        self.jobs.push(record);
        let body = json!({ "job_id": self.ids.id(job), "status": "queued" });
        Ok(json_response(StatusCode::ACCEPTED, &body))
    }

    fn fails_at(&mut self, order: &Order) -> Option<Step> {
        // The number of the order, not of the job: an order that fails at once creates no job, and the next order must
        // not draw the same number.
        self.orders += 1;
        let id = self.ids.id(self.jobs.len());
        let context = FaultContext {
            job_id: Some(&id),
            topic: Some(&order.topic),
            attempt: None,
            number: [self.orders, 0, 0],
        };
        let failures = self.plan.draw_faults(FaultSite::Pipeline, &context).into_iter();
        let failures = failures.filter_map(|fault| match fault {
            Fault::StepFails(step) => Some(step),
            _ => None,
        });
        failures.chain(order.fail_at).min_by_key(|&step| step as usize)
    }

    fn faults_of_call(&mut self, request: &Request<Bytes>) -> Vec<Fault> {
        self.calls += 1;
        if self.plan.is_empty() {
            return Vec::new();
        }
        let path = request.uri().path();
        let body: Option<Value> = serde_json::from_slice(request.body()).ok();
        let context = FaultContext {
            job_id: path.strip_prefix(ARTICLES).and_then(|path| path.strip_prefix('/')),
            topic: body.as_ref().and_then(|body| body.get("topic")?.as_str()),
            attempt: None,
            number: [self.calls, 0, 0],
        };
        self.plan.draw_faults(FaultSite::Call, &context)
    }
}

/// Service document, section 1: analytics need a connected GA4, and some features a paid plan.
fn permitted(account: &Account, brand: usize, order: &Order) -> Result<(), ApiError> {
    if order.wants_analytics && !account.brands[brand].has_ga4 {
        return Err(ApiError::Ga4NotConnected);
    }
    match &order.plan_feature {
        Some(feature) if !account.has_paid_plan => {
            Err(ApiError::PlanRequired { feature: feature.clone() })
        }
        _ => Ok(()),
    }
}

/// Every article has the same image, at a URL of its own. No key is required, because browsers send none.
fn image(name: &str) -> Result<Response<Bytes>, ApiError> {
    let number = name.strip_suffix(".png").and_then(|number| number.parse::<u64>().ok());
    number.ok_or(ApiError::NoSuchCall)?;
    let image = Bytes::from_static(include_bytes!("image.png"));
    Ok(response_of_type(StatusCode::OK, "image/png", image))
}
