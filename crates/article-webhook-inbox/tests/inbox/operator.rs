use article_webhook_inbox::{Filter, State, store::Store};
use article_webhook_inbox_contract::CLAIM_ONE;

use super::scene::{HOUR, Scene, key};

#[tokio::test]
async fn all_entries_that_pass_a_filter_are_requeued_and_no_others() {
    let scene = Scene::new();
    for job in 0..450 {
        scene.deliver(&format!("job_{job}")).await;
        scene.inbox.discard(key(&format!("job_{job}")), "no such blog").await.unwrap();
    }
    let until = scene.clock.now() + HOUR;
    scene.clock.advance(HOUR);
    scene.deliver("later").await;
    scene.inbox.discard(key("later"), "no such blog").await.unwrap();
    scene.deliver("waiting").await;

    let dead = Filter { state: Some(State::Dead), limit: 1, ..Filter::default() };
    let old = Filter { received_before: Some(until), ..dead.clone() };
    assert_eq!(scene.inbox.requeue_all(old.clone()).await.unwrap().count, 450);
    assert_eq!(scene.inbox.requeue_all(old).await.unwrap().count, 0);
    let counts = scene.inbox.counts().await.unwrap();
    assert_eq!((counts.of(State::Waiting), counts.of(State::Dead)), (451, 1));
    assert_eq!(scene.inbox.requeue_all(dead).await.unwrap().count, 1);
}

#[tokio::test]
async fn waiting_entries_are_requeued_once_each_and_leased_ones_not() {
    let scene = Scene::new();
    for job in ["job_1", "job_2", "job_3"] {
        scene.deliver(job).await;
    }
    scene.store.claim(CLAIM_ONE).await.unwrap();
    let of = |state| Filter { state: Some(state), ..Filter::default() };
    assert_eq!(scene.inbox.requeue_all(of(State::Waiting)).await.unwrap().count, 2);
    assert_eq!(scene.inbox.requeue_all(of(State::Leased)).await.unwrap().count, 0);
    let error = scene.inbox.requeue_all(Filter::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "requeue_all: expected a state in the filter");
}
