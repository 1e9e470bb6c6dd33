use std::time::Duration;

use article_webhook_inbox::{Failed, Job, State};
use article_webhook_inbox_contract::faulty::Fault;

use super::scene::{Count, HOUR, Scene, bounded, until_true};

/// At least once and fencing: a commit whose answer was lost is a commit.
#[tokio::test]
async fn an_outcome_whose_answer_was_lost_is_not_worked_on_again() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    scene.deliver("job_2").await;
    scene.store.fault("Settle", Fault::AnswerLost);
    let worker = scene.worker_counting(&runs);
    bounded(worker.concurrency(1).run(scene.until(State::Done, 2))).await.unwrap();
    assert_eq!(runs.now(), 2);
}

/// Not yet: it costs no attempt, not even the last one, and the cause of an earlier failure stays.
#[tokio::test]
async fn an_entry_that_its_handler_puts_off_loses_nothing() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let counted = runs.clone();
    let worker = scene.inbox.worker(move |job: Job| {
        let run = counted.add();
        async move {
            match run {
                1 => Err(Failed::retry_after("the site is closed", Duration::ZERO)),
                2..=9 => {
                    assert_eq!(job.attempt(), 2);
                    Err(Failed::snooze(HOUR))
                }
                _ => Ok(()),
            }
        }
    });
    let clock = scene.clock.clone();
    let story = async {
        for run in 2..=9 {
            until_true(|| runs.now() == run).await;
            scene.until(State::Waiting, 1).await;
            let (entry, _) = scene.show("job_1").await;
            assert_eq!((entry.attempts, entry.at), (1, clock.now() + HOUR));
            assert_eq!(entry.cause.as_deref(), Some("the site is closed"));
            clock.advance(HOUR);
        }
        scene.until(State::Done, 1).await;
    };
    bounded(worker.attempts(2).poll(Duration::from_millis(10)).run(story)).await.unwrap();
    assert_eq!(scene.show("job_1").await.0.attempts, 2);
}
