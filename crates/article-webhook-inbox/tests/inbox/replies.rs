use std::time::Duration;

use article_webhook::{CapabilityKey, Reply, Sink as _, fixture};
use article_webhook_inbox::{MAX_BODIES_PER_ENTRY, store::Store as _};
use article_webhook_inbox_contract::faulty::Fault;
use tokio::time::Instant;

use super::scene::{HOUR, Scene, key};

/// At least once and bounded resources: the stored bodies may contain no article, so the service must deliver again once a
/// worker has looked at them.
#[tokio::test]
async fn a_body_without_room_is_answered_retry_until_a_worker_has_looked_at_the_others() {
    let scene = Scene::new();
    let post = |number: usize| fixture::complete().job_id("job_1").field("number", number);
    assert_eq!(scene.accept(&post(0)).await, Reply::Stored);
    for number in 1..MAX_BODIES_PER_ENTRY {
        assert_eq!(scene.accept(&post(number)).await, Reply::Duplicate);
    }
    assert_eq!(scene.accept(&post(MAX_BODIES_PER_ENTRY)).await, Reply::Retry);

    scene.inbox.worker(|_| async { Ok(()) }).run_until_idle().await.unwrap();
    assert_eq!(scene.accept(&post(MAX_BODIES_PER_ENTRY)).await, Reply::Duplicate);
    assert_eq!(
        scene.inbox.show(key("job_1")).await.unwrap().unwrap().1.len(),
        MAX_BODIES_PER_ENTRY
    );
}

/// No false acknowledgement.
#[tokio::test]
async fn a_store_that_fails_is_answered_with_unavailable() {
    let (scene, post) = (Scene::new(), fixture::complete().job_id("job_1"));
    for fault in [Fault::DOWN, Fault::Unusable] {
        scene.store.fault("Record", fault);
        assert_eq!(scene.accept(&post).await, Reply::Unavailable);
    }
    scene.store.repair();
    assert_eq!(scene.accept(&post).await, Reply::Stored);
}

/// Nothing is lost: the job of the delivery may be the one that was ordered.
#[tokio::test]
async fn a_store_that_fails_to_keep_the_job_of_another_order_is_answered_with_unavailable() {
    let scene = Scene::new();
    let now = scene.clock.now();
    scene.store.intend("post-17", HOUR, 1, None).await.unwrap();
    scene.store.ordered("post-17", key("job_1").job_id, now + HOUR, 1).await.unwrap();
    let urls = CapabilityKey::new(b"0123456789abcdef0123456789abcdef").unwrap();
    let url = urls.mint("post-17", now + HOUR).unwrap();
    let post = fixture::complete().job_id("job_2");
    let deliver = async || {
        let envelope =
            fixture::receiver().open_capability(&urls, url.as_str(), now, post.headers());
        scene.inbox.accept(envelope.unwrap().read(post.bytes().clone()).unwrap()).await
    };
    scene.store.fault("Quarantine", Fault::DOWN);
    assert_eq!(deliver().await, Reply::Unavailable);
    scene.store.repair();
    assert_eq!(deliver().await, Reply::Unauthorized);
    let kept = scene.inbox.show(key("job_2").quarantine()).await.unwrap().unwrap();
    assert_eq!(kept.1[0].bytes.as_ref(), Some(post.bytes()));
}

/// No false acknowledgement: whether the delivery was stored is unknown until the next attempt of the service.
#[tokio::test]
async fn a_commit_whose_outcome_is_unknown_is_answered_with_unavailable() {
    let (scene, post) = (Scene::new(), fixture::complete().job_id("job_1"));
    scene.store.fault("Record", Fault::AnswerLost);
    assert_eq!(scene.accept(&post).await, Reply::Unavailable);
    assert_eq!(scene.accept(&post).await, Reply::Duplicate);
}

/// No false acknowledgement and receiver independence.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_answered_with_unavailable_after_two_seconds() {
    let (scene, began) = (Scene::new(), Instant::now());
    scene.store.fault("Record", Fault::Hangs);
    assert_eq!(scene.accept(&fixture::complete()).await, Reply::Unavailable);
    assert_eq!(began.elapsed(), Duration::from_secs(2));
}
