//! The store as a whole.

use std::time::SystemTime;

use std::sync::Arc;

use article_webhook_inbox::{
    Error, Filter, Finding, JobFilter, Prune, State,
    store::{
        BucketEvent, Expect, ExportLine, IntentLease, Lease, Outcome, PollLease, PollOutcome, Store,
    },
};

use crate::{
    Subject, Trial,
    ledger::steps::{KEY, POLLS, WITHIN},
    lines::{entry_line, intent_line, job_line},
    trial::{CLAIM, FIRST, STATES, arrival, damaged, job, key},
};

/// A check finds nothing in an undamaged store, whatever the states of its entries.
pub async fn a_sound_store_has_no_damage(mut trial: Trial<impl Subject>) {
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

/// A check finds an entry that is corrupt.
pub async fn a_corrupt_entry_is_found(trial: Trial<impl Subject>) {
    trial.put("job_1", State::Corrupt).await;
    let findings = damage_in(trial.store()).await;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].contains("job_1"), "{findings:?}");
}

/// A check finds a body that differs from its digest. The finding names the entry, and quotes no part of the body.
pub async fn a_damaged_body_is_found(trial: Trial<impl Subject>) {
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

/// A store can be probed, and a probe leaves nothing behind.
pub async fn a_probe_leaves_nothing_behind(trial: Trial<impl Subject>) {
    trial.record("job_1", FIRST).await;
    let before = trial.shown("job_1").await;
    trial.store().probe().await.unwrap();
    trial.store().probe().await.unwrap();
    assert_eq!(trial.shown("job_1").await, before);
    assert_eq!(trial.store().counts().await.unwrap().total(), 1);
}

/// Secrecy: `Debug` of a store shows no stored content.
pub async fn a_store_shows_no_body_in_logs(trial: Trial<impl Subject>) {
    trial.record("job_1", "canary").await;
    assert!(!format!("{:?}", trial.store()).contains("canary"));
}

/// No false acknowledgement: after `close`, every call fails with the error that the inbox is closed.
pub async fn a_closed_store_fails_every_call(trial: Trial<impl Subject>) {
    let lease = trial.leased("job_1").await;
    let (store, now) = (trial.store(), trial.now());
    let (entry, bodies) = trial.shown("job_1").await;
    store.expect(vec![Expect::job(job("job_2"), now)]).await.unwrap();
    let shown = store.job(job("job_2")).await.unwrap().unwrap();
    store.intend("post-17", WITHIN, KEY, None).await.unwrap();
    let intent = store.intent("post-17").await.unwrap().unwrap();
    let bucket = store.bucket().await.unwrap();
    let prune = Prune { bodies_before: now, entries_before: now, limit: 1, ..Prune::default() };
    let (poll, call) = (PollLease { id: 1, fence: 1 }, IntentLease { id: 1, fence: 1 });
    store.close().await.unwrap();
    let errors: [(&str, Option<Error>); 36] = [
        ("record", store.record(arrival("job_1", FIRST)).await.err()),
        ("claim", store.claim(CLAIM).await.err()),
        ("extend", store.extend(&[lease], CLAIM.lease).await.err()),
        ("settle", store.settle(lease, Outcome::Done).await.err()),
        ("completion", store.completion(Lease { id: 1, fence: 1 }).err()),
        ("prune", store.prune(prune).await.err()),
        ("counts", store.counts().await.err()),
        ("due_since", store.due_since().await.err()),
        ("list", store.list(Filter::default()).await.err()),
        ("show", store.show(key("job_1")).await.err()),
        ("requeue", store.requeue(vec![(key("job_1"), None)], SystemTime::UNIX_EPOCH).await.err()),
        ("discard", store.discard(vec![key("job_1")], "not wanted".into()).await.err()),
        ("erase", store.erase(vec![job("job_1")]).await.err()),
        ("import", store.import(vec![entry_line(entry, bodies)]).await.err()),
        ("check", store.check().await.err()),
        ("probe", store.probe().await.err()),
        ("close", store.close().await.err()),
        ("intend", store.intend("post-18", WITHIN, KEY, None).await.err()),
        ("order_again", store.order_again("post-17", WITHIN, KEY, None).await.err()),
        ("ordered", store.ordered("post-17", job("job_1"), now, KEY).await.err()),
        ("not_ordered", store.not_ordered(call).await.err()),
        ("outcome_lost", store.outcome_lost(call).await.err()),
        ("abandon", store.abandon("post-17").await.err()),
        ("expect", store.expect(vec![]).await.err()),
        ("claim_polls", store.claim_polls(POLLS).await.err()),
        ("settle_poll", store.settle_poll(poll, PollOutcome::Released, KEY).await.err()),
        ("report", store.report(BucketEvent::Resumed).await.err()),
        ("bucket", store.bucket().await.err()),
        ("job", store.job(job("job_1")).await.err()),
        ("jobs", store.jobs(JobFilter::default()).await.err()),
        ("intent", store.intent("post-17").await.err()),
        ("intents", store.intents(None, 0, 1).await.err()),
        ("ledger_counts", store.ledger_counts().await.err()),
        ("prune_ledger", store.prune_ledger(now, 1).await.err()),
        (
            "import of the ledger",
            store.import(vec![job_line(shown), intent_line(intent)]).await.err(),
        ),
        ("import of the bucket", store.import(vec![ExportLine::Bucket(bucket)]).await.err()),
    ];
    for (call, error) in errors {
        let error = error.unwrap_or_else(|| panic!("{call} succeeds"));
        let reported = (error.to_string(), error.is_transient());
        assert_eq!(reported, ("the inbox is closed".into(), false), "{call}");
    }
}

/// Calls that only read change nothing.
pub async fn looking_changes_nothing(mut trial: Trial<impl Subject>) {
    for state in STATES {
        trial.put(state.as_str(), state).await;
    }
    let before = trial.all().await;
    trial.advance(1);
    let store = trial.store();
    store.counts().await.unwrap();
    store.due_since().await.unwrap();
    store.check().await.unwrap();
    store.show(key(State::Dead.as_str())).await.unwrap();
    assert_eq!(trial.all().await, before);
}
