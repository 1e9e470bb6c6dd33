use std::{num::NonZeroU32, time::Duration};

use article_webhook_client::{
    ApiKey, AuthToken, Client, ErrorCode, JobId, JobStatus, NewArticle, PublishTarget, StatusCode,
};
use article_webhook_simulator::{Fault, Rule, Simulator, SimulatorBuilder, SimulatorClock};
use serde_json::json;

use crate::receiver::Receiver;

const KEY: &str = "sk-5f2b9c0e7a1d4e38";
const HOUR: Duration = Duration::from_secs(3600);

fn stepped() -> SimulatorBuilder {
    Simulator::builder().seed(7).clock(SimulatorClock::stepped()).api_key(KEY)
}

fn client(simulator: &Simulator) -> Client {
    Client::new(ApiKey::new(KEY).unwrap(), &simulator.base_url()).unwrap()
}

fn shoes() -> NewArticle {
    NewArticle::new("Shoes")
}

async fn refused(simulator: &Simulator, article: NewArticle) -> article_webhook_client::Error {
    client(simulator).create_article(&article).await.unwrap_err()
}

#[tokio::test]
async fn from_the_first_call_to_the_delivery() {
    let receiver = Receiver::start(&[]).await;
    let simulator = stepped().start().await.unwrap();
    let client = client(&simulator);
    let brand = json!({ "brand_id": "brand_1" });
    client.configure_brand(brand.as_object().unwrap()).await.unwrap();
    let token = AuthToken::new("Bearer secret").unwrap();
    let target = PublishTarget::webhook("shop", &receiver.url, &token);
    client.set_publish_targets("brand_1", &[target]).await.unwrap();

    let created = client.create_article(&shoes()).await.unwrap();
    match client.article(&created.job_id).await.unwrap() {
        JobStatus::Unfinished(job) => assert_eq!(job.status.as_deref(), Some("queued")),
        JobStatus::Complete(_) => panic!("it takes time"),
    }
    simulator.advance(HOUR).await;
    let complete = client.wait(&created.job_id).await.unwrap();
    assert_eq!(complete.result.article.title, "Shoes");

    let came = receiver.came();
    assert_eq!(came.len(), 1);
    assert_eq!(came[0].body.as_ref(), Some(&complete.body), "the same bytes as by polling");
    assert_eq!(came[0].headers["authorization"], "Bearer secret");
    assert_eq!(came[0].headers["x-service-job-id"], created.job_id.as_str());
}

#[tokio::test]
async fn invalid_api_key() {
    let simulator = stepped().start().await.unwrap();
    let stranger = Client::new(ApiKey::new("sk-other").unwrap(), &simulator.base_url()).unwrap();
    let error = stranger.create_article(&shoes()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::InvalidApiKey), Some(StatusCode::UNAUTHORIZED))
    );
    assert_eq!(error.message(), Some("The API key is bad or missing."));
}

#[tokio::test]
async fn credits_exhausted() {
    let simulator = stepped().credits(0).brand("brand_1").start().await.unwrap();
    let error = refused(&simulator, shoes()).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::CreditsExhausted), Some(StatusCode::PAYMENT_REQUIRED))
    );
    assert_eq!(error.credits_remaining(), Some(0));
    assert_eq!(error.upgrade_url(), Some(&*format!("{}/account", simulator.base_url())));
}

#[tokio::test]
async fn not_configured() {
    let simulator = stepped().start().await.unwrap();
    let error = refused(&simulator, shoes()).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::NotConfigured), Some(StatusCode::BAD_REQUEST))
    );
    assert!(error.message().unwrap().contains("POST /v1/config/brand"));
}

#[tokio::test]
async fn rate_limit_exceeded() {
    let simulator =
        stepped().rate_limit(NonZeroU32::MIN, Duration::from_secs(1)).start().await.unwrap();
    let client = client(&simulator);
    let id: JobId = "job_1".parse().unwrap();
    assert_eq!(client.article(&id).await.unwrap_err().code(), Some(&ErrorCode::JobNotFound));
    // The clock stands still, so the retries of the client fail as well.
    let error = client.article(&id).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::RateLimitExceeded), Some(StatusCode::TOO_MANY_REQUESTS))
    );
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));

    simulator.advance(Duration::from_secs(1)).await;
    assert_eq!(client.article(&id).await.unwrap_err().code(), Some(&ErrorCode::JobNotFound));
}

#[tokio::test]
async fn job_not_found() {
    let simulator = stepped().start().await.unwrap();
    let error = client(&simulator).article(&"job_1".parse().unwrap()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::JobNotFound), Some(StatusCode::NOT_FOUND))
    );
}

#[tokio::test]
async fn generation_failed() {
    let simulator = stepped().price(3).brand("brand_1").start().await.unwrap();
    let failing = |step: &str| shoes().field("fail_at", step.into());
    let error = refused(&simulator, failing("outline")).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::GenerationFailed), Some(StatusCode::INTERNAL_SERVER_ERROR))
    );
    assert_eq!((error.step(), error.credits_refunded()), (Some("outline"), Some(3)));
    assert!(!error.is_outcome_unknown());

    let client = client(&simulator);
    let created = client.create_article(&failing("image")).await.unwrap();
    assert_eq!(simulator.credits(KEY), Some(997));
    simulator.advance(HOUR).await;
    let error = client.article(&created.job_id).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::GenerationFailed), Some(StatusCode::INTERNAL_SERVER_ERROR))
    );
    assert_eq!((error.step(), error.credits_refunded()), (Some("image"), Some(3)));
    assert!(error.message().unwrap().contains("image"));
    assert_eq!(simulator.credits(KEY), Some(1000));
}

#[tokio::test]
async fn ga4_not_connected() {
    let simulator = stepped().brand("brand_1").start().await.unwrap();
    let error = refused(&simulator, shoes().field("analytics", true.into())).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::Ga4NotConnected), Some(StatusCode::BAD_REQUEST))
    );
}

#[tokio::test]
async fn invalid_request() {
    let simulator = stepped().brand("brand_1").start().await.unwrap();
    let error = refused(&simulator, NewArticle::new(" ")).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::InvalidRequest), Some(StatusCode::BAD_REQUEST))
    );
    assert!(error.message().unwrap().contains("topic"));
}

#[tokio::test]
async fn plan_required() {
    let article = || shoes().field("plan_feature", "white_label".into());
    let simulator = stepped().brand("brand_1").start().await.unwrap();
    let error = refused(&simulator, article()).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::PlanRequired), Some(StatusCode::FORBIDDEN))
    );

    let simulator = stepped().brand("brand_1").paid_plan().start().await.unwrap();
    assert!(client(&simulator).create_article(&article()).await.is_ok());
}

#[tokio::test]
async fn an_order_with_a_malformed_response_was_accepted() {
    let rule = Rule::new(Fault::ApiMalformed).nth(1);
    let simulator = stepped().brand("brand_1").fault(rule).start().await.unwrap();
    let error = refused(&simulator, shoes()).await;
    assert!(error.is_outcome_unknown(), "{error}");
    assert_eq!(simulator.jobs().len(), 1);
}

#[tokio::test]
async fn a_transient_failure_of_the_api_is_retried_for_questions_and_not_for_orders() {
    let rule = Rule::new(Fault::ApiStatus(StatusCode::SERVICE_UNAVAILABLE)).nth(1);
    let simulator = stepped().brand("brand_1").fault(rule.clone()).start().await.unwrap();
    let error = refused(&simulator, shoes()).await;
    assert_eq!((error.status(), error.code()), (Some(StatusCode::SERVICE_UNAVAILABLE), None));
    assert!(error.is_outcome_unknown() && simulator.jobs().is_empty());

    let created = client(&simulator).create_article(&shoes()).await.unwrap();
    simulator.set_faults(vec![rule]);
    assert!(client(&simulator).article(&created.job_id).await.is_ok());
}

#[tokio::test]
async fn a_slow_api_exceeds_the_timeout_of_the_client() {
    let rule = Rule::new(Fault::ApiLatency(Duration::from_secs(20)));
    let simulator = stepped().brand("brand_1").fault(rule).start().await.unwrap();
    let client = Client::builder(ApiKey::new(KEY).unwrap(), &simulator.base_url());
    let client = client.timeout(Duration::from_secs(1)).build().unwrap();
    let error = client.create_article(&shoes()).await.unwrap_err();
    assert!(error.is_outcome_unknown() && error.status().is_none(), "{error}");
    assert_eq!(simulator.jobs().len(), 1);
}

#[tokio::test]
async fn a_call_of_more_than_a_mebibyte_is_refused() {
    let simulator = stepped().brand("brand_1").start().await.unwrap();
    let error = refused(&simulator, NewArticle::new(&"x".repeat(2 << 20))).await;
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::InvalidRequest), Some(StatusCode::BAD_REQUEST))
    );
    assert!(error.message().unwrap().contains("1 MiB"));
    assert!(simulator.jobs().is_empty());
}

#[tokio::test]
async fn the_image_that_a_result_names_is_served_by_the_simulator() {
    let simulator = stepped().brand("brand_1").start().await.unwrap();
    let client = client(&simulator);
    let created = client.create_article(&shoes()).await.unwrap();
    simulator.advance(HOUR).await;
    let complete = client.wait(&created.job_id).await.unwrap();
    let url = complete.result.featured_image.unwrap().url.unwrap();
    assert!(url.starts_with(&format!("{}/images/", simulator.base_url())), "{url}");
    let request = http::Request::get(url.as_str()).body("".into()).unwrap();
    let image = simulator.call(request).await;
    assert_eq!(image.headers()["content-type"], "image/png");
}
