//! Handlers run in threads of their own: on which runtimes, in how many, and how many at a time.

use std::{cell::Cell, time::Duration};

use article_webhook_inbox::{Failed, Job, State};

use super::scene::{Count, HOUR, Scene, bounded, until_true};

/// A handler may await and start tasks on every runtime.
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

/// A handler that never returns does not keep the runtime, and the program, from ending.
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

/// The maximum number of handlers at the same time, for that many entries that came one after the other. Each handler
/// waits for the others.
async fn most_at_a_time(concurrency: u32, entries: u32) -> u32 {
    let (scene, at_work, most) = (Scene::new(), Count::default(), Count::default());
    let (counted, peak) = (at_work.clone(), most.clone());
    let worker = scene.inbox.worker(move |_: Job| {
        let (counted, peak) = (counted.clone(), peak.clone());
        async move {
            let now = counted.add();
            while peak.now() < now {
                peak.add();
            }
            while peak.now() < concurrency {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            counted.take();
            Ok(())
        }
    });
    let story = async {
        for job in 0..entries {
            scene.deliver(&format!("job_{job}")).await;
            until_true(|| most.now() > job.min(concurrency - 1)).await;
        }
        scene.until(State::Done, u64::from(entries)).await;
    };
    bounded(worker.concurrency(concurrency).poll(HOUR).run(story)).await.unwrap();
    most.now()
}

/// Bounded resources.
#[tokio::test]
async fn as_many_attempts_as_allowed_run_at_once_and_no_more() {
    assert_eq!(most_at_a_time(3, 30).await, 3);
}

#[tokio::test]
async fn a_hundred_attempts_at_once_are_no_sign_that_handlers_never_end() {
    assert_eq!(most_at_a_time(100, 150).await, 100);
}

/// A panic, or what a handler leaves in its thread, is nothing to the next one.
#[tokio::test]
async fn each_attempt_has_a_thread_of_its_own_that_ends_with_it() {
    let (scene, alive) = (Scene::new(), Count::default());
    for job in 0..30 {
        scene.deliver(&format!("job_{job}")).await;
    }
    let counted = alive.clone();
    let worker = scene.inbox.worker(move |job: Job| {
        assert!(OF_THREAD.replace(Some(OfThread(counted.clone()))).is_none());
        counted.add();
        assert_ne!(job.job_id().as_str(), "job_1", "one of them panics");
        async { Ok::<(), Failed>(()) }
    });
    bounded(worker.attempts(1).run(scene.until(State::Done, 29))).await.unwrap();
    bounded(until_true(|| alive.now() == 0)).await;
}

/// Counts down when its thread ends.
struct OfThread(Count);

impl Drop for OfThread {
    fn drop(&mut self) {
        self.0.take();
    }
}

thread_local! {
    static OF_THREAD: Cell<Option<OfThread>> = const { Cell::new(None) };
}
