//! What an operator may do.

use article_inbox::{
    Entry, EntryKey, Hint, State,
    store::{Arrival, Claim, Outcome, Recorded, Settled},
};

use crate::{
    Subject, Trial,
    trial::{CLAIM, FIRST, arrival, bytes, job, key},
};

/// What is dead, unhandled or corrupt waits again, due now, with no attempts and no cause.
pub async fn a_requeued_entry_begins_anew(mut trial: Trial<impl Subject>) {
    for state in [State::Dead, State::Unhandled, State::Corrupt] {
        let id = state.as_str();
        trial.put(id, state).await;
        let before = trial.entry(id).await;
        trial.advance(1);
        assert!(trial.store().requeue(key(id)).await.unwrap(), "{state}");
        let expected =
            Entry { state: State::Waiting, attempts: 0, at: trial.now(), cause: None, ..before };
        assert_eq!(trial.entry(id).await, expected);
        assert_eq!(trial.bodies(id).await, [bytes(FIRST)]);
        trial.leave(id).await;
    }
}

/// Bounded attempts: after a requeue an entry has as many attempts as at first.
pub async fn a_requeued_entry_has_all_its_attempts(trial: Trial<impl Subject>) {
    trial.put("job_1", State::Dead).await;
    trial.store().requeue(key("job_1")).await.unwrap();
    assert_eq!(trial.claim().await.claimed[0].attempt, 1);
}

/// What waits, is leased or done is not requeued, nor what is not there.
pub async fn other_entries_are_not_requeued(mut trial: Trial<impl Subject>) {
    for state in [State::Leased, State::Done, State::Waiting] {
        trial.put(state.as_str(), state).await;
    }
    trial.advance(1);
    for state in [State::Leased, State::Done, State::Waiting] {
        let before = trial.entry(state.as_str()).await;
        assert!(!trial.store().requeue(key(state.as_str())).await.unwrap(), "{state}");
        assert_eq!(trial.entry(state.as_str()).await, before);
    }
    assert!(!trial.store().requeue(key("nobody")).await.unwrap());
}

/// What waits, is unhandled or corrupt is dead since now, with that cause.
pub async fn a_buried_entry_is_dead(mut trial: Trial<impl Subject>) {
    for state in [State::Waiting, State::Unhandled, State::Corrupt] {
        let id = state.as_str();
        trial.put(id, state).await;
        let before = trial.entry(id).await;
        trial.advance(1);
        assert!(trial.store().bury(key(id), "not wanted".into()).await.unwrap(), "{state}");
        let expected = Entry {
            state: State::Dead,
            at: trial.now(),
            cause: Some("not wanted".into()),
            ..before
        };
        assert_eq!(trial.entry(id).await, expected);
    }
    assert!(trial.claim().await.claimed.is_empty());
}

/// What is leased, done or dead is not buried, nor what is not there.
pub async fn other_entries_are_not_buried(mut trial: Trial<impl Subject>) {
    for state in [State::Leased, State::Done, State::Dead] {
        trial.put(state.as_str(), state).await;
        let before = trial.entry(state.as_str()).await;
        trial.advance(1);
        assert!(
            !trial.store().bury(key(state.as_str()), "not wanted".into()).await.unwrap(),
            "{state}"
        );
        assert_eq!(trial.entry(state.as_str()).await, before);
    }
    assert!(!trial.store().bury(key("nobody"), "not wanted".into()).await.unwrap());
}

/// Everything about a job is erased: all its entries, in whatever state, and its hint.
pub async fn a_forgotten_job_is_erased(trial: Trial<impl Subject>) {
    let update = EntryKey { event: "article.updated".into(), ..key("job_1") };
    trial.put("job_1", State::Done).await;
    trial.store().record(Arrival { key: update.clone(), ..arrival("job_1", FIRST) }).await.unwrap();
    let hint = Hint { job_id: job("job_1"), at: trial.now(), code: "malformed_json".into() };
    trial.store().hint(hint).await.unwrap();
    assert_eq!(trial.store().forget(job("job_1")).await.unwrap(), 2);
    assert_eq!(trial.store().show(key("job_1")).await.unwrap(), None);
    assert_eq!(trial.store().show(update).await.unwrap(), None);
    assert_eq!(trial.store().hints(10).await.unwrap(), []);
    assert_eq!(trial.store().counts().await.unwrap().total(), 0);
    assert_eq!(trial.store().forget(job("job_1")).await.unwrap(), 0);
}

/// Other jobs have nothing to do with one that is forgotten, however alike their names are.
pub async fn other_jobs_are_not_forgotten(trial: Trial<impl Subject>) {
    for id in ["job_1", "job_10", "JOB_1", "job%"] {
        trial.put(id, State::Done).await;
        let hint = Hint { job_id: job(id), at: trial.now(), code: "malformed_json".into() };
        trial.store().hint(hint).await.unwrap();
    }
    assert_eq!(trial.store().forget(job("job%")).await.unwrap(), 1);
    assert_eq!(trial.store().forget(job("job_1")).await.unwrap(), 1);
    let left: Vec<_> = trial.all().await.into_iter().map(|entry| entry.key).collect();
    assert_eq!(left, [key("job_10"), key("JOB_1")]);
    assert_eq!(trial.store().hints(10).await.unwrap().len(), 2);
}

/// Fencing: a worker that is at a job which was forgotten cannot bring it back.
pub async fn a_forgotten_entry_is_not_settled(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    trial.store().forget(job("job_1")).await.unwrap();
    assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::LostLease);
    assert_eq!(trial.store().extend(&[lease], CLAIM.lease).await.unwrap(), []);
    assert!(trial.all().await.is_empty());
}

/// A job that was forgotten may be delivered again, as if it were new.
pub async fn a_forgotten_job_may_come_again(trial: Trial<impl Subject>) {
    trial.put("job_1", State::Done).await;
    trial.store().forget(job("job_1")).await.unwrap();
    assert_eq!(trial.record("job_1", FIRST).await, Recorded::Stored);
    assert_eq!(trial.entry("job_1").await.attempts, 0);
}

/// Requeued while a late worker still holds an old lease, an entry belongs to whoever claims it next (I5).
pub async fn a_requeued_entry_does_not_listen_to_an_old_lease(mut trial: Trial<impl Subject>) {
    let old = trial.leased("job_1").await;
    trial.advance_by(CLAIM.lease);
    let claim = Claim { attempts: 1, ..CLAIM };
    assert_eq!(trial.store().claim(claim).await.unwrap().buried, [key("job_1")]);
    trial.store().requeue(key("job_1")).await.unwrap();
    assert_eq!(trial.settle(old, Outcome::Done).await, Settled::LostLease);
    assert_ne!(trial.lease("job_1").await.fence, old.fence);
    assert_eq!(trial.settle(old, Outcome::Done).await, Settled::LostLease);
    assert_eq!(trial.entry("job_1").await.state, State::Leased);
}
