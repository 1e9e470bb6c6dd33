use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook::{ArticleResult, fixture};
use article_webhook_inbox::{Failed, Job, Source, State};
use article_webhook_inbox_contract::faulty::Fault;

use super::scene::{Count, HOUR, Scene, bounded, until_true};

/// At least once: an entry is done only when that is stored, and storing it is repeated until it succeeds.
#[tokio::test]
async fn an_outcome_that_the_store_refused_is_stored_again() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    scene.store.fault("Settle", Fault::Fails(3));
    let worker = scene.worker_counting(&runs);
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    assert_eq!((runs.now(), scene.store.calls("Settle")), (1, 4));
}

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

#[tokio::test]
async fn a_job_has_the_article_and_how_it_reached_the_inbox() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let (kept, seen) = (Arc::new(Mutex::new(None)), scene.clock.now());
    let keep = Arc::clone(&kept);
    let worker = scene.inbox.worker(move |job: Job| {
        let completion = job.completion().unwrap_err().to_string();
        let facts = (
            [job.job_id().as_str(), job.event().as_str(), job.target()].map(str::to_owned),
            (job.intent().map(str::to_owned), job.source(), job.attempt(), job.received_at()),
            (job.article().unwrap().clone(), job.body().clone()),
        );
        *keep.lock().unwrap() = Some((facts, completion));
        async { Ok(()) }
    });
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    let ((names, came, (article, body)), completion) = kept.lock().unwrap().take().unwrap();
    assert_eq!(names, ["job_1", "article.complete", "default"]);
    assert_eq!(came, (None, Source::Webhook, 1, seen));
    assert_eq!(&body, fixture::complete().job_id("job_1").bytes());
    assert_eq!(article, ArticleResult::from_json(&body).unwrap());
    assert_eq!(completion, "a store in memory knows no SQL: complete by returning Ok");
}

/// The longest time that a setting may name.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn once_more(job: Job) -> Result<(), Failed> {
    match job.attempt() {
        1 => Err(Failed::retry_after("again", Duration::ZERO)),
        2 => Err("again")?,
        _ => Ok(()),
    }
}

#[tokio::test]
async fn the_longest_times_are_settings_like_others() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(once_more);
    let worker = worker
        .poll(YEAR)
        .lease(YEAR)
        .shutdown_grace(YEAR)
        .handler_timeout(YEAR)
        .backoff(DAY, DAY)
        .attempts(u32::MAX);
    let failed_twice = async {
        while scene.show("job_1").await.0.attempts < 2
            || scene.show("job_1").await.0.state != State::Waiting
        {
            tokio::task::yield_now().await;
        }
    };
    bounded(worker.run(failed_twice)).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert!(entry.at <= scene.clock.now() + DAY);
}
