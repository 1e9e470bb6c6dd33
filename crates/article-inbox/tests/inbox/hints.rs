use std::{sync::Arc, time::Duration};

use article_inbox::Hint;
use article_webhook::{
    Reply,
    fixture::{Defect, DeliveryRequest},
};
use tokio::{sync::Notify, time::advance};

use super::{faulty::Fault, scene::Scene};

/// Waits until the inbox holds no hint.
async fn until_stored(scene: &Scene) {
    for _ in 0..10_000 {
        if scene.inbox.health().await.hints_held == 0 {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the hints are not stored");
}

async fn jobs(scene: &Scene) -> Vec<String> {
    let hints = scene.inbox.hints(10_000).await.unwrap();
    hints.into_iter().map(|hint| hint.job_id.as_str().to_owned()).collect()
}

/// Known jobs.
#[tokio::test]
async fn a_refused_delivery_leaves_a_hint() {
    let scene = Scene::new();
    scene.refuse("job_1");
    until_stored(&scene).await;
    let hint = Hint {
        job_id: "job_1".parse().unwrap(),
        at: scene.clock.now(),
        code: "malformed_json".into(),
    };
    assert_eq!(scene.inbox.hints(10).await.unwrap(), [hint]);
}

/// Known jobs: an outage that outlasts the attempts of the service leaves a trace of every job.
#[tokio::test]
async fn a_delivery_that_could_not_be_stored_leaves_a_hint() {
    let scene = Scene::new();
    scene.store.fault("record", Fault::Fails(1));
    assert_eq!(
        scene.accept(&DeliveryRequest::complete().job_id("job_1")).await,
        Reply::Unavailable
    );
    until_stored(&scene).await;
    let hints = scene.inbox.hints(10).await.unwrap();
    assert_eq!((hints[0].job_id.as_str(), &*hints[0].code), ("job_1", "unavailable"));
}

#[tokio::test]
async fn an_unauthorized_delivery_leaves_no_hint() {
    let scene = Scene::new();
    scene.hear(&DeliveryRequest::complete().job_id("job_1").with_defect(Defect::WrongToken));
    assert_eq!(scene.inbox.health().await.hints_held, 0);
    assert!(jobs(&scene).await.is_empty());
}

/// Convergence and known jobs.
#[tokio::test(start_paused = true)]
async fn a_hint_is_held_until_the_store_accepts_it() {
    let scene = Scene::new();
    scene.store.fault("hint", Fault::Fails(3));
    scene.refuse("job_1");
    tokio::task::yield_now().await;
    assert_eq!(scene.inbox.health().await.hints_held, 1);
    for pause in [1, 2, 4] {
        assert!(jobs(&scene).await.is_empty());
        advance(Duration::from_secs(pause)).await;
        tokio::task::yield_now().await;
    }
    until_stored(&scene).await;
    assert_eq!((jobs(&scene).await, scene.store.calls("hint")), (vec!["job_1".to_owned()], 4));
}

/// Bounded resources.
#[tokio::test]
async fn while_the_store_is_down_a_thousand_hints_are_held_and_the_others_counted() {
    let scene = Scene::new();
    scene.store.fault("hint", Fault::Down);
    for job in 0..1030 {
        scene.refuse(&format!("job_{job}"));
    }
    let health = scene.inbox.health().await;
    assert_eq!((health.hints_held, health.hints_dropped), (1024, 6));
}

/// Known jobs: some servers have a runtime for each thread, and some tests share an inbox.
#[test]
fn a_hint_outlives_the_runtime_on_which_it_was_to_be_stored() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (scene, first) = (Scene::new(), runtime());
    scene.store.fault("hint", Fault::Waits(Arc::new(Notify::new())));
    first.block_on(async {
        scene.refuse("job_1");
        while scene.store.calls("hint") == 0 {
            tokio::task::yield_now().await;
        }
    });
    drop(first);
    scene.store.mend();
    runtime().block_on(async {
        scene.refuse("job_2");
        until_stored(&scene).await;
        let mut jobs = jobs(&scene).await;
        jobs.sort_unstable();
        assert_eq!(jobs, ["job_1", "job_2"]);
    });
}

/// Known jobs.
#[tokio::test]
async fn a_hint_outlives_a_store_that_panics() {
    let scene = Scene::new();
    scene.store.fault("hint", Fault::Panics);
    scene.refuse("job_1");
    while scene.store.calls("hint") == 0 {
        tokio::task::yield_now().await;
    }
    scene.store.mend();
    scene.refuse("job_1");
    until_stored(&scene).await;
    assert_eq!(jobs(&scene).await, ["job_1"]);
}

/// Known jobs: a blocking server reports refusals outside of a runtime.
#[test]
fn a_hint_from_outside_a_runtime_is_stored_with_the_next_one_inside() {
    let scene = Scene::new();
    scene.refuse("job_1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        assert_eq!(scene.inbox.health().await.hints_held, 1);
        scene.refuse("job_1");
        until_stored(&scene).await;
        assert_eq!(jobs(&scene).await, ["job_1"]);
    });
}
