//! Handlers that never end.

use std::time::Duration;

use article_webhook_inbox::{Job, State};

use super::{
    gate::Gate,
    scene::{HOUR, Scene, bounded, until_true},
};

const MOMENT: Duration = Duration::from_millis(20);

async fn stuck(scene: &Scene) -> Vec<String> {
    let stuck = scene.inbox.health().await.stuck;
    assert!(stuck.iter().all(|handler| handler.since == scene.clock.now()));
    stuck.iter().map(|handler| format!("{} {}", handler.key.job_id, handler.attempt)).collect()
}

async fn until_stuck(scene: &Scene, count: usize) {
    while stuck(scene).await.len() < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// With too many of them nothing is claimed, and health names them; when one ends, work goes on by itself.
#[tokio::test]
async fn too_many_handlers_that_never_end_stop_all_claims_until_one_ends() {
    let (scene, gate) = (Scene::new(), Gate::closed());
    scene.deliver("bad_1").await;
    let blocks = gate.clone();
    let worker = scene.inbox.worker(move |job: Job| {
        let blocks = blocks.clone();
        async move {
            if job.job_id().as_str().starts_with("bad") {
                blocks.block();
            }
            Ok(())
        }
    });
    let worker = worker.concurrency(2).attempts(1).handler_timeout(MOMENT).stuck_handlers(2);
    let story = async {
        until_stuck(&scene, 1).await;
        assert_eq!(stuck(&scene).await, ["bad_1 1"], "one of them is shown, and work goes on");
        scene.deliver("job_1").await;
        scene.until(State::Done, 1).await;

        scene.deliver("bad_2").await;
        until_stuck(&scene, 2).await;
        assert_eq!(stuck(&scene).await, ["bad_1 1", "bad_2 1"]);
        let claims = scene.store.calls("Claim");
        scene.deliver("job_2").await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(scene.store.calls("Claim"), claims, "nothing is claimed");
        let workers = scene.inbox.health().await.workers;
        assert_eq!((workers.running, workers.claims_stopped), (1, true));

        gate.open_one();
        scene.until(State::Done, 2).await;
        assert_eq!(stuck(&scene).await.len(), 1);
    };
    bounded(worker.poll(HOUR).run(story)).await.unwrap();
    gate.open();
    bounded(until_true(|| gate.is_empty())).await;
    while !stuck(&scene).await.is_empty() {
        tokio::task::yield_now().await;
    }
}
