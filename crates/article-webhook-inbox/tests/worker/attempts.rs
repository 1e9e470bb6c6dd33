use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook::{ArticleResult, Reply, fixture};
use article_webhook_inbox::{
    Digest, Failed, Job, Source, State,
    store::{Arrival, Claim, Store},
};
use article_webhook_inbox_contract::{CLAIM_ONE, faulty::Fault};

use super::scene::{Count, HOUR, Scene, bounded, key, until_true};

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

/// Bounded attempts: otherwise an article that kills the process would do so for ever.
#[tokio::test]
async fn an_attempt_counts_before_its_handler_runs() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let store = Arc::new(scene.store.clone());
    let worker = scene.inbox.worker(move |job: Job| {
        let store = Arc::clone(&store);
        async move {
            let (entry, _) = store.show(key("job_1")).await?.ok_or("no such entry")?;
            if (entry.state, entry.attempts, job.attempt()) == (State::Leased, 1, 1) {
                return Ok(());
            }
            Err(Failed::dead("not counted"))
        }
    });
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
}

/// Bounded attempts.
#[tokio::test]
async fn an_entry_whose_last_attempts_killed_the_process_is_dead_without_another() {
    let (scene, runs) = (Scene::new(), Count::default());
    scene.deliver("job_1").await;
    let claim = Claim { lease: LEASE, attempts: 1, ..CLAIM_ONE };
    // The attempt that is allowed, and the one more.
    for _ in 0..2 {
        assert_eq!(scene.store.claim(claim).await.unwrap().claimed.len(), 1);
        scene.clock.advance(LEASE);
    }
    let worker = scene.worker_counting(&runs);
    bounded(worker.attempts(1).run(scene.until(State::Dead, 1))).await.unwrap();
    let (entry, _) = scene.show("job_1").await;
    assert_eq!((runs.now(), entry.cause.as_deref()), (0, Some("the last attempt did not end")));
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
async fn a_dead_entry_that_is_requeued_starts_with_its_first_attempt() {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let worker = scene.inbox.worker(|_| async { Err(Failed::dead("no such blog")) });
    bounded(worker.run(scene.until(State::Dead, 1))).await.unwrap();

    assert!(scene.inbox.requeue(key("job_1")).await.unwrap());
    let worker = scene.inbox.worker(|job: Job| async move {
        if job.attempt() == 1 { Ok(()) } else { Err(Failed::dead("not the first")) }
    });
    bounded(worker.poll(HOUR).run(scene.until(State::Done, 1))).await.unwrap();
}

/// The job was ordered with a publish target and a capability URL, and the copy for the target came first.
#[tokio::test]
async fn a_job_has_its_intent_whichever_copy_came_first() {
    for second in [fixture::complete(), fixture::unicode()] {
        let scene = Scene::new();
        scene.deliver("job_1").await;
        let bytes = second.job_id("job_1").bytes().clone();
        let arrival = Arrival {
            key: key("job_1"),
            source: Source::Webhook,
            target: "capability".into(),
            intent: Some("draft".into()),
            digest: Digest::of(&bytes),
            bytes,
        };
        scene.store.record(arrival).await.unwrap();
        let kept = Arc::new(Mutex::new(None));
        let keep = Arc::clone(&kept);
        let worker = scene.inbox.worker(move |job: Job| {
            let facts = (job.intent().map(str::to_owned), job.target().to_owned());
            *keep.lock().unwrap() = Some(facts);
            async { Ok(()) }
        });
        bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
        let kept = kept.lock().unwrap().take();
        assert_eq!(kept, Some((Some("draft".into()), "default".into())));
    }
}

/// A capability URL reaches logs more easily than a token.
#[tokio::test]
async fn a_body_by_token_is_handed_out_before_one_that_came_to_a_url() {
    let scene = Scene::new();
    let forged = fixture::unicode().job_id("job_1").bytes().clone();
    let arrival = Arrival {
        key: key("job_1"),
        source: Source::Webhook,
        target: "capability".into(),
        intent: Some("draft".into()),
        digest: Digest::of(&forged),
        bytes: forged,
    };
    scene.store.record(arrival).await.unwrap();
    assert_eq!(scene.accept(&fixture::complete().job_id("job_1")).await, Reply::Duplicate);
    let handled = Arc::new(Mutex::new(Vec::new()));
    let handles = Arc::clone(&handled);
    let worker = scene.inbox.worker(move |job: Job| {
        handles.lock().unwrap().push((job.body().clone(), job.intent().map(str::to_owned)));
        async { Ok(()) }
    });
    bounded(worker.run(scene.until(State::Done, 1))).await.unwrap();
    let genuine = fixture::complete().job_id("job_1").bytes().clone();
    assert_eq!(*handled.lock().unwrap(), [(genuine, Some("draft".to_owned()))]);
    assert_eq!(scene.show("job_1").await.0.conflicts, 1);
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
