//! Entries that an application completes in its own transaction.

use article_webhook_inbox::{
    Filter, State,
    store::{Lease, Outcome, Settled},
};

use super::settle::nothing_changes;
use crate::{
    Transactional, Trial,
    trial::{CLAIM, FIRST, changed, key, retry},
};

/// At least once: the application's commit makes the entry done, as a successful handler would.
pub async fn a_completion_makes_an_entry_done(mut trial: Trial<dyn Transactional>) {
    trial.worked("job_1", retry(0)).await;
    let lease = trial.lease("job_1").await;
    let before = trial.entry("job_1").await;
    trial.advance(1);
    let completion = trial.store().completion(lease).unwrap();
    assert_eq!(trial.entry("job_1").await, before, "it was not run");
    assert_eq!(trial.complete(&completion), 1);
    let done = changed(before, |entry| {
        (entry.state, entry.cause) = (State::Done, None);
        (entry.at, entry.since) = (trial.now(), trial.now());
    });
    assert_eq!(trial.entry("job_1").await, done);
    // Its statement leaves what is searched as it was.
    let no_network = || Some("no network".into());
    for filter in [
        Filter { search: no_network(), ..Filter::default() },
        Filter { cause: no_network(), ..Filter::default() },
    ] {
        let listed = trial.store().list(filter.clone()).await.unwrap().items;
        assert_eq!(listed, [], "{filter:?}");
    }
}

/// At least once: an entry that the application completed stays done, whatever outcome follows, and is never due again. Fencing: of two
/// transactions that complete it, one rolls back.
pub async fn a_completed_entry_stays_done(mut trial: Trial<dyn Transactional>) {
    let lease = trial.leased("job_1").await;
    let completion = trial.store().completion(lease).unwrap();
    assert_eq!((trial.complete(&completion), trial.complete(&completion)), (1, 0));
    trial.advance(1);
    nothing_changes(&trial, lease, Settled::AlreadyDone).await;
    trial.advance_by(CLAIM.lease);
    assert!(trial.claim().await.claimed.is_empty());
    nothing_changes(&trial, lease, Settled::AlreadyDone).await;
}

/// Fencing: if the lease had ended when the statement was created, it changes no row.
pub async fn a_lease_that_has_ended_completes_nothing(mut trial: Trial<dyn Transactional>) {
    let lease = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    let before = trial.entry("job_1").await;
    let completion = trial.store().completion(lease).unwrap();
    assert_eq!(trial.complete(&completion), 0);
    assert_eq!(trial.entry("job_1").await, before);
}

/// Fencing: a statement that was created in time changes no row once another worker has claimed the entry.
pub async fn a_lease_that_another_worker_has_completes_nothing(
    mut trial: Trial<dyn Transactional>,
) {
    let lost = trial.leased("job_1").await;
    let completion = trial.store().completion(lost).unwrap();
    trial.advance_by(CLAIM.lease);
    let held = trial.lease("job_1").await;
    assert_eq!(trial.complete(&completion), 0);
    let later = trial.store().completion(Lease { fence: held.fence + 1, ..held }).unwrap();
    assert_eq!(trial.complete(&later), 0, "nor by a fence that was not given");
    assert_eq!(trial.entry("job_1").await.state, State::Leased);
    assert_eq!(trial.settle(held, Outcome::Done).await, Settled::Settled);
}

/// Fencing: an entry that was settled or erased, or never existed, is not completed.
pub async fn a_lease_that_was_settled_completes_nothing(mut trial: Trial<dyn Transactional>) {
    let settled = trial.leased("job_1").await;
    let erased = trial.leased("job_2").await;
    let leases = [settled, erased, Lease { id: 4711, fence: 1 }];
    let completions = leases.map(|lease| trial.store().completion(lease).unwrap());
    trial.settle(settled, retry(30)).await;
    trial.store().erase(vec![key("job_2").job_id]).await.unwrap();
    trial.record("job_2", FIRST).await;
    for completion in completions {
        assert_eq!(trial.complete(&completion), 0);
    }
    assert_eq!(trial.store().counts().await.unwrap().of(State::Waiting), 2);
}
