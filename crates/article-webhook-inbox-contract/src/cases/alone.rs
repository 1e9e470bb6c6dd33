//! Entries that may crash the process, and their neighbours.

use std::time::Duration;

use article_webhook_inbox::{
    Entry, Failure,
    store::{Claim, Claims, Outcome},
};

use crate::{
    Durable, Subject, Trial,
    trial::{CLAIM, FIRST, key, retry},
};

/// Enough attempts, so that none is the last.
const MANY: Claim = Claim { attempts: 8, ..CLAIM };
const BUSY: Claim = Claim { running: 1, ..MANY };

async fn claim(trial: &Trial<impl Subject>, claim: Claim) -> Claims {
    trial.store().claim(claim).await.unwrap()
}

/// The jobs that were claimed, and whether each runs alone.
async fn jobs(trial: &Trial<impl Subject>, claim: Claim) -> Vec<(String, bool)> {
    let claims = self::claim(trial, claim).await;
    let jobs = claims.claimed.into_iter();
    jobs.map(|claimed| (claimed.key.job_id.to_string(), claimed.runs_alone)).collect()
}

/// Stores an entry whose lease ends this many times in a row. It is due after that.
async fn interrupt(trial: &mut Trial<impl Subject>, job: &str, times: u32) {
    trial.record(job, FIRST).await;
    for _ in 0..times {
        assert_eq!(claim(trial, MANY).await.claimed.len(), 1);
        trial.advance_by(CLAIM.lease);
    }
}

/// An entry that was interrupted twice in a row runs alone: its claim leases nothing else.
pub async fn an_entry_that_was_interrupted_twice_runs_alone(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "poison", 2).await;
    trial.record("neighbour", FIRST).await;
    assert_eq!(jobs(&trial, MANY).await, [("poison".into(), true)]);
    assert_eq!(jobs(&trial, MANY).await, [("neighbour".into(), false)]);
}

/// An entry that was interrupted twice in a row and was then given back runs alone.
pub async fn an_interrupted_entry_that_was_released_runs_alone(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "poison", 2).await;
    let lease = claim(&trial, MANY).await.claimed[0].lease;
    trial.store().settle(lease, Outcome::Released).await.unwrap();
    trial.record("neighbour", FIRST).await;
    assert_eq!(jobs(&trial, MANY).await, [("poison".into(), true)]);
}

/// An entry that was interrupted once runs beside others.
pub async fn an_entry_that_was_interrupted_once_runs_beside_others(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "poison", 1).await;
    trial.record("neighbour", FIRST).await;
    let both = [("poison".into(), false), ("neighbour".into(), false)];
    assert_eq!(jobs(&trial, MANY).await, both);
}

/// An entry that was interrupted once runs alone in its last attempt.
pub async fn an_interrupted_entry_runs_alone_in_its_last_attempt(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "poison", 1).await;
    trial.record("neighbour", FIRST).await;
    assert!(claim(&trial, Claim { attempts: 2, ..BUSY }).await.alone_waits);
    assert_eq!(jobs(&trial, Claim { attempts: 2, ..MANY }).await, [("poison".into(), true)]);
}

/// While others run, an entry that must run alone waits for them, and nothing that is due later overtakes it.
pub async fn an_entry_that_must_run_alone_waits_for_others(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "poison", 2).await;
    trial.record("neighbour", FIRST).await;
    let before = trial.entry("poison").await;
    let now = Some(trial.now());
    let waits = Claims { alone_waits: true, next_due: now, ..Claims::default() };
    assert_eq!(claim(&trial, BUSY).await, waits);
    assert_eq!(trial.entry("poison").await, before);
    assert_eq!(jobs(&trial, MANY).await, [("poison".into(), true)]);
}

/// What has been due longer than an entry that must run alone is leased before it.
pub async fn an_entry_that_must_run_alone_waits_for_its_turn(mut trial: Trial<impl Subject>) {
    let first = trial.leased("first").await;
    trial.settle(first, retry(2 * CLAIM.lease.as_secs() - 1)).await;
    interrupt(&mut trial, "poison", 2).await;
    let claims = claim(&trial, MANY).await;
    let claimed: Vec<_> = claims.claimed.iter().map(|claimed| claimed.key.clone()).collect();
    assert_eq!((claimed, claims.alone_waits), (vec![key("first")], true));
    assert_eq!(claims.next_due, Some(trial.now()));
}

/// Bounded attempts: an entry that must run alone still runs out of attempts, also while others run.
pub async fn an_entry_that_must_run_alone_is_buried_in_the_end(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "poison", 2).await;
    let claims = claim(&trial, Claim { attempts: 2, ..BUSY }).await;
    let expected = Claims { buried: vec![key("poison")], expired: 1, ..Claims::default() };
    assert_eq!(claims, expected);
}

/// An entry on its last attempt is the only one of its claim, and may run beside others.
pub async fn an_entry_on_its_last_attempt_is_claimed_by_itself(trial: Trial<impl Subject>) {
    trial.record("job_1", FIRST).await;
    trial.record("job_2", FIRST).await;
    let last = Claim { attempts: 1, ..BUSY };
    let claims = claim(&trial, last).await;
    assert_eq!((claims.claimed.len(), claims.alone_waits), (1, false));
    assert_eq!(claims.next_due, Some(trial.now()));
    assert_eq!(jobs(&trial, last).await, [("job_2".into(), false)]);
}

/// A claim that has leased an entry ends before one on its last attempt.
pub async fn an_entry_on_its_last_attempt_begins_another_claim(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("last").await;
    trial.settle(lease, retry(10)).await;
    trial.record("first", FIRST).await;
    trial.advance(10);
    trial.record("later", FIRST).await;
    let two = Claim { attempts: 2, ..MANY };
    assert_eq!(jobs(&trial, two).await, [("first".into(), false)]);
    assert_eq!(jobs(&trial, two).await, [("last".into(), false)]);
    assert_eq!(jobs(&trial, two).await, [("later".into(), false)]);
}

/// An attempt that ended with an outcome was not interrupted.
pub async fn an_outcome_ends_the_suspicion(mut trial: Trial<impl Subject>) {
    for outcome in [retry(0), Outcome::Snoozed { after: Duration::ZERO }] {
        interrupt(&mut trial, "job_1", 2).await;
        let lease = claim(&trial, MANY).await.claimed[0].lease;
        trial.settle(lease, outcome).await;
        assert_eq!(jobs(&trial, BUSY).await, [("job_1".into(), false)]);
        trial.store().forget(key("job_1").job_id).await.unwrap();
    }
}

/// An attempt that a stopping worker released says nothing about the entry.
pub async fn a_release_does_not_end_the_suspicion(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "job_1", 2).await;
    let lease = claim(&trial, MANY).await.claimed[0].lease;
    trial.settle(lease, Outcome::Released).await;
    assert_eq!(jobs(&trial, MANY).await, [("job_1".into(), true)]);
}

/// A requeued entry begins without suspicion.
pub async fn a_requeue_ends_the_suspicion(mut trial: Trial<impl Subject>) {
    interrupt(&mut trial, "job_1", 2).await;
    assert_eq!(claim(&trial, Claim { attempts: 2, ..MANY }).await.buried, [key("job_1")]);
    trial.store().requeue(key("job_1"), None).await.unwrap();
    assert_eq!(jobs(&trial, BUSY).await, [("job_1".into(), false)]);
}

/// An attempt that ended with its process was interrupted.
pub async fn the_end_of_the_process_is_an_interruption(mut trial: Trial<impl Durable>) {
    trial.record("job_1", FIRST).await;
    for _ in 0..2 {
        assert_eq!(jobs(&trial, MANY).await, [("job_1".into(), false)]);
        trial.reopen();
        trial.advance_by(CLAIM.lease);
    }
    trial.record("job_2", FIRST).await;
    assert_eq!(jobs(&trial, MANY).await, [("job_1".into(), true)]);
}

/// An attempt whose lease has ended is among the failures, and leaves the cause as it is.
pub async fn an_interrupted_attempt_is_among_the_failures(mut trial: Trial<impl Subject>) {
    trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    trial.lease("job_1").await;
    let Entry { failures, cause, .. } = trial.entry("job_1").await;
    let [Failure { at, attempt: 1, cause: failure }] = &failures[..] else {
        panic!("one failure: {failures:?}")
    };
    assert_eq!((*at, cause), (trial.now(), None));
    assert!(failure.starts_with("the attempt did not end"), "{failure}");
}
