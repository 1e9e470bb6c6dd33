//! What retention removes, and what it keeps.

use std::time::SystemTime;

use article_webhook_inbox::{
    Prune, Pruned, State,
    store::{Outcome, Recorded},
};

use crate::{
    Subject, Trial,
    trial::{FIRST, STATES, bytes, changed, key},
};

/// A time before all times of a case.
const NEVER: SystemTime = SystemTime::UNIX_EPOCH;

fn bodies(bodies_before: SystemTime) -> Prune {
    Prune { bodies_before, limit: 100, ..Prune::default() }
}

fn entries(entries_before: SystemTime) -> Prune {
    Prune { entries_before, limit: 100, ..Prune::default() }
}

/// Prunes batch by batch until nothing is left to remove.
async fn prune(trial: &Trial<dyn Subject>, prune: Prune) -> Pruned {
    let mut all = Pruned::default();
    for _ in 0..100 {
        let batch = trial.store().prune(prune).await.unwrap();
        let most = batch.bodies.max(batch.entries);
        assert!(most <= prune.limit, "at most {} of each kind: {batch:?}", prune.limit);
        all.bodies += batch.bodies;
        all.entries += batch.entries;
        if !batch.more {
            return all;
        }
    }
    panic!("there is no end to what is to be pruned: {all:?}");
}

/// The bodies of done entries lose their bytes and keep their digests. One entry: they still identify a duplicate.
pub async fn the_bytes_of_done_entries_go(mut trial: Trial<dyn Subject>) {
    trial.put("job_1", State::Done).await;
    let (entry, before) = trial.shown("job_1").await;
    trial.advance(2);
    let pruned = prune(&trial, bodies(trial.now())).await;
    assert_eq!(pruned, changed(Pruned::default(), |pruned| pruned.bodies = 1));
    let entry = changed(entry, |entry| entry.length = None);
    let body = changed(before[0].clone(), |body| body.bytes = None);
    assert_eq!(trial.record("job_1", FIRST).await, Recorded::Duplicate);
    assert_eq!(trial.shown("job_1").await, (entry, vec![body]));
}

/// Durable acknowledgement: an entry that is not done keeps its bytes, and only done and unhandled entries are removed, however old the
/// others are.
pub async fn only_done_and_unhandled_entries_go(mut trial: Trial<dyn Subject>) {
    for state in STATES {
        trial.put(state.as_str(), state).await;
    }
    trial.advance(2);
    assert_eq!(prune(&trial, bodies(trial.now())).await.bodies, 1);
    for state in STATES.into_iter().filter(|state| *state != State::Done) {
        assert_eq!(trial.bodies(state.as_str()).await, [bytes(FIRST)], "{state}");
    }
    let pruned = prune(&trial, entries(trial.now())).await;
    assert_eq!(pruned, changed(Pruned::default(), |pruned| pruned.entries = 2));
    let left: Vec<_> = trial.all().await.into_iter().map(|entry| entry.state).collect();
    assert_eq!(left, [State::Leased, State::Dead, State::Corrupt, State::Waiting]);
}

pub async fn dead_entries_go_by_their_own_limit(mut trial: Trial<dyn Subject>) {
    for state in STATES {
        trial.put(state.as_str(), state).await;
    }
    let died = trial.now();
    trial.advance(2);
    let dead = |before| Prune { dead_before: Some(before), ..entries(NEVER) };
    assert_eq!(prune(&trial, dead(died)).await, Pruned::default());
    let pruned = prune(&trial, dead(trial.now())).await;
    assert_eq!(pruned, changed(Pruned::default(), |pruned| pruned.entries = 1));
    assert_eq!(trial.store().show(key("dead")).await.unwrap(), None);
    assert_eq!(trial.all().await.len(), STATES.len() - 1);
}

pub async fn a_batch_is_no_larger_than_asked_for(mut trial: Trial<dyn Subject>) {
    for id in ["job_1", "job_2", "job_3", "job_4", "job_5"] {
        trial.put(id, State::Done).await;
    }
    trial.advance(2);
    let first = trial.store().prune(Prune { limit: 2, ..bodies(trial.now()) }).await.unwrap();
    assert_eq!((first.bodies, first.more), (2, true));
    assert_eq!(prune(&trial, Prune { limit: 2, ..bodies(trial.now()) }).await.bodies, 3);
    let pruned = prune(&trial, Prune { limit: 2, ..entries(trial.now()) }).await;
    assert_eq!(pruned.entries, 5);
    assert!(trial.all().await.is_empty());
}

/// No batch removes more than 8 MiB, so that no delivery waits long for it. A body that is larger is removed alone, or it and all
/// after it would stay.
pub async fn a_batch_has_a_limit_of_bytes(mut trial: Trial<dyn Subject>) {
    for (mebibytes, in_a_batch) in [(4, 2), (9, 1)] {
        let body = " ".repeat(mebibytes << 20);
        for number in 0..=in_a_batch {
            let id = format!("job_{mebibytes}_{number}");
            trial.record(&id, &body).await;
            trial.work(&id, Outcome::Done).await;
        }
        trial.advance(2);
        let first = trial.store().prune(bodies(trial.now())).await.unwrap();
        assert_eq!((first.bodies, first.more), (in_a_batch, true));
        assert_eq!(prune(&trial, bodies(trial.now())).await.bodies, 1);
    }
}
