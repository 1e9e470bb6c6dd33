use article_webhook_client::{ApiKey, Client, ErrorCode, NewArticle, StatusCode};
use article_webhook_simulator::{Simulator, SimulatorClock};

const KEY: &str = "sk-5f2b9c0e7a1d4e38";

#[tokio::test]
async fn a_call_of_more_than_a_mebibyte_is_refused() {
    let simulator = Simulator::builder().clock(SimulatorClock::stepped());
    let simulator = simulator.api_key(KEY).brand("brand_1").start().await.unwrap();
    let client = Client::new(ApiKey::new(KEY).unwrap(), &simulator.base_url()).unwrap();
    let article = NewArticle::new(&"x".repeat(2 << 20));
    let error = client.create_article(&article).await.unwrap_err();
    assert_eq!(
        (error.code(), error.status()),
        (Some(&ErrorCode::InvalidRequest), Some(StatusCode::BAD_REQUEST))
    );
    assert!(error.message().unwrap().contains("1 MiB"));
    assert!(simulator.jobs().is_empty());
}
