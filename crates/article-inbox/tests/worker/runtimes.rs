use std::time::Duration;

use article_inbox::{Failed, State};

use super::scene::{Scene, bounded};

/// What a handler may do wherever it runs: wait, and start tasks.
async fn a_handler_waits_and_starts_tasks() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let slept = tokio::spawn(tokio::time::sleep(Duration::from_millis(1)));
        slept.await?;
        tokio::task::spawn_blocking(|| ()).await?;
        Ok::<(), Failed>(())
    });
    bounded(worker.attempts(1).run(scene.until(State::Done, 1))).await.unwrap();
}

#[tokio::test]
async fn on_a_runtime_of_one_thread_a_handler_may_wait_and_start_tasks() {
    a_handler_waits_and_starts_tasks().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_runtime_of_many_threads_a_handler_may_wait_and_start_tasks() {
    a_handler_waits_and_starts_tasks().await;
}

/// As in actix-web, where each thread has a runtime of its own.
#[test]
fn a_worker_runs_as_a_task_of_one_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let task = tokio::task::spawn_local(a_handler_waits_and_starts_tasks());
        task.await.unwrap();
    });
}

/// The program ends when it wants to: a handler that waits for ever holds no runtime.
#[test]
fn a_runtime_ends_although_a_handler_does_not() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let scene = Scene::new();
        scene.deliver("job_1").await;
        let worker = scene.inbox.worker(|_| std::future::pending());
        tokio::spawn(worker.run(std::future::pending::<()>()));
        bounded(scene.until(State::Leased, 1)).await;
    });
    drop(runtime);
}
