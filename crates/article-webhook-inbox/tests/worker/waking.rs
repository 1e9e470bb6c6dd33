use std::time::Duration;

use article_webhook_inbox::{Failed, Inbox, State};

use super::scene::{Count, HOUR, Scene, bounded, key, until_true};

#[tokio::test]
async fn what_is_delivered_requeued_or_imported_is_worked_on_at_once() {
    let (from, scene, runs) = (Scene::new(), Scene::new(), Count::default());
    from.deliver("job_3").await;
    let mut lines = Vec::new();
    from.inbox.export(&mut lines).await.unwrap();
    lines.extend(b"no entry\n");
    let counted = runs.clone();
    let worker = scene.inbox.worker(move |_| {
        let run = counted.add();
        async move { if run == 1 { Err(Failed::dead("no")) } else { Ok(()) } }
    });
    let shutdown = async {
        until_true(|| scene.store.calls("Claim") == 1).await;
        scene.deliver("job_1").await;
        scene.until(State::Dead, 1).await;
        assert!(scene.inbox.requeue(key("job_1")).await.unwrap());
        scene.until(State::Done, 1).await;
        scene.deliver("job_2").await;
        scene.until(State::Done, 2).await;
        scene.inbox.import_partial(&lines[..]).await.expect_err("a later line is wrong");
        scene.until(State::Done, 3).await;
    };
    bounded(worker.poll(HOUR).run(shutdown)).await.unwrap();
}

#[tokio::test]
async fn an_entry_of_another_process_is_found_by_polling() {
    let scene = Scene::new();
    let worker = scene.inbox.worker(|_| async { Ok(()) }).poll(Duration::from_millis(10));
    let shutdown = async {
        until_true(|| scene.store.calls("Claim") == 1).await;
        scene
            .record(key("job_1"), article_webhook::fixture::complete().job_id("job_1").bytes())
            .await;
        scene.until(State::Done, 1).await;
    };
    bounded(worker.run(shutdown)).await.unwrap();
}

/// The other process wakes nobody here.
#[tokio::test]
async fn a_pause_that_another_process_ends_is_over_without_a_poll() {
    let scene = Scene::new();
    let other = Inbox::new(scene.store.clone());
    other.pause("ops@db1").await.unwrap();
    let worker = scene.inbox.worker(|_| async { Ok(()) }).poll(HOUR);
    let shutdown = async {
        scene.deliver("job_1").await;
        until_true(|| scene.store.calls("Claim") > 1).await;
        assert_eq!(scene.inbox.counts().await.unwrap().of(State::Waiting), 1);
        other.resume().await.unwrap();
        scene.until(State::Done, 1).await;
    };
    bounded(worker.run(shutdown)).await.unwrap();
}
