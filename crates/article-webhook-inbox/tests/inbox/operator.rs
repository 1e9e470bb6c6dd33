use article_webhook_inbox::{Failed, Filter, Prune, State, store::Store};
use article_webhook_inbox_contract::CLAIM_ONE;

use super::scene::{HOUR, Scene, key};

/// Runs a handler that gives up every entry.
async fn kill_all(scene: &Scene, count: u64) {
    let dead = async {
        while scene.inbox.counts().await.unwrap().of(State::Dead) < count {
            tokio::task::yield_now().await;
        }
    };
    let worker = scene.inbox.worker(|_| async { Err(Failed::dead("no such blog")) });
    worker.run(dead).await.unwrap();
}

#[tokio::test]
async fn pages_hold_all_that_passes_the_filter_the_oldest_first() {
    let scene = Scene::new();
    for job in 0..5 {
        scene.deliver(&format!("job_{job}")).await;
    }
    scene.inbox.discard(key("job_1"), "cancelled").await.unwrap();
    let mut filter = Filter { state: Some(State::Waiting), limit: 3, ..Filter::default() };
    let mut found = Vec::new();
    let mut pages = 0;
    loop {
        let page = scene.inbox.list(filter.clone()).await.unwrap();
        pages += 1;
        found.extend(page.items.into_iter().map(|entry| entry.key));
        let Some(next) = page.next else { break };
        filter.after = next;
    }
    assert_eq!((pages, found), (2, ["job_0", "job_2", "job_3", "job_4"].map(key).to_vec()));
}

#[tokio::test]
async fn a_dead_entry_is_requeued_and_a_missing_one_is_not() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    assert!(!scene.inbox.requeue(key("job_2")).await.unwrap());
    kill_all(&scene, 1).await;
    assert!(scene.inbox.requeue(key("job_1")).await.unwrap());
    let (entry, _) = scene.inbox.show(key("job_1")).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.attempts, entry.cause), (State::Waiting, 0, None));
}

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

#[tokio::test]
async fn a_waiting_entry_is_discarded_and_a_dead_one_is_not() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    assert!(scene.inbox.discard(key("job_1"), "the order was cancelled").await.unwrap());
    assert!(!scene.inbox.discard(key("job_1"), "again").await.unwrap());
    let (entry, _) = scene.inbox.show(key("job_1")).await.unwrap().unwrap();
    assert_eq!(entry.cause.as_deref(), Some("the order was cancelled"));
}

#[tokio::test]
async fn an_erased_job_is_new_when_it_is_delivered_again() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    assert_eq!(scene.inbox.erase("job_1".parse().unwrap()).await.unwrap(), 1);
    assert_eq!(scene.inbox.show(key("job_1")).await.unwrap(), None);
    scene.deliver("job_1").await;
}

#[tokio::test]
async fn an_operators_prune_removes_no_more_than_its_batch() {
    let scene = Scene::new();
    for job in 0..3 {
        scene.deliver(&format!("job_{job}")).await;
    }
    let done = async {
        while scene.inbox.counts().await.unwrap().of(State::Done) < 3 {
            tokio::task::yield_now().await;
        }
    };
    scene.inbox.worker(|_| async { Ok(()) }).run(done).await.unwrap();
    scene.clock.advance(HOUR);
    let now = scene.clock.now();
    let prune = Prune { bodies_before: now, entries_before: now, limit: 2, ..Prune::default() };
    let first = scene.inbox.prune(prune).await.unwrap();
    assert_eq!((first.entries, first.more), (2, true));
    let second = scene.inbox.prune(prune).await.unwrap();
    assert_eq!((second.entries, second.more), (1, false));
}
