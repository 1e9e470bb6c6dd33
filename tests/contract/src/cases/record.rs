//! Bodies that are recorded.

pub mod intent;

use std::{future::poll_fn, task::Poll, time::Duration};

use article_webhook_inbox::{
    MAX_BODIES_PER_ENTRY, Source, State,
    store::{Arrival, Recorded, Row},
};
use tokio::task::JoinSet;

use crate::{
    Subject, Trial,
    trial::{FIRST, arrival, bytes, changed, corrupt, key, retry, unhandled},
};

const OTHERS: [&str; 5] = ["{1}", "{2}", "{3}", "{4}", "{5}"];

/// Fills an entry that has its first body already.
async fn fill(trial: &Trial<dyn Subject>, job: &str) {
    for other in &OTHERS[..MAX_BODIES_PER_ENTRY - 1] {
        assert_eq!(trial.record(job, other).await, Recorded::Conflict { kept: true });
    }
}

pub async fn a_new_body_waits_and_is_due_now(trial: Trial<dyn Subject>) {
    assert_eq!(trial.record("job_1", FIRST).await, Recorded::Stored);
    let entry = trial.entry("job_1").await;
    let first = ("default".into(), Source::Webhook, Some(FIRST.len() as u64));
    let expected =
        Row::new(trial.now()).into_entry(entry.id, key("job_1"), trial.now(), first, None);
    assert_eq!(entry, expected);
}

pub async fn a_body_is_kept_as_it_came(trial: Trial<dyn Subject>) {
    let bodies: [(_, &[u8]); 3] =
        [("text", "{\"a\":\"ü\"}".as_bytes()), ("none", b""), ("binary", b"\0\xff\0")];
    for (id, body) in bodies {
        let (target, intent) = ("blog".into(), Some("draft".into()));
        let sent = Arrival { source: Source::Api, target, intent, ..arrival(id, body) };
        trial.store().record(sent.clone()).await.unwrap();
        assert_eq!(trial.shown(id).await.1, [sent.into_body(trial.now())]);
    }
}

/// Another body is added to an unhandled or corrupt entry, or replaces the last one of a full entry. The entry then waits, due now,
/// without a cause.
pub async fn another_body_wakes_an_unhandled_and_a_corrupt_entry(mut trial: Trial<dyn Subject>) {
    for state in [State::Unhandled, State::Corrupt] {
        let id = state.as_str();
        trial.put(id, state).await;
        assert_eq!(trial.record(id, OTHERS[0]).await, Recorded::Stored);
        for other in &OTHERS[1..3] {
            assert_eq!(trial.record(id, other).await, Recorded::Conflict { kept: true });
        }
        let lease = trial.lease(id).await;
        let seen = MAX_BODIES_PER_ENTRY;
        let outcome = if state == State::Corrupt { corrupt(seen) } else { unhandled(seen) };
        trial.settle(lease, outcome).await;
        trial.advance(1);
        assert_eq!(trial.record(id, OTHERS[4]).await, Recorded::Stored);
        let kept = [bytes(FIRST), bytes(OTHERS[0]), bytes(OTHERS[1]), bytes(OTHERS[4])];
        assert_eq!(trial.bodies(id).await, kept);
        let entry = trial.entry(id).await;
        assert_eq!((entry.state, entry.at, entry.conflicts), (State::Waiting, trial.now(), 4));
        assert_eq!(entry.cause, None);
        trial.leave(id).await;
    }
}

/// If there is room, another body is added to a waiting, leased, done or dead entry. Nothing else changes.
pub async fn another_body_is_kept_and_changes_nothing_else(mut trial: Trial<dyn Subject>) {
    for state in [State::Leased, State::Done, State::Dead, State::Waiting] {
        trial.put(state.as_str(), state).await;
        let before = trial.entry(state.as_str()).await;
        trial.advance(1);
        assert_eq!(
            trial.record(state.as_str(), "[]").await,
            Recorded::Conflict { kept: true },
            "{state}"
        );
        assert_eq!(
            trial.entry(state.as_str()).await,
            changed(before, |before| before.conflicts = 1)
        );
        let (_, bodies) = trial.shown(state.as_str()).await;
        assert_eq!((bodies.len(), bodies[1].received_at), (2, trial.now()));
    }
}

/// A conflict without room is counted and not kept if a body is known to decode. No false acknowledgement: otherwise nothing
/// changes, and the service must deliver again.
pub async fn a_conflict_without_room_is_acknowledged_where_a_body_decodes(
    trial: Trial<dyn Subject>,
) {
    trial.worked("retried", retry(30)).await;
    for state in [State::Done, State::Dead, State::Leased, State::Waiting] {
        trial.put(state.as_str(), state).await;
    }
    for id in ["retried", "done", "dead", "leased", "waiting"] {
        fill(&trial, id).await;
        let (mut entry, bodies) = trial.shown(id).await;
        let expected = match id {
            "leased" | "waiting" => Recorded::BodyLimitReached,
            _ => {
                entry.conflicts = 4;
                Recorded::Conflict { kept: false }
            }
        };
        assert_eq!(trial.record(id, OTHERS[3]).await, expected, "{id}");
        assert_eq!(trial.shown(id).await, (entry, bodies), "{id}");
    }
}

/// A body is a duplicate of any stored body, not of the first alone, even if there is no room.
pub async fn a_duplicate_needs_no_room(trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    fill(&trial, "job_1").await;
    for body in [FIRST, OTHERS[0], OTHERS[2]] {
        assert_eq!(trial.record("job_1", body).await, Recorded::Duplicate);
    }
    assert_eq!(trial.entry("job_1").await.conflicts, 3);
}

/// One entry: of many concurrent deliveries of one body, one is stored.
pub async fn the_same_body_at_once_is_stored_once(trial: Trial<dyn Subject>) {
    let mut calls = JoinSet::new();
    for _ in 0..16 {
        let store = trial.store();
        calls.spawn(async move { store.record(arrival("job_1", FIRST)).await.unwrap() });
    }
    let recorded = calls.join_all().await;
    assert_eq!(recorded.iter().filter(|recorded| **recorded == Recorded::Stored).count(), 1);
    assert_eq!(recorded.iter().filter(|recorded| **recorded == Recorded::Duplicate).count(), 15);
    assert_eq!(trial.all().await.len(), 1);
    assert_eq!(trial.bodies("job_1").await, [bytes(FIRST)]);
}

/// One entry: of concurrent deliveries of different bodies, one makes the entry, and the others are added until it is
/// full.
pub async fn different_bodies_at_once_share_one_entry(trial: Trial<dyn Subject>) {
    let mut calls = JoinSet::new();
    for body in OTHERS {
        let store = trial.store();
        calls.spawn(async move { store.record(arrival("job_1", body)).await.unwrap() });
    }
    let recorded = calls.join_all().await;
    let count = |what| recorded.iter().filter(|recorded| **recorded == what).count();
    assert_eq!(count(Recorded::Stored), 1);
    assert_eq!(count(Recorded::Conflict { kept: true }), 3);
    assert_eq!(count(Recorded::BodyLimitReached), 1);
    assert_eq!(
        (trial.all().await.len(), trial.bodies("job_1").await.len()),
        (1, MAX_BODIES_PER_ENTRY)
    );
}

/// A dropped call leaves nothing half done: both the body and its entry are stored, or neither.
pub async fn a_dropped_call_leaves_nothing_half_done(trial: Trial<dyn Subject>) {
    let store = trial.store();
    let mut call = store.record(arrival("job_1", FIRST));
    poll_fn(|context| {
        let _ = call.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
    drop(call);
    let again = trial.record("job_1", FIRST).await;
    assert!(matches!(again, Recorded::Stored | Recorded::Duplicate), "{again:?}");
    assert_eq!(trial.bodies("job_1").await, [bytes(FIRST)]);
    assert_eq!(trial.entry("job_1").await.conflicts, 0);
}

pub async fn times_are_rounded_down_to_milliseconds(mut trial: Trial<dyn Subject>) {
    let start = trial.now();
    trial.advance_by(Duration::from_nanos(1_999_999));
    trial.record("job_1", FIRST).await;
    let entry = trial.entry("job_1").await;
    let rounded = start + Duration::from_millis(1);
    assert_eq!((entry.received_at, entry.at), (rounded, rounded));
}
