//! Claims.

use std::{collections::HashSet, time::Duration};

use article_webhook_inbox::{
    EntryKey, Since, State,
    store::{Claim, Claims, Events, Outcome, Settled, to_millis},
};
use tokio::task::JoinSet;

use crate::{
    Subject, Trial,
    trial::{CLAIM, FIRST, bytes, dead, job, key, retry, update},
};

const LEASE: u64 = CLAIM.lease.as_secs();

fn keys(claims: &Claims) -> Vec<EntryKey> {
    claims.claimed.iter().map(|claimed| claimed.key.clone()).collect()
}

/// New entries come first, and of these the ones that have been due longest, then those with the smallest id.
pub async fn new_entries_and_what_is_due_longest_are_claimed_first(mut trial: Trial<dyn Subject>) {
    two_of_each(&mut trial).await;
    let expected = ["new_1", "new_2", "new_3", "again_2", "again_1"].map(key);
    assert_eq!(keys(&trial.claim().await), expected);
}

pub async fn a_claim_that_takes_retries_first_takes_new_entries_after_them(
    mut trial: Trial<dyn Subject>,
) {
    two_of_each(&mut trial).await;
    let claim = Claim { retries_first: true, limit: 3, ..CLAIM };
    let claims = trial.store().claim(claim).await.unwrap();
    assert_eq!(keys(&claims), ["again_2", "again_1", "new_1"].map(key));
    assert_eq!(keys(&trial.claim().await), ["new_2", "new_3"].map(key));
}

/// A lease that has ended is that of a retry.
pub async fn an_entry_whose_lease_has_ended_comes_after_new_entries(mut trial: Trial<dyn Subject>) {
    trial.leased("again").await;
    trial.advance(LEASE);
    trial.record("new", FIRST).await;
    assert_eq!(keys(&trial.claim().await), ["new", "again"].map(key));
    trial.advance(LEASE);
    trial.record("newer", FIRST).await;
    let claim = Claim { retries_first: true, ..CLAIM };
    let claims = trial.store().claim(claim).await.unwrap();
    assert_eq!(keys(&claims)[..1], [key("again")], "it was interrupted twice, and runs alone");
}

/// Entries that have had an attempt, and new ones, not in the order of their ids.
async fn two_of_each(trial: &mut Trial<dyn Subject>) {
    for (id, pause) in [("again_1", 20), ("again_2", 10)] {
        trial.worked(id, retry(pause)).await;
    }
    trial.advance(15);
    trial.record("new_1", FIRST).await;
    trial.record("new_2", FIRST).await;
    trial.advance(15);
    trial.record("new_3", FIRST).await;
}

/// While claims are paused nothing is leased and nothing is discarded, and everything else goes on.
pub async fn nothing_is_claimed_while_claims_are_paused(mut trial: Trial<dyn Subject>) {
    let running = trial.leased("running").await;
    trial.claim().await;
    trial.record("waiting", FIRST).await;
    let paused = Since::new(trial.now(), Some("ops@db1".into()));
    trial.store().pause("ops@db1".into()).await.unwrap();
    trial.advance(1);
    trial.store().pause("another@db1".into()).await.unwrap();
    assert_eq!(trial.store().paused_since().await.unwrap(), Some(paused.clone()));
    trial.record("stored", FIRST).await;
    trial.settle(running, retry(0)).await;
    for claim in [CLAIM, Claim { attempts: 1, ..CLAIM }, EXCEPT_FAILURES] {
        let next_due = Some(trial.now() + Claim::PAUSED_INTERVAL);
        let nothing = Claims { next_due, paused_since: Some(paused.clone()), ..Claims::default() };
        assert_eq!(trial.store().claim(claim).await.unwrap(), nothing);
    }
    trial.store().resume().await.unwrap();
    trial.store().resume().await.unwrap();
    assert_eq!(trial.store().paused_since().await.unwrap(), None);
    assert_eq!(keys(&trial.claim().await), ["waiting", "stored", "running"].map(key));
}

/// A claimed entry comes with its key, its attempt and its bodies. Bounded attempts: the attempt is counted when the lease is taken,
/// before the handler runs.
pub async fn a_claim_counts_the_attempt_and_shows_the_bodies(mut trial: Trial<dyn Subject>) {
    let received_at = trial.now();
    trial.record("job_1", FIRST).await;
    trial.advance(1);
    trial.record("job_1", "[]").await;
    let claimed = trial.claim().await.claimed.remove(0);
    let (entry, bodies) = trial.shown("job_1").await;
    assert_eq!((entry.attempts, entry.state), (1, State::Leased));
    assert_ne!(entry.node.as_deref(), Some(""), "a store of several nodes names the node");
    assert_eq!(entry.at, trial.now() + CLAIM.lease);
    assert_eq!((claimed.lease.id, claimed.key, claimed.attempt), (entry.id, key("job_1"), 1));
    assert_eq!((claimed.received_at, claimed.bodies), (received_at, bodies));
    assert_eq!(trial.bodies("job_1").await, [bytes(FIRST), bytes("[]")]);
}

/// Fencing: no other worker gets a leased entry before the lease ends. At least once: then it is claimed again, with one more attempt and
/// a new fence.
pub async fn a_leased_entry_is_not_claimed_before_its_lease_ends(mut trial: Trial<dyn Subject>) {
    let lost = trial.leased("job_1").await;
    let ends = trial.now() + CLAIM.lease;
    trial.advance_by(CLAIM.lease - Duration::from_millis(1));
    assert_eq!(trial.claim().await, Claims { next_due: Some(ends), ..Claims::default() });
    assert_eq!(trial.entry("job_1").await.attempts, 1);
    trial.advance_by(Duration::from_millis(1));
    let claims = trial.claim().await;
    assert_eq!((claims.expired, claims.discarded.len(), claims.next_due), (1, 0, None));
    let again = &claims.claimed[0];
    assert_eq!((again.attempt, again.lease.id), (2, lost.id));
    assert!(again.lease.fence > lost.fence);
}

pub async fn the_next_that_is_due_is_the_soonest_of_the_others(mut trial: Trial<dyn Subject>) {
    trial.worked("waits", retry(90)).await;
    trial.leased("leased").await;
    trial.advance(1);
    trial.record("due", FIRST).await;
    let claims =
        trial.store().claim(Claim { lease: Duration::from_secs(5), ..CLAIM }).await.unwrap();
    assert_eq!(keys(&claims), [key("due")]);
    assert_eq!(claims.next_due, Some(trial.now() + Duration::from_secs(LEASE - 1)));
}

/// Bounded attempts: an article that kills its worker in each attempt is dead after the allowed attempts and one more.
pub async fn an_entry_whose_attempts_never_end_is_discarded(mut trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    for attempt in 1..=CLAIM.attempts + 1 {
        assert_eq!(trial.claim().await.claimed[0].attempt, attempt);
        trial.advance(LEASE);
    }
    let claims = trial.claim().await;
    let expected = Claims { discarded: vec![key("job_1")], expired: 1, ..Claims::default() };
    assert_eq!(claims, expected);
    let entry = trial.entry("job_1").await;
    let attempts = CLAIM.attempts + 1;
    assert_eq!((entry.state, entry.at, entry.attempts), (State::Dead, trial.now(), attempts));
    assert_eq!(entry.cause.as_deref(), Some("the last attempt did not end"));
    trial.advance(365 * 24 * 60 * 60);
    assert_eq!(trial.claim().await, Claims::default(), "no worker ever gets it");
}

/// Bounded attempts: a claim that allows fewer attempts than before discards waiting entries that have used them. These
/// do not count as expired leases, and count for the limit of the claim.
pub async fn a_waiting_entry_without_attempts_left_is_discarded(trial: Trial<dyn Subject>) {
    trial.worked("job_1", retry(0)).await;
    trial.record("job_2", FIRST).await;
    let claim = Claim { attempts: 1, limit: 1, retries_first: true, ..CLAIM };
    let claims = trial.store().claim(claim).await.unwrap();
    let (discarded, next_due) = (vec![key("job_1")], Some(trial.now()));
    assert_eq!(claims, Claims { discarded, next_due, ..Claims::default() });
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.cause.as_deref()), (State::Dead, Some("no network")));
}

/// Fencing: of many concurrent claims, exactly one gets each entry.
pub async fn an_entry_is_handed_to_one_worker(trial: Trial<dyn Subject>) {
    for id in 0..12 {
        trial.record(&format!("job_{id}"), FIRST).await;
    }
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let store = trial.store();
        calls.spawn(async move { store.claim(Claim { limit: 3, ..CLAIM }).await.unwrap().claimed });
    }
    let claimed = calls.join_all().await.concat();
    let ids: HashSet<_> = claimed.iter().map(|claimed| claimed.lease.id).collect();
    assert_eq!((claimed.len(), ids.len()), (12, 12));
    assert!(claimed.iter().all(|claimed| claimed.attempt == 1));
}

/// Fencing: the fence grows with each claim, also after a requeue that resets the attempts. It is no smaller than the time, so that
/// it does not come again where the store has lost the last claims.
pub async fn a_fence_grows_with_each_claim(trial: Trial<dyn Subject>) {
    let began = trial.now();
    let first = trial.leased("job_1").await;
    trial.settle(first, dead()).await;
    trial.requeue(key("job_1")).await;
    assert_eq!(trial.settle(first, Outcome::Done).await, Settled::LostLease);
    let second = trial.lease("job_1").await;
    assert!(second.fence > first.fence);
    assert!(first.fence >= to_millis(began));
    assert_eq!(trial.settle(first, Outcome::Done).await, Settled::LostLease);
}

/// The claim of a worker that has no handler for failures.
const EXCEPT_FAILURES: Claim = Claim { events: Events::ExceptFailures, ..CLAIM };

async fn record_failure(trial: &Trial<dyn Subject>, id: &str) -> EntryKey {
    let key = EntryKey::failure(job(id));
    trial.record_as(key.clone(), FIRST).await;
    key
}

/// A claim that takes no failures leaves them as they are, however long they are due, and shows that they wait.
pub async fn a_failure_waits_for_a_claim_that_takes_failures(mut trial: Trial<dyn Subject>) {
    let failure = record_failure(&trial, "job_1").await;
    trial.advance(1);
    trial.record("job_2", FIRST).await;
    let claims = trial.store().claim(EXCEPT_FAILURES).await.unwrap();
    assert_eq!((keys(&claims), claims.failures_wait), (vec![key("job_2")], true));
    assert_eq!(claims.next_due, None, "a failure is no reason to claim again");

    let (entry, _) = trial.store().show(failure.clone()).await.unwrap().unwrap();
    assert_eq!((entry.state, entry.attempts), (State::Waiting, 0));
    let claims = trial.claim().await;
    assert_eq!((keys(&claims), claims.failures_wait), (vec![failure], false));
}

/// A failure is due like any other entry: when its pause is over, or when its lease has ended. Until then it does not wait
/// for a worker.
pub async fn a_failure_has_pauses_and_leases(mut trial: Trial<dyn Subject>) {
    let failure = record_failure(&trial, "job_1").await;
    let lease = trial.claim().await.claimed.remove(0).lease;
    assert_eq!(trial.store().claim(EXCEPT_FAILURES).await.unwrap(), Claims::default());
    trial.settle(lease, retry(30)).await;
    assert_eq!(trial.store().claim(EXCEPT_FAILURES).await.unwrap(), Claims::default());
    trial.advance(30);
    assert!(trial.store().claim(EXCEPT_FAILURES).await.unwrap().failures_wait);

    let claims = trial.claim().await;
    assert_eq!((keys(&claims), claims.claimed[0].attempt), (vec![failure.clone()], 2));
    trial.advance(LEASE);
    let waits = Claims { failures_wait: true, ..Claims::default() };
    assert_eq!(trial.store().claim(EXCEPT_FAILURES).await.unwrap(), waits);
    let claims = trial.claim().await;
    assert_eq!((keys(&claims), claims.expired), (vec![failure], 1));
}

/// An event that no version knows is claimed by every worker, which then reports that nothing handles it.
pub async fn an_unknown_event_is_claimed_by_every_claim(trial: Trial<dyn Subject>) {
    trial.record_as(update("job_1"), FIRST).await;
    assert_eq!(keys(&trial.store().claim(EXCEPT_FAILURES).await.unwrap()), [update("job_1")]);
}
