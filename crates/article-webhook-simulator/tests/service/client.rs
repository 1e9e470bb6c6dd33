//! What the client concludes from the responses of the service, without a socket between them.

use std::time::SystemTime;

use article_webhook_client::{
    ApiKey, CallOutcome, Created, Error, JobId, NewArticle, RawResponse, Response,
};
use article_webhook_simulator::{Fault, Rule, StatusCode, Step};
use http::Method;

use crate::common::{Api, KEY, request, seconds, shoes};

fn raw(api: &mut Api, method: Method, path: &str, body: String) -> RawResponse {
    let response = api.service.call(api.now, &request(method, path, body));
    let (parts, body) = response.into_parts();
    RawResponse::new(parts.status, &parts.headers, body, SystemTime::UNIX_EPOCH)
}

fn order(api: &mut Api) -> Result<Created, Error> {
    let raw = raw(api, Method::POST, "/v1/content/articles", shoes().to_string());
    Created::classify(&ApiKey::new(KEY).unwrap(), &NewArticle::new("Shoes"), Ok(raw))
}

fn ask(api: &mut Api, job_id: &JobId) -> Response {
    let raw = raw(api, Method::GET, &format!("/v1/content/articles/{job_id}"), String::new());
    Response::classify(&ApiKey::new(KEY).unwrap(), job_id, raw)
}

#[test]
fn a_job_is_followed_from_its_order_to_its_article() {
    let mut api = Api::delivering();
    let created = order(&mut api).unwrap();
    assert_eq!((created.status, created.retry_after), (StatusCode::ACCEPTED, None));
    let response = ask(&mut api, &created.job_id);
    assert!(
        matches!(&response.outcome, CallOutcome::Unfinished { status: Some(status), .. } if status == "queued"),
        "{response:?}"
    );

    api.now += seconds(3600);
    let response = ask(&mut api, &created.job_id);
    let CallOutcome::Complete(result) = &response.outcome else { panic!("{response:?}") };
    assert_eq!(result.job_id, created.job_id);
    let pushes = api.service.due(api.now);
    assert_eq!(&response.body, pushes[0].request().body(), "the body of the delivery");

    let unknown = "job_of_another_key".parse().unwrap();
    assert!(matches!(ask(&mut api, &unknown).outcome, CallOutcome::JobNotFound));
}

#[test]
fn a_failed_job_names_its_step_and_its_refund() {
    let mut api = Api::delivering();
    api.service.set_faults(vec![Rule::new(Fault::StepFails(Step::Draft))]);
    let created = order(&mut api).unwrap();
    api.now += seconds(3600);
    let response = ask(&mut api, &created.job_id);
    let CallOutcome::Failed { step: Some(step), credits_refunded: Some(1..), .. } =
        &response.outcome
    else {
        panic!("{response:?}")
    };
    assert_eq!(step, "draft");

    // An order that fails at once has an error, and nothing was taken.
    api.service.set_faults(vec![Rule::new(Fault::StepFails(Step::Outline))]);
    let error = order(&mut api).unwrap_err();
    assert!(matches!(error.response().unwrap().outcome, CallOutcome::Failed { .. }), "{error}");
    assert!(!error.is_outcome_unknown());
}

#[test]
fn a_limit_asks_for_a_pause_and_an_outage_for_none() {
    let mut api = Api::delivering();
    let created = order(&mut api).unwrap();
    api.service.set_faults(vec![Rule::new(Fault::ApiRateLimited(seconds(7200)))]);
    let response = ask(&mut api, &created.job_id);
    assert!(matches!(response.outcome, CallOutcome::RateLimited), "{response:?}");
    assert_eq!(response.retry_after, Some(seconds(7200)));
    let error = order(&mut api).unwrap_err();
    assert_eq!(error.retry_after(), Some(seconds(7200)));
    assert!(!error.is_outcome_unknown());

    api.service.set_faults(vec![Rule::new(Fault::ApiStatus(StatusCode::SERVICE_UNAVAILABLE))]);
    let response = ask(&mut api, &created.job_id);
    assert!(matches!(response.outcome, CallOutcome::Unavailable), "{response:?}");
    assert_eq!(response.retry_after, None);
    assert!(order(&mut api).unwrap_err().is_outcome_unknown());

    api.service.set_faults(vec![Rule::new(Fault::ApiMalformed)]);
    let credits = api.credits();
    let error = order(&mut api).unwrap_err();
    assert!(error.is_outcome_unknown() && api.credits() < credits, "it was carried out: {error}");
}
