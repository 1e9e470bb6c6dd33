//! Leases that are extended, settled and lost.

use std::time::Duration;

use article_webhook_inbox::{
    State,
    store::{Lease, Outcome, Recorded, Settled},
};

use crate::{
    Subject, Trial,
    trial::{CLAIM, FIRST, key, retry},
};

fn unhandled(seen: usize) -> Outcome {
    Outcome::Unhandled { seen, cause: "no article".into() }
}

fn corrupt(seen: usize) -> Outcome {
    Outcome::Corrupt { seen, cause: "a flipped bit".into() }
}

fn dead() -> Outcome {
    Outcome::Dead { cause: "no such author".into() }
}

/// An extended lease lasts for the given time from now on, whether that is shorter or longer than before.
pub async fn a_lease_is_extended_from_now_on(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    for seconds in [90, 5] {
        trial.advance(1);
        let by = Duration::from_secs(seconds);
        assert_eq!(trial.store().extend(&[lease], by).await.unwrap(), [lease]);
        assert_eq!(trial.entry("job_1").await.at, trial.now() + by);
    }
}

/// Of several leases, those that hold are extended and returned.
pub async fn leases_that_hold_are_distinguished_from_others(mut trial: Trial<impl Subject>) {
    let ended = trial.leased("ended").await;
    trial.advance(CLAIM.lease.as_secs() - 1);
    let settled = trial.leased("settled").await;
    trial.settle(settled, Outcome::Done).await;
    let erased = trial.leased("erased").await;
    trial.store().erase(vec![key("erased").job_id]).await.unwrap();
    let held = trial.leased("held").await;
    trial.advance(1);
    let leases = [ended, settled, erased, held];
    assert_eq!(trial.store().extend(&leases, CLAIM.lease).await.unwrap(), [held]);
}

/// Fencing: a lease that has ended is not extended, even if no other worker has claimed the entry.
pub async fn a_lease_that_has_ended_is_not_extended(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    let before = trial.entry("job_1").await;
    trial.advance_by(CLAIM.lease);
    assert_eq!(trial.store().extend(&[lease], CLAIM.lease).await.unwrap(), []);
    assert_eq!(trial.entry("job_1").await, before);
}

/// Fencing: a lease whose entry was claimed again is not extended.
pub async fn a_lease_that_another_worker_has_is_not_extended(mut trial: Trial<impl Subject>) {
    let lost = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    let held = trial.lease("job_1").await;
    let before = trial.entry("job_1").await;
    trial.advance(1);
    assert_eq!(trial.store().extend(&[lost], CLAIM.lease).await.unwrap(), []);
    assert_eq!(trial.entry("job_1").await, before);
    assert_eq!(trial.store().extend(&[held], CLAIM.lease).await.unwrap(), [held]);
}

/// Leases that are not named are not extended.
pub async fn no_lease_is_extended_unasked(mut trial: Trial<impl Subject>) {
    trial.leased("job_1").await;
    let before = trial.entry("job_1").await;
    trial.advance(1);
    assert_eq!(trial.store().extend(&[], CLAIM.lease).await.unwrap(), []);
    assert_eq!(trial.entry("job_1").await, before);
}

/// Fencing: while an extended lease lasts, no other worker gets the entry.
pub async fn an_extended_entry_is_not_claimed(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(CLAIM.lease.as_secs() - 1);
    trial.store().extend(&[lease], CLAIM.lease).await.unwrap();
    trial.advance(CLAIM.lease.as_secs() - 1);
    assert!(trial.claim().await.claimed.is_empty());
    assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::Settled);
}

/// At least once: after a success the entry is done now, without the cause of an earlier attempt.
pub async fn a_success_makes_an_entry_done(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.settle(lease, retry(0)).await;
    let lease = trial.lease("job_1").await;
    let before = trial.entry("job_1").await;
    trial.advance(1);
    assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::Settled);
    let now = trial.now();
    let mut done = before;
    done.state = State::Done;
    done.at = now;
    done.since = now;
    done.cause = None;
    assert_eq!(trial.entry("job_1").await, done);
}

/// At least once: after a failure the entry waits for the pause, and the attempt counts.
pub async fn a_failure_lets_an_entry_wait(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(1);
    assert_eq!(trial.settle(lease, retry(30)).await, Settled::Settled);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Waiting, 1));
    assert_eq!(entry.at, trial.now() + Duration::from_secs(30));
    assert_eq!(entry.cause.as_deref(), Some("no network"));
}

/// A final failure makes an entry dead now.
pub async fn a_failure_for_good_makes_an_entry_dead(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(1);
    assert_eq!(trial.settle(lease, dead()).await, Settled::Settled);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.attempts, entry.at), (State::Dead, 1, trial.now()));
    assert_eq!(entry.cause.as_deref(), Some("no such author"));
}

/// An entry without an article is unhandled now, and the attempt does not count.
pub async fn an_entry_without_an_article_is_unhandled(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(1);
    assert_eq!(trial.settle(lease, unhandled(1)).await, Settled::Settled);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.attempts, entry.at), (State::Unhandled, 0, trial.now()));
    assert_eq!(entry.cause.as_deref(), Some("no article"));
}

/// A damaged entry is corrupt now, and the attempt does not count.
pub async fn a_damaged_entry_is_corrupt(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(1);
    assert_eq!(trial.settle(lease, corrupt(1)).await, Settled::Settled);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.attempts, entry.at), (State::Corrupt, 0, trial.now()));
    assert_eq!(entry.cause.as_deref(), Some("a flipped bit"));
}

/// At least once: a body that was recorded while a worker checked the others is not rejected with them.
pub async fn a_body_that_was_not_looked_at_is_not_rejected(mut trial: Trial<impl Subject>) {
    for (id, outcome) in [("unhandled", unhandled(1)), ("corrupt", corrupt(1))] {
        let lease = trial.leased(id).await;
        trial.settle(lease, retry(0)).await;
        let lease = trial.lease(id).await;
        assert_eq!(trial.record(id, "[]").await, Recorded::Conflict { kept: true });
        trial.advance(1);
        assert_eq!(trial.settle(lease, outcome).await, Settled::Settled);
        let entry = trial.entry(id).await;
        assert_eq!(
            (entry.state, entry.attempts, entry.at),
            (State::Waiting, 1, trial.now()),
            "{id}"
        );
        assert_eq!(entry.cause, None, "{id}");
        trial.leave(id).await;
    }
}

/// All bodies that the worker checked are rejected together.
pub async fn several_bodies_are_rejected_together(trial: Trial<impl Subject>) {
    trial.record("job_1", FIRST).await;
    trial.record("job_1", "[]").await;
    let lease = trial.lease("job_1").await;
    trial.settle(lease, unhandled(2)).await;
    assert_eq!(trial.entry("job_1").await.state, State::Unhandled);
}

/// An entry that a stopping worker releases is due now, and the attempt does not count.
pub async fn a_released_entry_is_due_now(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(1);
    assert_eq!(trial.settle(lease, Outcome::Released).await, Settled::Settled);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.attempts, entry.at), (State::Waiting, 0, trial.now()));
    assert_eq!(entry.cause, None);
}

/// A released entry keeps the cause of its earlier attempt.
pub async fn a_released_entry_keeps_its_cause(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.settle(lease, retry(0)).await;
    let lease = trial.lease("job_1").await;
    trial.settle(lease, Outcome::Released).await;
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.attempts, entry.cause.as_deref()), (1, Some("no network")));
}

/// A snoozed entry waits for the pause, and the attempt does not count.
pub async fn a_snoozed_entry_is_due_after_its_pause(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance(1);
    let after = Duration::from_secs(30);
    assert_eq!(trial.settle(lease, Outcome::Snoozed { after }).await, Settled::Settled);
    let entry = trial.entry("job_1").await;
    assert_eq!((entry.state, entry.attempts), (State::Waiting, 0));
    assert_eq!((entry.since, entry.at), (trial.now(), trial.now() + after));
    assert!(trial.claim().await.claimed.is_empty());
    trial.advance(30);
    assert_eq!(trial.claim().await.claimed[0].attempt, 1);
}

/// A snoozed entry keeps the cause of its earlier attempt, and nothing new has failed.
pub async fn a_snoozed_entry_keeps_its_cause(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.settle(lease, retry(0)).await;
    let before = trial.entry("job_1").await;
    let lease = trial.lease("job_1").await;
    trial.settle(lease, Outcome::Snoozed { after: Duration::ZERO }).await;
    assert_eq!(trial.entry("job_1").await, before);
}

/// A lease holds until its last millisecond.
pub async fn a_lease_holds_until_it_ends(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease - Duration::from_millis(1));
    assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::Settled);
}

/// Fencing: under a lease that has ended, no outcome is stored, even if no other worker has claimed the entry.
pub async fn a_lease_that_has_ended_changes_nothing(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    let before = trial.shown("job_1").await;
    for outcome in [Outcome::Done, retry(1), dead(), unhandled(1), corrupt(1), Outcome::Released] {
        assert_eq!(trial.settle(lease, outcome.clone()).await, Settled::LostLease, "{outcome:?}");
        assert_eq!(trial.shown("job_1").await, before, "{outcome:?}");
    }
}

/// Fencing: the outcome of a late worker is not stored when another worker has claimed the entry.
pub async fn a_lease_that_another_worker_has_changes_nothing(mut trial: Trial<impl Subject>) {
    let lost = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    let held = trial.lease("job_1").await;
    let before = trial.shown("job_1").await;
    for outcome in [Outcome::Done, retry(1), dead(), unhandled(1), corrupt(1), Outcome::Released] {
        assert_eq!(trial.settle(lost, outcome.clone()).await, Settled::LostLease, "{outcome:?}");
        assert_eq!(trial.shown("job_1").await, before, "{outcome:?}");
    }
    assert_eq!(trial.settle(held, Outcome::Done).await, Settled::Settled);
}

/// Fencing: a lease is settled once.
pub async fn a_lease_is_settled_once(mut trial: Trial<impl Subject>) {
    for (id, first) in [("retry", retry(30)), ("released", Outcome::Released), ("dead", dead())] {
        let lease = trial.leased(id).await;
        assert_eq!(trial.settle(lease, first).await, Settled::Settled);
        let before = trial.entry(id).await;
        trial.advance(1);
        assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::LostLease, "{id}");
        assert_eq!(trial.entry(id).await, before, "{id}");
        trial.store().erase(vec![key(id).job_id]).await.unwrap();
    }
}

/// At least once: an entry that is done under a lease stays done, whatever outcome follows under the same lease.
pub async fn what_is_done_stays_done(mut trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.settle(lease, Outcome::Done).await;
    let before = trial.entry("job_1").await;
    trial.advance(1);
    for outcome in [Outcome::Done, retry(1), dead(), unhandled(1), corrupt(1), Outcome::Released] {
        assert_eq!(trial.settle(lease, outcome.clone()).await, Settled::AlreadyDone, "{outcome:?}");
        assert_eq!(trial.entry("job_1").await, before, "{outcome:?}");
    }
}

/// Fencing: a lease of an entry that does not exist, or no longer exists, is lost.
pub async fn a_lease_of_no_entry_is_lost(trial: Trial<impl Subject>) {
    assert_eq!(trial.settle(Lease { id: 1, fence: 1 }, Outcome::Done).await, Settled::LostLease);
    let lease = trial.leased("job_1").await;
    trial.store().erase(vec![key("job_1").job_id]).await.unwrap();
    trial.record("job_1", FIRST).await;
    trial.claim().await;
    assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::LostLease);
    assert_eq!(trial.entry("job_1").await.state, State::Leased);
}

/// Fencing: only a lease with the fence of the last claim settles.
pub async fn a_fence_that_was_never_given_is_lost(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    for fence in [lease.fence - 1, lease.fence + 1] {
        assert_eq!(trial.settle(Lease { fence, ..lease }, Outcome::Done).await, Settled::LostLease);
    }
    assert_eq!(trial.entry("job_1").await.state, State::Leased);
}

/// The longest possible pause or lease does not overflow into the past.
pub async fn a_pause_without_end_is_a_long_one(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    assert_eq!(trial.store().extend(&[lease], Duration::MAX).await.unwrap(), [lease]);
    assert!(trial.entry("job_1").await.at > trial.now() + CLAIM.lease);
    let outcome = Outcome::Retry { after: Duration::MAX, cause: "no network".into() };
    assert_eq!(trial.settle(lease, outcome).await, Settled::Settled);
    assert!(trial.entry("job_1").await.at > trial.now() + CLAIM.lease);
    assert!(trial.claim().await.claimed.is_empty());
}

/// Leases and pauses end at a whole millisecond, rounded down.
pub async fn leases_and_pauses_are_rounded_down_to_milliseconds(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    let (by, rounded) = (Duration::from_nanos(5_999_999), Duration::from_millis(5));
    trial.store().extend(&[lease], by).await.unwrap();
    assert_eq!(trial.entry("job_1").await.at, trial.now() + rounded);
    trial.settle(lease, Outcome::Retry { after: by, cause: "no network".into() }).await;
    assert_eq!(trial.entry("job_1").await.at, trial.now() + rounded);
}
