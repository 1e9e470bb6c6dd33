use std::{num::NonZeroU32, time::Duration};

use article_webhook::fixture::TOKEN;
use article_webhook_client::{
    AuthToken, Error, ErrorCode, JobStatus, NewArticle, PublishTarget, StatusCode,
};
use article_webhook_simulator::{Fault, Rule, Simulator, SimulatorBuilder, SimulatorClock, Step};
use serde_json::json;

use crate::story::{KEY, client};

fn settings() -> SimulatorBuilder {
    Simulator::builder().seed(7).clock(SimulatorClock::stepped()).api_key(KEY)
}

fn ready() -> SimulatorBuilder {
    settings().brand("brand_1")
}

async fn start(settings: SimulatorBuilder) -> Simulator {
    settings.start().await.expect("there is a free port")
}

async fn refused(settings: SimulatorBuilder, order: NewArticle) -> Error {
    let simulator = start(settings).await;
    client(&simulator, KEY).create_article(&order).await.expect_err("the service refuses")
}

fn shoes() -> NewArticle {
    NewArticle::new("Shoes")
}

fn is(error: &Error, code: &ErrorCode, status: u16) {
    assert_eq!(error.code(), Some(code), "{error}");
    assert_eq!(error.status().unwrap(), status, "{error}");
    assert!(!error.is_outcome_unknown(), "{error}");
    assert!(error.message().is_some_and(|message| !message.is_empty()), "{error}");
}

#[tokio::test]
async fn invalid_api_key() {
    let simulator = start(ready()).await;
    let stranger = client(&simulator, "sk-another");
    let error = stranger.create_article(&shoes()).await.expect_err("the key is wrong");
    is(&error, &ErrorCode::InvalidApiKey, 401);
    let job_id = "job_1".parse().expect("it is a legal id");
    is(&stranger.article(&job_id).await.expect_err("and here"), &ErrorCode::InvalidApiKey, 401);
}

#[tokio::test]
async fn credits_exhausted() {
    let error = refused(ready().credits(0), shoes()).await;
    is(&error, &ErrorCode::CreditsExhausted, 402);
    assert_eq!(error.credits_remaining(), Some(0));
    assert!(error.upgrade_url().is_some_and(|url| url.starts_with("http")), "{error:?}");
}

#[tokio::test]
async fn not_configured_until_the_brand_is() {
    let simulator = start(settings()).await;
    let client = client(&simulator, KEY);
    let error = client.create_article(&shoes()).await.expect_err("there is no brand");
    is(&error, &ErrorCode::NotConfigured, 400);
    assert!(error.message().is_some_and(|message| message.contains("POST /v1/config/brand")));

    let brand = json!({"brand_id": "brand_1"});
    client.configure_brand(brand.as_object().expect("it is one")).await.expect("it is configured");
    let token = AuthToken::new(TOKEN).expect("the token is a legal one");
    let target = PublishTarget::webhook("shop", "http://127.0.0.1:1/", &token);
    client.set_publish_targets("brand_1", &[target]).await.expect("it is configured");
    assert!(client.create_article(&shoes()).await.is_ok());
}

#[tokio::test]
async fn rate_limit_exceeded() {
    let once = NonZeroU32::MIN;
    let simulator = start(ready().rate_limit(once, Duration::from_secs(1))).await;
    let client = client(&simulator, KEY);
    client.create_article(&shoes()).await.expect("the first is within the limit");
    // The service's clock stands still, so that no repetition helps.
    let error = client.create_article(&shoes()).await.expect_err("the second is not");
    is(&error, &ErrorCode::RateLimitExceeded, 429);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
    assert!(error.is_transient());
    assert_eq!(simulator.jobs().len(), 1);
}

#[tokio::test]
async fn a_limit_that_passes_is_waited_out() {
    let busy = Rule::new(Fault::ApiRateLimited(Duration::ZERO)).nth(1);
    let simulator = start(ready().fault(busy)).await;
    assert!(client(&simulator, KEY).create_article(&shoes()).await.is_ok());
    assert_eq!(simulator.jobs().len(), 1);
}

#[tokio::test]
async fn job_not_found() {
    let simulator = start(ready()).await;
    let client = client(&simulator, KEY);
    for id in ["job_1", "a/../b", "%2e%2e", "?", "żółć"] {
        let job_id = id.parse().expect("it is a legal id");
        let error = client.article(&job_id).await.expect_err("there is no such job");
        is(&error, &ErrorCode::JobNotFound, 404);
    }
}

#[tokio::test]
async fn generation_failed() {
    for step in [Step::Outline, Step::Draft, Step::Social] {
        let simulator = start(ready().credits(3).fault(Rule::new(Fault::StepFails(step)))).await;
        let client = client(&simulator, KEY);
        let error = match client.create_article(&shoes()).await {
            Err(error) => error,
            Ok(created) => {
                let asked = client.article(&created.job_id).await;
                assert!(matches!(asked, Ok(JobStatus::Unfinished(_))), "{asked:?}");
                simulator.advance(Duration::from_secs(3600)).await;
                client.article(&created.job_id).await.expect_err("it failed")
            }
        };
        is(&error, &ErrorCode::GenerationFailed, 500);
        assert!(!error.is_transient());
        let name = error.step().expect("it names the step").to_owned();
        assert!(error.message().is_some_and(|message| message.contains(&name)), "{error}");
        assert_eq!((error.credits_refunded(), simulator.credits(KEY)), (Some(1), Some(3)));
    }
}

#[tokio::test]
async fn an_order_that_is_refused_says_why() {
    for (order, code, status) in [
        (shoes().field("analytics", true.into()), ErrorCode::Ga4NotConnected, 400),
        (NewArticle::new(""), ErrorCode::InvalidRequest, 400),
        (NewArticle::new(" "), ErrorCode::InvalidRequest, 400),
        (shoes().field("topic", 7.into()), ErrorCode::InvalidRequest, 400),
        (shoes().field("plan_feature", "bulk".into()), ErrorCode::PlanRequired, 403),
    ] {
        is(&refused(ready(), order).await, &code, status);
    }
    let order = shoes().field("plan_feature", "bulk".into());
    let paid = start(ready().paid_plan()).await;
    assert!(client(&paid, KEY).create_article(&order).await.is_ok());
}

#[tokio::test]
async fn an_order_whose_answer_is_lost_is_not_repeated() {
    for fault in [Fault::ApiMalformed, Fault::ApiStatus(StatusCode::BAD_GATEWAY)] {
        let simulator = start(ready().fault(Rule::new(fault))).await;
        let error = client(&simulator, KEY).create_article(&shoes()).await;
        assert!(error.is_err_and(|error| error.is_outcome_unknown()), "{fault:?}");
        assert!(simulator.jobs().len() <= 1, "{fault:?}");
    }
}
