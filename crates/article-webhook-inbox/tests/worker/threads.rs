//! Handlers run in threads of their own: on which runtimes, in how many, and how many at a time.

use std::time::Duration;

use article_webhook_inbox::{Job, State};

use super::scene::{Count, HOUR, Scene, bounded, until_true};

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

/// Bounded resources: as many run as allowed, and no more. A hundred are no sign that handlers never end.
#[tokio::test]
async fn as_many_attempts_as_allowed_run_at_once_and_no_more() {
    for (concurrency, entries) in [(3, 30), (100, 150)] {
        assert_eq!(most_at_a_time(concurrency, entries).await, concurrency);
    }
}
