//! What survives a restart.

use std::time::Duration;

use article_webhook_inbox::{
    Since, State,
    store::{BucketEvent, Outcome, Recorded, Settled},
};

use crate::{
    Durable, Trial,
    ledger::steps::POLLS,
    trial::{CLAIM, FIRST, STATES, job, key, retry},
};

/// Durable acknowledgement: after a restart, every entry has its state, and every body has all its bytes, and is still a
/// duplicate.
pub async fn entries_and_bodies_survive(mut trial: Trial<dyn Durable>) {
    trial.worked("paused", retry(30)).await;
    let mut before = vec![trial.shown("paused").await];
    // A start may free leases, because their owner has ended.
    for state in STATES.into_iter().filter(|state| *state != State::Leased) {
        trial.put(state.as_str(), state).await;
        trial.record(state.as_str(), "[]").await;
        before.push(trial.shown(state.as_str()).await);
        if state == State::Unhandled || state == State::Corrupt {
            trial.leave(state.as_str()).await;
            *before.last_mut().unwrap() = trial.shown(state.as_str()).await;
        }
    }
    trial.reopen();
    for expected in before {
        let id = expected.0.key.job_id.as_str();
        assert_eq!(trial.shown(id).await, expected);
        assert_eq!(trial.record(id, FIRST).await, Recorded::Duplicate, "{id}");
    }
    assert_eq!(trial.all().await.len(), STATES.len());
}

/// At least once: an entry that was leased when the process ended is not lost. Bounded attempts: its attempt counts. Fencing: a claim
/// after a restart invalidates the leases from before it.
pub async fn a_leased_entry_survives(mut trial: Trial<dyn Durable>) {
    let old = trial.leased("job_1").await;
    trial.reopen();
    trial.advance_by(CLAIM.lease);
    let claimed = trial.claim().await.claimed;
    assert_eq!((claimed.len(), claimed[0].attempt), (1, 2));
    let new = claimed[0].lease;
    assert!(new.fence > old.fence);
    assert_eq!(trial.settle(old, Outcome::Done).await, Settled::LostLease);
    assert_eq!(trial.settle(new, Outcome::Done).await, Settled::Settled);
}

/// A restart fills no bucket and ends no pause.
pub async fn the_bucket_survives(mut trial: Trial<dyn Durable>) {
    let limited = BucketEvent::RateLimited { retry_after: Duration::from_secs(60) };
    trial.expect_now("job_1").await;
    assert_eq!(trial.polled(POLLS).await, ["job_1"]);
    trial.store().report(limited).await.unwrap();
    let before = trial.store().bucket().await.unwrap();
    assert!(before.full_at > trial.now() && before.pause.is_some());
    trial.reopen();
    assert_eq!(trial.store().bucket().await.unwrap(), before);
}

/// The id of a removed entry is not reused, even if it was the last one before a restart.
pub async fn ids_are_not_given_again(mut trial: Trial<dyn Durable>) {
    trial.record("job_1", FIRST).await;
    let first = trial.entry("job_1").await.id;
    trial.store().erase(vec![job("job_1")]).await.unwrap();
    trial.reopen();
    trial.record("job_2", FIRST).await;
    assert!(trial.entry("job_2").await.id > first);
}

pub async fn an_operators_work_survives(mut trial: Trial<dyn Durable>) {
    trial.put("dead", State::Dead).await;
    trial.put("waiting", State::Waiting).await;
    trial.store().discard(vec![key("waiting")], "not wanted".into()).await.unwrap();
    trial.requeue(key("dead")).await;
    trial.store().pause("ops@db1".into()).await.unwrap();
    let paused_since = Some(Since::new(trial.now(), Some("ops@db1".into())));
    let before = trial.all().await;
    trial.reopen();
    assert_eq!(trial.all().await, before);
    assert_eq!(trial.store().paused_since().await.unwrap(), paused_since);
}
