//! A handler may block its thread with everything that blocks, on every runtime.

use std::{future::Future, thread, time::Duration};

use article_webhook_inbox::{Failed, Job, State};
use tokio::{
    runtime::{Builder, Handle},
    time::sleep,
};

use super::scene::{Scene, bounded};

const MOMENT: Duration = Duration::from_millis(5);

/// Runs the handler once, on a runtime of one thread and on one of several.
fn succeeds<F>(handler: fn(Job) -> F)
where
    F: Future<Output = Result<(), Failed>> + Send + 'static,
{
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        builder.enable_all().build().unwrap().block_on(async {
            let scene = Scene::new();
            scene.deliver("job_1").await;
            let ended = async {
                while !matches!(scene.show("job_1").await.0.state, State::Done | State::Dead) {
                    sleep(MOMENT).await;
                }
            };
            bounded(scene.inbox.worker(handler).attempts(1).run(ended)).await.unwrap();
            let (entry, _) = scene.show("job_1").await;
            assert_eq!((entry.state, entry.cause), (State::Done, None));
        });
    }
}

#[test]
fn a_handler_may_block_on_its_runtime_on_a_channel_and_in_place() {
    succeeds(|_| async {
        let runtime = Handle::current();
        runtime.block_on(sleep(MOMENT));
        runtime.block_on(runtime.spawn(sleep(MOMENT)))?;
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let sending = tokio::spawn(async move {
            sleep(MOMENT).await;
            sender.send(7).await
        });
        assert_eq!(receiver.blocking_recv(), Some(7));
        sending.await??;
        tokio::task::block_in_place(|| thread::sleep(MOMENT));
        tokio::task::spawn_blocking(|| thread::sleep(MOMENT)).await?;
        Ok(())
    });
}
