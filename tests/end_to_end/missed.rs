use std::time::Duration;

use article_webhook_client::NewArticle;
use article_webhook_simulator::Simulator;

use crate::{receiver::Framework, story::Story};

#[tokio::test]
async fn what_was_never_pushed_again_is_read_by_the_client() {
    for framework in Framework::ALL {
        let story = Story::begin(framework, Simulator::builder()).await;
        let job_id = story.order(&NewArticle::new("How to choose running shoes")).await;
        story.generate(&job_id).await;
        story.shop.close();
        story.simulator.advance(Duration::from_secs(371)).await;
        story.shop.open();
        story.simulator.advance(Duration::from_secs(30 * 24 * 3600)).await;

        let refused = Some(503);
        let expected = [(0, refused), (10, refused), (70, refused), (370, refused)];
        assert_eq!(story.attempts(), expected, "{framework:?}");
        assert!(story.shop.is_empty());
        let complete = story.complete(&job_id).await;
        assert_eq!(complete.result.job_id, job_id);
        assert!(complete.result.article.html.len() > 2000);
    }
}
