//! Entries from another store.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Body, Entry, Failure, Source, State,
    store::{Arrival, Lease, Merge, Outcome, Recorded, Row, Settled},
};
use bytes::Bytes;

use crate::lines::entry_line;
use crate::{
    Subject, Trial,
    trial::{FIRST, STATES, arrival, changed, key},
};

const THEN: SystemTime = SystemTime::UNIX_EPOCH;

fn shown(id: &str, state: State) -> (Entry, Vec<Body>) {
    let failure =
        |attempt, cause: &str| Failure::new(THEN + Duration::from_secs(12), attempt, cause.into());
    let first = ("blog".into(), Source::Api, Some(FIRST.len() as u64));
    let row = Row {
        state,
        attempts: 2,
        since: THEN + Duration::from_secs(15),
        conflicts: 3,
        node: Some("web-1:42".into()),
        cause: (state != State::Done).then(|| "no network".into()),
        failures: vec![failure(1, "no such author"), failure(2, "no network")],
        ..Row::new(THEN + Duration::from_secs(20))
    };
    let received_at = THEN + Duration::from_secs(10);
    let entry = row.into_entry(4711, key(id), received_at, first, None);
    let body = |text: &'static str, bytes: Option<&'static str>| {
        let (target, intent) = ("blog".into(), Some("draft".into()));
        let sent = Arrival { source: Source::Api, target, intent, ..arrival(id, text) };
        let mut body = sent.into_body(received_at);
        body.bytes = bytes.map(Bytes::from);
        body
    };
    // An intact body, one whose bytes retention has removed, and a damaged one.
    (entry, vec![body(FIRST, Some(FIRST)), body("[]", None), body("[1]", Some("[2]"))])
}

/// Durable acknowledgement: an imported entry is the same as the exported one, in every state, except
/// for its id.
pub async fn an_imported_entry_is_as_it_was_shown(trial: Trial<dyn Subject>) {
    for state in STATES.into_iter().filter(|state| *state != State::Leased) {
        let (entry, bodies) = shown(state.as_str(), state);
        assert!(trial.import(entry_line(entry.clone(), bodies.clone())).await);
        let (imported, kept) = trial.shown(state.as_str()).await;
        assert_eq!((changed(imported, |imported| imported.id = 4711), kept), (entry, bodies));
    }
}

/// At least once: a lease of the other store is not valid here, so a leased entry waits, due now. Fencing: it does not hold here.
pub async fn an_imported_lease_waits(trial: Trial<dyn Subject>) {
    let (entry, bodies) = shown("job_1", State::Leased);
    trial.import(entry_line(entry.clone(), bodies)).await;
    let (imported, now) = (trial.entry("job_1").await, trial.now());
    let expected = changed(entry, |entry| {
        (entry.id, entry.state) = (imported.id, State::Waiting);
        (entry.at, entry.since) = (now, now);
    });
    assert_eq!(imported, expected);
    for fence in 0..3 {
        let lease = Lease { id: imported.id, fence };
        assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::LostLease);
    }
    assert_eq!(trial.entry("job_1").await.state, State::Waiting);
}

/// One entry: an existing entry of this key stays as it is.
pub async fn a_page_is_imported_in_its_order(mut trial: Trial<dyn Subject>) {
    trial.record("job_2", "{1}").await;
    let before = trial.shown("job_2").await;
    trial.advance(1);
    let ids = ["job_3", "job_1", "job_2", "job_10"];
    let row = |id| {
        let (entry, bodies) = shown(id, State::Done);
        entry_line(entry, bodies)
    };
    let imported = trial.store().import(ids.map(row).into()).await.unwrap();
    assert_eq!((imported.added, imported.present), (3, 1));
    let listed: Vec<_> = trial.all().await.into_iter().map(|entry| entry.key).collect();
    assert_eq!(listed, ["job_2", "job_3", "job_1", "job_10"].map(key));
    assert_eq!(trial.shown("job_2").await, before);
}

/// One run: what another store knows of the work on an entry counts here, and a copy that was delivered here meanwhile is a
/// duplicate.
pub async fn what_is_done_elsewhere_is_done_here_after_a_merge(trial: Trial<dyn Subject>) {
    for state in STATES {
        let id = state.as_str();
        trial.record(id, FIRST).await;
        let (entry, bodies) = shown(id, state);
        let line = entry_line(entry, bodies[..1].to_vec());
        let merged = trial.store().merge(Merge::Lines(vec![line])).await.unwrap();
        assert_eq!((merged.added, merged.present), (0, 1));
        let expected = match state {
            State::Done | State::Dead => state,
            _ => State::Waiting,
        };
        assert_eq!(trial.entry(id).await.state, expected, "{state}");
        let again = trial.store().record(arrival(id, FIRST)).await.unwrap();
        assert_eq!(again, Recorded::Duplicate);
        assert_eq!(trial.entry(id).await.state, expected, "{state}");
    }
}

/// Durable acknowledgement: each body of either store is there.
pub async fn a_merge_adds_what_is_missing_and_can_be_repeated(trial: Trial<dyn Subject>) {
    trial.record("job_1", "{1}").await;
    let line = |id| {
        let (entry, bodies) = shown(id, State::Waiting);
        entry_line(entry, bodies[..1].to_vec())
    };
    for added in [1, 0] {
        let lines = vec![line("job_1"), line("job_2")];
        let merged = trial.store().merge(Merge::Lines(lines)).await.unwrap();
        assert_eq!((merged.added, merged.present), (added, 2 - added));
        let (here, there) = (Some("{1}".into()), Some(FIRST.into()));
        assert_eq!(trial.bodies("job_1").await, [here, there.clone()]);
        assert_eq!(trial.bodies("job_2").await, [there]);
        assert_eq!(trial.entry("job_1").await.conflicts, 1);
    }
}
