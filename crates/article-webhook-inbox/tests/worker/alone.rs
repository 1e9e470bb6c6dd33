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

use super::scene::{Scene, bounded};

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
