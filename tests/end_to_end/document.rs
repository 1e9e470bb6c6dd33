//! Rows of the service's document that nothing else shows on the side of the application.

use std::time::Duration;

use article_webhook::{ArticleResult, fixture::TOKEN};
use article_webhook_client::{AuthToken, ErrorCode, JobStatus, NewArticle, PublishTarget};
use article_webhook_simulator::{Fault, Rule, Simulator, SimulatorClock, Step};
use article_webhook_tests::serve::Framework;
use serde_json::{Value, json};

use crate::{
    shop::Shop,
    story::{KEY, Story, client, serve},
};

const HOUR: Duration = Duration::from_secs(3600);

/// Section 2.1: what the service wrote and what the application reads, field by field.
#[tokio::test]
async fn every_field_of_the_result_reaches_the_application() {
    for framework in Framework::ALL {
        let story = Story::begin(framework, Simulator::builder().price(3)).await;
        let job_id = story.order(&NewArticle::new("How to choose running shoes")).await;
        story.simulator.advance(HOUR).await;
        let kept = story.shop.article(job_id.as_str()).expect("the article arrived");
        let written: Value = serde_json::from_slice(&kept.body).expect("it is JSON");
        let result = ArticleResult::from_json(&kept.body).expect("it is a result");
        let article = &result.article;
        let image = result.featured_image.as_ref().expect("it has an image");
        let posts = |posts: &[_]| serde_json::to_value(posts).expect("posts are JSON");
        let encoded = json!(result); // in which whole numbers are integers
        let read = json!({
            "job_id": result.job_id.as_str(),
            "status": result.status.as_str(),
            "article": {
                "title": article.title,
                "html": article.html.as_untrusted_str(),
                "meta_title": article.meta_title,
                "meta_description": article.meta_description,
                "eeat_score": encoded["article"]["eeat_score"],
                "word_count": article.word_count,
            },
            "featured_image": { "url": image.url, "alt_text": image.alt_text },
            "social_posts": {
                "linkedin": posts(&result.social_posts.linkedin),
                "x": posts(&result.social_posts.x),
            },
            "credits_used": encoded["credits_used"],
        });
        assert_eq!(read, written, "{framework:?}");
        assert_eq!(read["credits_used"], 3);
        assert!(article.html.as_untrusted_str().starts_with("<article"));
    }
}

/// Sections 2.2, 4 and 5: the token that the client sends is the one that the receiver is shown.
#[tokio::test]
async fn a_target_that_the_client_configured_is_delivered_to() {
    for framework in Framework::ALL {
        let shop = Shop::default();
        let url = format!("{}/articles", serve(framework, shop.clone()));
        let settings = Simulator::builder().seed(7).clock(SimulatorClock::stepped()).api_key(KEY);
        let simulator = settings.start().await.expect("there is a free port");
        let client = client(&simulator, KEY);
        let brand = json!({ "brand_id": "brand_1" });
        let brand = brand.as_object().expect("it is one");
        client.configure_brand(brand).await.expect("it is configured");
        for (token, is_stored) in [("Bearer another-5f2b9c0e7a1d4e38", false), (TOKEN, true)] {
            let token = AuthToken::new(token).expect("it is a token");
            let target = PublishTarget::webhook("shop", &url, &token);
            client.set_publish_targets("brand_1", &[target]).await.expect("it is configured");
            let order = client.create_article(&NewArticle::new("Shoes")).await;
            let job_id = order.expect("the service takes orders").job_id;
            simulator.advance(HOUR).await;
            assert_eq!(shop.article(job_id.as_str()).is_some(), is_stored, "{framework:?}");
        }
    }
}

/// Section 3: nothing comes before a job is complete, and the result is there to be read when it is.
#[tokio::test]
async fn a_job_is_read_and_delivered_when_it_is_complete_and_not_before() {
    for framework in Framework::ALL {
        let story = Story::begin(framework, Simulator::builder()).await;
        let job_id = story.order(&NewArticle::new("Shoes")).await;
        story.generate(&job_id).await;
        let asked = story.client.article(&job_id).await;
        assert!(matches!(asked, Ok(JobStatus::Unfinished(_))), "{framework:?}: {asked:?}");
        assert!(story.shop.is_empty() && story.attempts().is_empty());

        story.simulator.advance(Duration::from_millis(1)).await;
        assert_eq!(story.complete(&job_id).await.result.status.as_str(), "complete");
        assert_eq!(story.attempts(), [(0, Some(200))], "{framework:?}");
    }
}

/// Sections 2.4 and 9: of the optional fields none is there, or there are more than the document shows.
#[tokio::test]
async fn a_result_with_fewer_or_more_fields_can_be_read() {
    for fault in [Fault::MissingOptionalFields, Fault::UnknownFields] {
        let story =
            Story::begin(Framework::Axum, Simulator::builder().fault(Rule::new(fault))).await;
        let job_id = story.order(&NewArticle::new("Shoes")).await;
        story.simulator.advance(HOUR).await;
        let kept = story.shop.article(job_id.as_str()).expect("the article arrived");
        let result = ArticleResult::from_json(&kept.body).expect("it is a result");
        assert_eq!(result.article.title, "Shoes");
        let has_more = fault == Fault::UnknownFields;
        assert_eq!(result.credits_used.is_some(), has_more);
        let sent: Value = serde_json::from_slice(&kept.body).expect("it is JSON");
        assert_eq!(sent.get("revision").is_some(), has_more, "{sent}");
    }
}

/// Section 8: an article costs what its result says, and a failure nothing.
#[tokio::test]
async fn credits_are_used_by_results_and_not_by_failures() {
    let settings = Simulator::builder().price(3);
    let story = Story::begin(Framework::Axum, settings).await;
    let job_id = story.order(&NewArticle::new("Shoes")).await;
    story.simulator.advance(HOUR).await;
    let used = story.complete(&job_id).await.result.credits_used;
    assert_eq!((used, story.simulator.credits(KEY)), (Some(3.0), Some(997)));

    let failing = NewArticle::new("Shoes").field("fail_at", "draft".into());
    let job_id = story.order(&failing).await;
    story.simulator.advance(HOUR).await;
    let error = story.client.article(&job_id).await.expect_err("it failed");
    assert_eq!((error.credits_refunded(), story.simulator.credits(KEY)), (Some(3), Some(997)));
    assert_eq!(story.shop.article(job_id.as_str()), None, "nothing is delivered");
}

/// Section 7: a failed generation costs nothing, and the same order can be placed again.
#[tokio::test]
async fn an_order_that_failed_can_be_placed_again() {
    let once = Rule::new(Fault::StepFails(Step::Outline)).nth(1);
    let story = Story::begin(Framework::Axum, Simulator::builder().fault(once)).await;
    let order = NewArticle::new("Shoes");
    let error = story.client.create_article(&order).await.expect_err("it fails at once");
    assert_eq!((error.code(), error.step()), (Some(&ErrorCode::GenerationFailed), Some("outline")));
    let job_id = story.order(&order).await;
    story.simulator.advance(HOUR).await;
    assert!(story.shop.article(job_id.as_str()).is_some());
}

/// Section 3: an order without a destination has no webhook; its result must be polled.
#[tokio::test]
async fn an_article_without_a_destination_can_be_asked_for() {
    let settings = Simulator::builder().seed(7).clock(SimulatorClock::stepped()).api_key(KEY);
    let simulator = settings.brand("brand_1").start().await.expect("there is a free port");
    let client = client(&simulator, KEY);
    let order = client.create_article(&NewArticle::new("Shoes")).await;
    let job_id = order.expect("the service takes orders").job_id;
    simulator.advance(HOUR).await;
    assert!(simulator.attempts().is_empty());
    assert!(matches!(client.article(&job_id).await, Ok(JobStatus::Complete(_))));
}
