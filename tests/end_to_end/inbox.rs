//! An inbox behind the adapters that no example shows it behind.

use article_webhook::fixture::{self, Defect, DeliveryRequest};
use article_webhook_inbox::{Inbox, State};
use http_body_util::Full;
use tower::ServiceExt;

#[tokio::test]
async fn an_inbox_is_mounted_as_a_tower_service() {
    let inbox = Inbox::memory();
    let service = article_webhook_tower::receive(fixture::receiver(), inbox.clone());
    let status = async |post: &DeliveryRequest| {
        let request = post.clone().into_request("/webhooks/articles").map(Full::new);
        service.clone().oneshot(request).await.unwrap().status().as_u16()
    };
    let post = fixture::complete().job_id("job_1");
    assert_eq!(status(&post).await, 200);
    assert_eq!(status(&post).await, 200);
    assert_eq!(status(&post.clone().defect(Defect::WrongToken)).await, 401);
    let counts = inbox.counts().await.unwrap();
    assert_eq!((counts.of(State::Waiting), counts.total()), (1, 1));

    inbox.close().await.unwrap();
    assert_eq!(status(&post).await, 503);
}
