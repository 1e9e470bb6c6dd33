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
const RETRIES_FIRST: Claim = Claim { retries_first: true, ..MANY };

async fn claim(trial: &Trial<impl Subject + ?Sized>, claim: Claim) -> Claims {
    trial.store().claim(claim).await.unwrap()
}

/// The jobs that were claimed, and whether each runs alone.
async fn jobs(trial: &Trial<impl Subject + ?Sized>, claim: Claim) -> Vec<(String, bool)> {
    let claims = self::claim(trial, claim).await;
    let jobs = claims.claimed.into_iter();
    jobs.map(|claimed| (claimed.key.job_id.to_string(), claimed.runs_alone)).collect()
}

/// Stores an entry whose lease ends this many times in a row. It is due after that.
async fn interrupt(trial: &mut Trial<dyn Subject>, job: &str, times: u32) {
    trial.record(job, FIRST).await;
    for _ in 0..times {
        assert_eq!(claim(trial, MANY).await.claimed.len(), 1);
        trial.advance_by(CLAIM.lease);
    }
}

/// An entry whose last attempt was interrupted has one more, and runs alone in it.
pub async fn an_entry_runs_alone_after_its_interrupted_last_attempt(mut trial: Trial<dyn Subject>) {
    let last = Claim { attempts: 1, ..MANY };
    for job in ["poison", "neighbour"] {
        trial.record(job, FIRST).await;
    }
    let beside = [("poison".into(), false), ("neighbour".into(), false)];
    assert_eq!(jobs(&trial, Claim { running: 1, ..last }).await, beside);
    trial.advance_by(CLAIM.lease);
    assert!(claim(&trial, Claim { running: 1, ..last }).await.alone_waits);
    let claims = claim(&trial, last).await;
    assert_eq!((claims.claimed[0].runs_alone, claims.claimed[0].attempt), (true, 2));
    trial.settle(claims.claimed[0].lease, Outcome::Done).await;
    assert_eq!(jobs(&trial, last).await, [("neighbour".into(), true)]);
    trial.advance_by(CLAIM.lease);
    assert_eq!(claim(&trial, last).await.discarded, [key("neighbour")]);
}

/// An entry that was interrupted twice in a row runs alone: its claim leases nothing else. While others run, it waits for them, and
/// nothing that comes after it overtakes it.
pub async fn an_entry_that_must_run_alone_waits_for_others(mut trial: Trial<dyn Subject>) {
    interrupt(&mut trial, "poison", 2).await;
    trial.record("neighbour", FIRST).await;
    let before = trial.entry("poison").await;
    let now = Some(trial.now());
    let waits = Claims { alone_waits: true, next_due: now, ..Claims::default() };
    assert_eq!(claim(&trial, Claim { retries_first: true, ..BUSY }).await, waits);
    assert_eq!(trial.entry("poison").await, before);
    assert_eq!(jobs(&trial, RETRIES_FIRST).await, [("poison".into(), true)]);
    assert_eq!(jobs(&trial, MANY).await, [("neighbour".into(), false)]);
}

/// A retry that has been due longer than an entry that must run alone is leased before it.
pub async fn an_entry_that_must_run_alone_waits_for_its_turn(mut trial: Trial<dyn Subject>) {
    let first = trial.leased("first").await;
    trial.settle(first, retry(2 * CLAIM.lease.as_secs() - 1)).await;
    interrupt(&mut trial, "poison", 2).await;
    let claims = claim(&trial, MANY).await;
    let claimed: Vec<_> = claims.claimed.iter().map(|claimed| claimed.key.clone()).collect();
    assert_eq!((claimed, claims.alone_waits), (vec![key("first")], true));
    assert_eq!(claims.next_due, Some(trial.now()));
}

/// An attempt that ended with an outcome was not interrupted. One that does not count, because a stopping worker released it or its
/// handler put it off, says nothing about the entry.
pub async fn only_an_attempt_that_counts_ends_the_suspicion(mut trial: Trial<dyn Subject>) {
    interrupt(&mut trial, "job_1", 2).await;
    let snoozed = Outcome::Snoozed { after: Duration::ZERO };
    for (outcome, runs_alone) in [(Outcome::Released, true), (snoozed, true), (retry(0), false)] {
        let lease = claim(&trial, MANY).await.claimed[0].lease;
        trial.settle(lease, outcome.clone()).await;
        let [next] = &claim(&trial, MANY).await.claimed[..] else { panic!("{outcome:?}") };
        assert_eq!(next.runs_alone, runs_alone, "{outcome:?}");
        trial.settle(next.lease, Outcome::Released).await;
    }
}

/// Bounded attempts: an entry that must run alone still runs out of attempts, also while others run.
pub async fn a_requeue_ends_the_suspicion(mut trial: Trial<dyn Subject>) {
    interrupt(&mut trial, "job_1", 2).await;
    let claims = claim(&trial, Claim { attempts: 1, ..BUSY }).await;
    let expected = Claims { discarded: vec![key("job_1")], expired: 1, ..Claims::default() };
    assert_eq!(claims, expected);
    assert_eq!(trial.entry("job_1").await.failures.len(), 2, "the last one, too");
    trial.requeue(key("job_1")).await;
    assert_eq!(jobs(&trial, BUSY).await, [("job_1".into(), false)]);
}

pub async fn the_end_of_the_process_is_an_interruption(mut trial: Trial<dyn Durable>) {
    trial.record("job_1", FIRST).await;
    for _ in 0..2 {
        assert_eq!(jobs(&trial, MANY).await, [("job_1".into(), false)]);
        trial.reopen();
        trial.advance_by(CLAIM.lease);
    }
    trial.record("job_2", FIRST).await;
    assert_eq!(jobs(&trial, RETRIES_FIRST).await, [("job_1".into(), true)]);
}

/// An attempt whose lease has ended is among the failures, and leaves the cause as it is.
pub async fn an_interrupted_attempt_is_among_the_failures(mut trial: Trial<dyn Subject>) {
    trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    trial.lease("job_1").await;
    let Entry { failures, cause, .. } = trial.entry("job_1").await;
    let [Failure { at, attempt: 1, cause: failure, .. }] = &failures[..] else {
        panic!("one failure: {failures:?}")
    };
    assert_eq!((*at, cause), (trial.now(), None));
    assert!(failure.starts_with("the attempt did not end"), "{failure}");
}
