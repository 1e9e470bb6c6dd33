//! An entry whose attempts were interrupted again and again may be what crashes the process: it runs alone.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook_inbox::{
    Job, State,
    store::{Claim, Store},
};
use article_webhook_inbox_contract::CLAIM_ONE;
use tokio::sync::Notify;

use super::scene::{HOUR, Scene, bounded, until_true};

const LEASE: Duration = Duration::from_secs(60);
const CLAIM: Claim = Claim { lease: LEASE, ..CLAIM_ONE };

/// Two workers were killed while they ran it.
async fn interrupt_twice(scene: &Scene) {
    for _ in 0..2 {
        assert_eq!(scene.store.claim(CLAIM).await.unwrap().claimed.len(), 1);
        scene.clock.advance(LEASE);
    }
}

/// Which handlers ended, and beside how many others each of them began and ended.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Handlers>>);

#[derive(Default)]
struct Handlers {
    running: u32,
    most: u32,
    ended: Vec<(String, u32, u32)>,
}

impl Seen {
    async fn run(self, job: Job, work: impl Future) {
        let began_beside = {
            let mut handlers = self.0.lock().unwrap();
            handlers.running += 1;
            handlers.most = handlers.most.max(handlers.running);
            handlers.running - 1
        };
        work.await;
        let mut handlers = self.0.lock().unwrap();
        handlers.running -= 1;
        let ended_beside = handlers.running;
        handlers.ended.push((job.job_id().to_string(), began_beside, ended_beside));
    }

    fn running(&self) -> u32 {
        self.0.lock().unwrap().running
    }

    /// How many ran at once.
    fn most(&self) -> u32 {
        self.0.lock().unwrap().most
    }

    /// As which handler that of this job ended, and beside how many others it began and ended.
    fn of(&self, job: &str) -> Option<(usize, u32, u32)> {
        let ended = &self.0.lock().unwrap().ended;
        let nth = ended.iter().position(|(other, ..)| other == job)?;
        let (_, began, ended) = ended[nth];
        Some((nth, began, ended))
    }
}

#[tokio::test]
async fn a_suspect_runs_beside_no_other() {
    let (scene, seen) = (Scene::new(), Seen::default());
    scene.deliver("job_bad").await;
    interrupt_twice(&scene).await;
    for job in ["job_1", "job_2", "job_3"] {
        scene.deliver(job).await;
    }
    let watched = seen.clone();
    let worker = scene.inbox.worker(move |job| {
        let seen = watched.clone();
        async move {
            seen.run(job, tokio::time::sleep(Duration::from_millis(20))).await;
            Ok(())
        }
    });
    bounded(worker.poll(HOUR).run(scene.until(State::Done, 4))).await.unwrap();
    let (_, began_beside, ended_beside) = seen.of("job_bad").unwrap();
    assert_eq!((began_beside, ended_beside), (0, 0));
}

#[tokio::test]
async fn a_suspect_waits_for_those_that_run_and_none_overtakes_it() {
    let (scene, seen) = (Scene::new(), Seen::default());
    scene.deliver("job_bad").await;
    interrupt_twice(&scene).await;
    // Due after all others, for now.
    assert!(scene.store.claim(CLAIM).await.unwrap().claimed[0].runs_alone);
    scene.deliver("job_1").await;

    let finish = Arc::new(Notify::new());
    let (watched, wait) = (seen.clone(), Arc::clone(&finish));
    let worker = scene.inbox.worker(move |job: Job| {
        let (seen, wait) = (watched.clone(), Arc::clone(&wait));
        async move {
            let is_first = job.job_id().as_str() == "job_1";
            let work = async {
                if is_first {
                    wait.notified().await;
                }
            };
            seen.run(job, work).await;
            Ok(())
        }
    });
    let story = async {
        until_true(|| seen.running() == 1).await;
        scene.clock.advance(LEASE);
        let claims = scene.store.calls("Claim");
        scene.deliver("job_2").await;
        until_true(|| scene.store.calls("Claim") > claims).await;
        let claims = scene.store.calls("Claim");
        for job in ["job_3", "job_4"] {
            scene.deliver(job).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(scene.store.calls("Claim"), claims, "nothing is claimed until job_1 has ended");
        finish.notify_one();
        scene.until(State::Done, 5).await;
    };
    bounded(worker.lease(HOUR).poll(HOUR).run(story)).await.unwrap();
    assert_eq!((seen.of("job_2").unwrap().0, seen.of("job_1").unwrap().0), (0, 1));
    assert_eq!(seen.of("job_bad"), Some((2, 0, 0)), "next, and beside no other");
}

/// With a single attempt, each is the last.
#[tokio::test]
async fn last_attempts_run_beside_each_other() {
    let (scene, seen) = (Scene::new(), Seen::default());
    for job in ["job_1", "job_2", "job_3"] {
        scene.deliver(job).await;
    }
    let watched = seen.clone();
    let worker = scene.inbox.worker(move |job: Job| {
        let (seen, all) = (watched.clone(), watched.clone());
        async move {
            seen.run(job, until_true(|| all.most() == 3)).await;
            Ok(())
        }
    });
    bounded(worker.attempts(1).poll(HOUR).run(scene.until(State::Done, 3))).await.unwrap();
}

/// The process ended under the last attempts of two entries, and one of them may be the cause.
#[tokio::test]
async fn after_an_interrupted_last_attempt_one_more_runs_alone() {
    let (scene, seen) = (Scene::new(), Seen::default());
    for job in ["job_1", "job_2"] {
        scene.deliver(job).await;
    }
    let last = Claim { limit: 4, attempts: 1, ..CLAIM };
    assert_eq!(scene.store.claim(last).await.unwrap().claimed.len(), 2);
    scene.clock.advance(LEASE);
    scene.deliver("job_3").await;
    let watched = seen.clone();
    let worker = scene.inbox.worker(move |job: Job| {
        let seen = watched.clone();
        async move {
            let is_one_more = job.job_id().as_str() != "job_3";
            assert_eq!(job.attempt(), 1 + u32::from(is_one_more));
            seen.run(job, tokio::time::sleep(Duration::from_millis(20))).await;
            Ok(())
        }
    });
    bounded(worker.attempts(1).poll(HOUR).run(scene.until(State::Done, 3))).await.unwrap();
    assert_eq!(seen.most(), 1);

    // One whose additional attempt is interrupted as well is dead.
    scene.deliver("job_bad").await;
    for _ in 0..2 {
        assert_eq!(scene.store.claim(last).await.unwrap().claimed.len(), 1);
        scene.clock.advance(LEASE);
    }
    assert_eq!(scene.store.claim(last).await.unwrap().discarded.len(), 1);
    assert_eq!(scene.show("job_bad").await.0.attempts, 2);
}

/// Two workers of one inbox know of each other.
#[tokio::test]
async fn an_entry_runs_alone_beside_another_worker() {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    let scene = Scene::real();
    for job in 0..6 {
        scene.deliver(&format!("job_{job}")).await;
    }
    // Twice, a process ends while it has all of them.
    let claim = Claim { limit: 6, lease: Duration::from_millis(1), ..CLAIM_ONE };
    for _ in 0..2 {
        scene.store.claim(claim).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (running, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let handler = || {
        let (running, most) = (Arc::clone(&running), Arc::clone(&most));
        move |_| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(30)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            }
        }
    };
    let workers = [handler(), handler()].map(|handler| scene.inbox.worker(handler));
    let [one, two] = workers.map(|worker| worker.run(scene.until(State::Done, 6)));
    let (one, two) = bounded(async { tokio::join!(one, two) }).await;
    assert_eq!((one.is_ok(), two.is_ok()), (true, true));
    assert_eq!(most.load(Ordering::SeqCst), 1, "another ran beside an entry that runs alone");
}
