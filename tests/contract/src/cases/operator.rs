//! The calls of an operator.

use std::time::SystemTime;

use article_webhook_inbox::{Failure, Prune, State, store::Outcome};

use crate::{
    Subject, Trial,
    trial::{FIRST, STATES, bytes, changed, job, key, update},
};

/// A requeued entry waits, due now, without attempts and without a cause. It keeps its failures.
pub async fn a_requeued_entry_begins_again(mut trial: Trial<dyn Subject>) {
    for state in STATES.into_iter().filter(|state| *state != State::Leased) {
        let id = state.as_str();
        trial.put(id, state).await;
        let before = trial.entry(id).await;
        assert!(state != State::Dead || before.failures.len() == 1);
        trial.advance(1);
        assert!(trial.requeue(key(id)).await, "{state}");
        let expected = changed(before, |entry| {
            (entry.state, entry.attempts, entry.cause) = (State::Waiting, 0, None);
            (entry.at, entry.since) = (trial.now(), trial.now());
            entry.requeued_at = Some(SystemTime::UNIX_EPOCH);
        });
        assert_eq!(trial.entry(id).await, expected);
        assert_eq!(trial.bodies(id).await, [bytes(FIRST)]);
        trial.leave(id).await;
    }
}

pub async fn a_done_entry_is_requeued_while_a_body_is_there(mut trial: Trial<dyn Subject>) {
    trial.put("job_1", State::Done).await;
    trial.advance(2);
    let between = trial.now();
    trial.advance(2);
    trial.record("job_1", "[]").await;
    let prune = Prune { bodies_before: between, ..Prune::default() };
    assert_eq!(trial.store().prune(prune).await.unwrap().bodies, 1);
    assert_eq!(trial.bodies("job_1").await, [None, bytes("[]")], "a later body stays");
    assert!(trial.requeue(key("job_1")).await);
    trial.work("job_1", Outcome::Done).await;

    trial.advance(2);
    let prune = Prune { bodies_before: trial.now(), ..prune };
    assert_eq!(trial.store().prune(prune).await.unwrap().bodies, 1);
    let before = trial.entry("job_1").await;
    assert!(!trial.requeue(key("job_1")).await);
    assert_eq!(trial.entry("job_1").await, before);
}

pub async fn other_entries_are_not_requeued(mut trial: Trial<dyn Subject>) {
    trial.put("leased", State::Leased).await;
    trial.advance(1);
    let before = trial.entry("leased").await;
    assert!(!trial.requeue(key("leased")).await);
    assert_eq!(trial.entry("leased").await, before);
    assert!(!trial.requeue(key("missing")).await);
}

pub async fn a_discarded_entry_is_dead(mut trial: Trial<dyn Subject>) {
    for state in [State::Waiting, State::Unhandled, State::Corrupt] {
        trial.put(state.as_str(), state).await;
        let before = trial.entry(state.as_str()).await;
        trial.advance(1);
        assert!(discard(&trial, state.as_str()).await, "{state}");
        let expected = changed(before, |entry| {
            (entry.state, entry.at, entry.since) = (State::Dead, trial.now(), trial.now());
            entry.cause = Some("not wanted".into());
            let failure = Failure::new(trial.now(), entry.attempts, "not wanted".into());
            entry.failures.push(failure);
        });
        assert_eq!(trial.entry(state.as_str()).await, expected);
    }
    assert!(trial.claim().await.claimed.is_empty());
}

async fn discard(trial: &Trial<dyn Subject>, id: &str) -> bool {
    trial.store().discard(vec![key(id)], "not wanted".into()).await.unwrap()[0]
}

pub async fn other_entries_are_not_discarded(mut trial: Trial<dyn Subject>) {
    for state in [State::Leased, State::Done, State::Dead] {
        trial.put(state.as_str(), state).await;
        let before = trial.entry(state.as_str()).await;
        trial.advance(1);
        assert!(!discard(&trial, state.as_str()).await, "{state}");
        assert_eq!(trial.entry(state.as_str()).await, before);
    }
    assert!(!discard(&trial, "missing").await);
}

/// A page of changes says what became of each entry, in their order. An entry that is there twice is changed once.
pub async fn a_page_of_changes_says_what_became_of_each(trial: Trial<dyn Subject>) {
    for (id, state) in [("job_3", State::Dead), ("job_2", State::Leased), ("job_1", State::Dead)] {
        trial.put(id, state).await;
    }
    let dead = |id| (key(id), Some(State::Dead));
    let page = vec![dead("job_3"), dead("job_2"), dead("missing"), dead("job_1"), dead("job_3")];
    let requeued = trial.store().requeue(page, SystemTime::UNIX_EPOCH).await.unwrap();
    assert_eq!(requeued, [true, false, false, true, false]);
    let page = ["job_1", "missing", "job_2", "job_1"].map(key);
    let discarded = trial.store().discard(page.into(), "not wanted".into()).await.unwrap();
    assert_eq!(discarded, [true, false, false, false]);
    let states = trial.all().await.into_iter().map(|entry| entry.state);
    assert!(states.eq([State::Waiting, State::Leased, State::Dead]));
    assert_eq!(trial.store().requeue(Vec::new(), SystemTime::UNIX_EPOCH).await.unwrap(), [true; 0]);
}

/// Erasing a job erases all its entries, in every state. Jobs that are erased together leave the others as they are, and those with
/// similar names.
pub async fn jobs_are_erased_together(trial: Trial<dyn Subject>) {
    for id in ["job_1", "job_10", "JOB_1", "job%"] {
        trial.put(id, State::Done).await;
    }
    trial.record_as(update("job_1"), FIRST).await;
    let page = ["job%", "missing", "job_1", "job%"].map(job);
    assert_eq!(trial.store().erase(page.into()).await.unwrap(), [1, 0, 2, 0]);
    let left: Vec<_> = trial.all().await.into_iter().map(|entry| entry.key).collect();
    assert_eq!(left, [key("job_10"), key("JOB_1")]);
    // No delivery waits while more than 8 MiB go. The first job goes whatever its size.
    let large = ["large_1", "large_2", "large_3"];
    for id in large {
        trial.record(id, &" ".repeat(3 << 20)).await;
    }
    assert_eq!(trial.store().erase(large.map(job).into()).await.unwrap(), [1, 1]);
}
