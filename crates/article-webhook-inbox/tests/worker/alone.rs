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

/// What handlers did, in this order: `+job_1` when that of this job began, `-job_1` when it ended.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    async fn run(self, job: Job, work: impl Future) {
        self.0.lock().unwrap().push(format!("+{}", job.job_id()));
        work.await;
        self.0.lock().unwrap().push(format!("-{}", job.job_id()));
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
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
        until_true(|| seen.all().len() == 1).await;
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
    let first = ["+job_1", "+job_2", "-job_2", "-job_1", "+job_bad", "-job_bad"];
    assert_eq!(seen.all()[..6], first, "next, and beside no other");
}

/// Two workers of one inbox know of each other.
#[tokio::test]
async fn an_entry_runs_alone_beside_another_worker() {
    let (scene, seen) = (Scene::real(), Seen::default());
    for job in 0..6 {
        scene.deliver(&format!("job_{job}")).await;
    }
    // Twice, a process ends while it has all of them.
    let claim = Claim { limit: 6, lease: Duration::from_millis(1), ..CLAIM_ONE };
    for _ in 0..2 {
        scene.store.claim(claim).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let handler = || {
        let watched = seen.clone();
        move |job| {
            let seen = watched.clone();
            async move {
                seen.run(job, tokio::time::sleep(Duration::from_millis(30))).await;
                Ok(())
            }
        }
    };
    let workers = [handler(), handler()].map(|handler| scene.inbox.worker(handler));
    let [one, two] = workers.map(|worker| worker.run(scene.until(State::Done, 6)));
    let (one, two) = bounded(async { tokio::join!(one, two) }).await;
    assert_eq!((one.is_ok(), two.is_ok()), (true, true));
    let seen = seen.all();
    assert_eq!(seen.len(), 12);
    for [began, ended] in seen.as_chunks().0 {
        assert_eq!(began.strip_prefix('+'), ended.strip_prefix('-'), "each runs alone: {seen:?}");
    }
}
