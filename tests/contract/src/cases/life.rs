//! The store as a whole.

use std::sync::Arc;

use article_webhook_inbox::{
    Error, Filter, Finding, Prune, State,
    store::{Outcome, Store},
};

use crate::{
    Subject, Trial,
    ledger::steps::{KEY, WITHIN},
    trial::{CLAIM, FIRST, STATES, arrival, damaged},
};

pub async fn a_sound_store_has_no_damage(mut trial: Trial<dyn Subject>) {
    for state in STATES.into_iter().filter(|state| *state != State::Corrupt) {
        trial.put(state.as_str(), state).await;
    }
    trial.advance(2);
    let prune = Prune {
        bodies_before: trial.now(),
        entries_before: trial.now(),
        limit: 1,
        ..Prune::default()
    };
    trial.store().prune(prune).await.unwrap();
    assert_eq!(damage_in(trial.store()).await, [""; 0]);
}

pub async fn a_corrupt_entry_is_found(trial: Trial<dyn Subject>) {
    trial.put("job_1", State::Corrupt).await;
    let findings = damage_in(trial.store()).await;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("job_1"), "{findings:?}");
}

/// A check finds a body that differs from its digest. The finding names the entry, and quotes no part of the body.
pub async fn a_damaged_body_is_found(trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    trial.store().record(damaged("job_2", FIRST)).await.unwrap();
    let id = trial.entry("job_2").await.id.to_string();
    let findings = damage_in(trial.store()).await;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("job_2") || findings[0].contains(&id), "{findings:?}");
    assert!(!findings[0].contains("flipped"), "{findings:?}");
}

/// What a check calls damage. A server may have settings that are found as well.
async fn damage_in(store: Arc<dyn Store>) -> Vec<String> {
    let findings = store.check().await.unwrap().into_iter();
    findings.filter(Finding::is_damage).map(|finding| finding.to_string()).collect()
}

pub async fn a_probe_leaves_nothing_behind(trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    let before = trial.shown("job_1").await;
    trial.store().probe().await.unwrap();
    trial.store().probe().await.unwrap();
    assert_eq!(trial.shown("job_1").await, before);
    assert_eq!(trial.store().counts().await.unwrap().total(), 1);
}

/// Secrecy: `Debug` of a store shows no stored content.
pub async fn a_store_shows_no_body_in_logs(trial: Trial<dyn Subject>) {
    trial.record("job_1", "canary").await;
    assert!(!format!("{:?}", trial.store()).contains("canary"));
}

/// No false acknowledgement: after `close`, every call fails with the error that the inbox is closed, by whichever way it goes.
pub async fn a_closed_store_fails_every_call(trial: Trial<dyn Subject>) {
    let lease = trial.leased("job_1").await;
    let store = trial.store();
    store.close().await.unwrap();
    let errors: [(&str, Option<Error>); 10] = [
        ("record", store.record(arrival("job_1", FIRST)).await.err()),
        ("claim", store.claim(CLAIM).await.err()),
        ("extend", store.extend(&[lease], CLAIM.lease).await.err()),
        ("settle", store.settle(lease, Outcome::Done).await.err()),
        ("intend", store.intend("post-18", WITHIN, KEY, None).await.err()),
        ("list", store.list(Filter::default()).await.err()),
        ("completion", store.completion(lease).err()),
        ("check", store.check().await.err()),
        ("probe", store.probe().await.err()),
        ("close", store.close().await.err()),
    ];
    for (call, error) in errors {
        let error = error.unwrap_or_else(|| panic!("{call} succeeds"));
        let reported = (error.to_string(), error.is_transient());
        assert_eq!(reported, ("the inbox is closed".into(), false), "{call}");
    }
}
