//! Leases that are extended, settled and lost.

use std::time::Duration;

use article_webhook_inbox::{
    State,
    store::{Lease, Outcome, Recorded, Settled},
};

use crate::{
    Subject, Trial,
    trial::{CLAIM, changed, corrupt, dead, key, retry, unhandled},
};

/// An extended lease lasts for the given time from now on, whether that is shorter or longer than before.
pub async fn a_lease_is_extended_from_now_on(mut trial: Trial<dyn Subject>) {
    let lease = trial.leased("job_1").await;
    for seconds in [90, 5] {
        trial.advance(1);
        let by = Duration::from_secs(seconds);
        assert_eq!(trial.store().extend(&[lease], by).await.unwrap(), [lease]);
        assert_eq!(trial.entry("job_1").await.at, trial.now() + by);
    }
}

/// Of several leases, those that hold are extended and returned.
pub async fn leases_that_hold_are_distinguished_from_others(mut trial: Trial<dyn Subject>) {
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

/// Fencing: a lease that has ended is not extended, whether or not another worker has claimed the entry, nor is one that is not
/// named.
pub async fn a_lease_that_has_ended_is_not_extended(mut trial: Trial<dyn Subject>) {
    let lost = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    let before = trial.entry("job_1").await;
    assert_eq!(trial.store().extend(&[lost], CLAIM.lease).await.unwrap(), []);
    assert_eq!(trial.entry("job_1").await, before);
    let held = trial.lease("job_1").await;
    let before = trial.entry("job_1").await;
    trial.advance(1);
    for leases in [&[lost][..], &[]] {
        assert_eq!(trial.store().extend(leases, CLAIM.lease).await.unwrap(), []);
        assert_eq!(trial.entry("job_1").await, before);
    }
    assert_eq!(trial.store().extend(&[held], CLAIM.lease).await.unwrap(), [held]);
}

/// At least once: what each outcome makes of an entry that has failed once, now or after a pause. An attempt counts if a handler ended
/// it. One that does not, because the worker stops or the handler puts the entry off, leaves the cause and the failures.
pub async fn an_entry_is_in_the_state_of_its_outcome(mut trial: Trial<dyn Subject>) {
    let (after, now) = (Duration::from_secs(30), Duration::ZERO);
    let (earlier, dies) = (Some("no network"), Some("no such author"));
    for (outcome, state, attempts, pause, cause, failures) in [
        (Outcome::Done, State::Done, 2, now, None, 1),
        (retry(30), State::Waiting, 2, after, earlier, 2),
        (dead(), State::Dead, 2, now, dies, 2),
        (unhandled(1), State::Unhandled, 1, now, Some("no article"), 2),
        (corrupt(1), State::Corrupt, 1, now, Some("a flipped bit"), 2),
        (Outcome::Released, State::Waiting, 1, now, earlier, 1),
        (Outcome::Snoozed { after }, State::Waiting, 1, after, earlier, 1),
    ] {
        trial.worked("job_1", retry(0)).await;
        let lease = trial.lease("job_1").await;
        let before = trial.entry("job_1").await;
        // The lease holds until it ends.
        trial.advance_by(CLAIM.lease - Duration::from_millis(1));
        assert_eq!(trial.settle(lease, outcome.clone()).await, Settled::Settled, "{outcome:?}");
        let entry = trial.entry("job_1").await;
        assert_eq!(entry.failures.len(), failures, "{outcome:?}");
        let expected = changed(before, |before| {
            (before.state, before.attempts) = (state, attempts);
            (before.since, before.at) = (trial.now(), trial.now() + pause);
            before.cause = cause.map(Into::into);
            before.failures.clone_from(&entry.failures);
        });
        assert_eq!(entry, expected, "{outcome:?}");
        trial.store().erase(vec![key("job_1").job_id]).await.unwrap();
    }
}

/// At least once: a body that was recorded while a worker checked the others is not rejected with them.
pub async fn a_body_that_was_not_looked_at_is_not_rejected(mut trial: Trial<dyn Subject>) {
    for (id, outcome) in [("unhandled", unhandled(1)), ("corrupt", corrupt(1))] {
        trial.worked(id, retry(0)).await;
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

/// Fencing: under a lease that has ended, no outcome is stored, whether or not another worker has claimed the entry.
pub async fn a_lease_that_has_ended_changes_nothing(mut trial: Trial<dyn Subject>) {
    let lost = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    nothing_changes(&trial, lost, Settled::LostLease).await;
    let held = trial.lease("job_1").await;
    nothing_changes(&trial, lost, Settled::LostLease).await;
    assert_eq!(trial.settle(held, Outcome::Done).await, Settled::Settled);
    nothing_changes(&trial, lost, Settled::LostLease).await;
}

/// No outcome under this lease changes the entry.
pub(super) async fn nothing_changes(
    trial: &Trial<impl Subject + ?Sized>,
    lease: Lease,
    settled: Settled,
) {
    let before = trial.shown("job_1").await;
    for outcome in [Outcome::Done, retry(1), dead(), unhandled(1), corrupt(1), Outcome::Released] {
        assert_eq!(trial.settle(lease, outcome.clone()).await, settled, "{outcome:?}");
        assert_eq!(trial.shown("job_1").await, before, "{outcome:?}");
    }
}

/// Fencing: a lease is settled once. At least once: an entry that is done under a lease stays done, whatever outcome follows.
pub async fn a_lease_is_settled_once(mut trial: Trial<dyn Subject>) {
    for (first, then) in [
        (retry(30), Settled::LostLease),
        (Outcome::Released, Settled::LostLease),
        (dead(), Settled::LostLease),
        (Outcome::Done, Settled::AlreadyDone),
    ] {
        let lease = trial.leased("job_1").await;
        assert_eq!(trial.settle(lease, first).await, Settled::Settled);
        trial.advance(1);
        nothing_changes(&trial, lease, then).await;
        trial.store().erase(vec![key("job_1").job_id]).await.unwrap();
    }
}

/// Fencing: only a lease with the fence of the last claim settles, and none of an entry that does not exist, or no longer exists.
pub async fn only_the_lease_of_the_last_claim_settles(trial: Trial<dyn Subject>) {
    assert_eq!(trial.settle(Lease { id: 1, fence: 1 }, Outcome::Done).await, Settled::LostLease);
    let erased = trial.leased("job_1").await;
    trial.store().erase(vec![key("job_1").job_id]).await.unwrap();
    let lease = trial.leased("job_1").await;
    let others = [lease.fence - 1, lease.fence + 1].map(|fence| Lease { fence, ..lease });
    for lost in [erased].into_iter().chain(others) {
        assert_eq!(trial.settle(lost, Outcome::Done).await, Settled::LostLease, "{lost:?}");
    }
    assert_eq!(trial.entry("job_1").await.state, State::Leased);
}

/// The longest possible pause or lease does not overflow into the past.
pub async fn a_pause_without_end_is_a_long_one(trial: Trial<dyn Subject>) {
    let lease = trial.leased("job_1").await;
    assert_eq!(trial.store().extend(&[lease], Duration::MAX).await.unwrap(), [lease]);
    assert!(trial.entry("job_1").await.at > trial.now() + CLAIM.lease);
    let outcome = Outcome::Retry { after: Duration::MAX, cause: "no network".into() };
    assert_eq!(trial.settle(lease, outcome).await, Settled::Settled);
    assert!(trial.entry("job_1").await.at > trial.now() + CLAIM.lease);
    assert!(trial.claim().await.claimed.is_empty());
}
