use std::time::Duration;

use article_webhook_client::{ApiKey, Client, ErrorCode, NewArticle, StatusCode};
use article_webhook_simulator::{Fault, Rule, Simulator, SimulatorBuilder, SimulatorClock};

const KEY: &str = "sk-5f2b9c0e7a1d4e38";

fn stepped() -> SimulatorBuilder {
    Simulator::builder().clock(SimulatorClock::stepped()).api_key(KEY).brand("brand_1")
}

fn client(simulator: &Simulator) -> Client {
    Client::new(ApiKey::new(KEY).unwrap(), &simulator.base_url()).unwrap()
}

#[tokio::test]
async fn a_slow_api_exceeds_the_timeout_of_the_client() {
    let rule = Rule::new(Fault::ApiLatency(Duration::from_secs(20)));
    let simulator = stepped().fault(rule).start().await.unwrap();
    let client = Client::builder(ApiKey::new(KEY).unwrap(), &simulator.base_url());
    let client = client.timeout(Duration::from_secs(1)).build().unwrap();
    let error = client.create_article(&NewArticle::new("Shoes")).await.unwrap_err();
    assert!(error.is_outcome_unknown() && error.status().is_none(), "{error}");
    assert_eq!(simulator.jobs().len(), 1);
}

#[tokio::test]
async fn a_call_of_more_than_a_mebibyte_is_refused() {
    let simulator = stepped().start().await.unwrap();
    let article = NewArticle::new(&"x".repeat(2 << 20));
    let error = client(&simulator).create_article(&article).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::InvalidRequest), Some(StatusCode::BAD_REQUEST))
    );
    assert!(error.message().unwrap().contains("1 MiB"));
    assert!(simulator.jobs().is_empty());
}
