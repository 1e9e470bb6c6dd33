use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook::{ArticleResult, fixture};
use article_webhook_inbox::{Failed, Job, Source, State};
use article_webhook_inbox_contract::faulty::Fault;

use super::scene::{Count, HOUR, Scene, bounded, until_true};

const LEASE: Duration = Duration::from_secs(60);

/// Bounded attempts: the handler runs as often as allowed, and no more.
#[tokio::test]
async fn an_entry_whose_handler_fails_is_dead_after_the_allowed_attempts() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let counted = runs.clone();
    let worker = scene.inbox.worker(move |_| {
        counted.add();
        async { Err(Failed::from("no")) }
    });
    let worker = worker.attempts(3).backoff(Duration::ZERO, Duration::ZERO);
    bounded(worker.run(scene.until(State::Dead, 1))).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((runs.now(), entry.attempts, entry.cause.as_deref()), (3, 3, Some("no")));
}

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

/// At least once and bounded attempts: the entry of a dead process is worked on again, with one more attempt.
#[tokio::test]
async fn a_worker_that_is_gone_leaves_its_entry_to_another_after_the_lease() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| std::future::pending()).lease(LEASE);
    let gone = tokio::spawn(async move { worker.run(std::future::pending::<()>()).await });
    bounded(scene.until(State::Leased, 1)).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Leased, 1));

    scene.clock.advance(LEASE);
    let worker = scene.inbox.worker(|job: Job| async move {
        assert_eq!(job.attempt(), 2);
        Ok(())
    });
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    assert_eq!(scene.show("job_1").await.0.attempts, 2);
}

#[tokio::test]
async fn a_question_mark_asks_for_another_attempt_after_the_pause_of_the_worker() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async { Ok("seven".parse::<u32>().map(drop)?) });
    let failed = async {
        while scene.show("job_1").await.0.cause.is_none() {
            tokio::task::yield_now().await;
        }
    };
    let seconds = Duration::from_secs;
    bounded(worker.backoff(seconds(10), seconds(100)).run(failed)).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Waiting, 1));
    assert_eq!(entry.cause.as_deref(), Some("invalid digit found in string"));
    let pause = entry.at.duration_since(scene.clock.now()).unwrap();
    assert!((seconds(8)..=seconds(10)).contains(&pause), "{pause:?}");
}

#[tokio::test]
async fn an_entry_is_tried_again_when_the_pause_its_handler_asked_for_is_over() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|job: Job| async move {
        match job.attempt() {
            1 => Err(Failed::retry_after("the site is closed", Duration::from_secs(600))),
            _ => Ok(()),
        }
    });
    let clock = scene.clock.clone();
    let shutdown = async {
        while scene.show("job_1").await.0.cause.is_none() {
            tokio::task::yield_now().await;
        }
        let (entry, _) = scene.show("job_1").await;
        assert_eq!(entry.at, clock.now() + Duration::from_secs(600));
        clock.advance(Duration::from_secs(599));
        let claims = scene.store.calls("Claim");
        until_true(|| scene.store.calls("Claim") > claims + 2).await;
        assert_eq!(scene.show("job_1").await.0.attempts, 1);
        clock.advance(Duration::from_secs(1));
        scene.until(State::Done, 1).await;
    };
    bounded(worker.poll(Duration::from_millis(10)).run(shutdown)).await.unwrap();
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
async fn a_handler_that_gives_up_has_no_other_attempt() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async { Err(Failed::dead("no such blog")) });
    bounded(worker.run(scene.until(State::Dead, 1))).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((entry.attempts, entry.cause.as_deref()), (1, Some("no such blog")));
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
