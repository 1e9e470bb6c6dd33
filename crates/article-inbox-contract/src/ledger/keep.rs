//! What is forgotten, removed by retention, or imported.

use article_inbox::{
    ExpectedJob, Intent, IntentState, JobFilter, JobState, LedgerPruned, State,
    store::{AskSettled, Bucket, BucketEvent, Expect, Intended},
};

use super::steps::{AMPLE, ASKS, KEY, WITHIN, again, answered, not_found, with_intent};
use crate::{
    LedgerSubject, Trial,
    trial::{FIRST, job},
};

/// The jobs of the ledger, by ascending id.
async fn jobs(trial: &Trial<impl LedgerSubject>) -> Vec<String> {
    let page = trial.ledger().jobs(JobFilter::default()).await.unwrap();
    page.items.into_iter().map(|job| job.job_id.to_string()).collect()
}

/// A forgotten job is gone from the ledger. Its intent stays ordered, without the job, so that it is not ordered again.
pub async fn a_forgotten_job_leaves_its_intent_ordered(trial: Trial<impl LedgerSubject>) {
    for (name, id) in [("post-17", "job_1"), ("post-18", "job_2")] {
        trial.intended(name).await;
        trial.ledger().ordered(name, job(id), trial.now(), KEY).await.unwrap();
    }
    let before = trial.intent("post-17").await;
    trial.store().forget(job("job_1")).await.unwrap();
    assert_eq!(jobs(&trial).await, ["job_2"]);
    assert_eq!(trial.intent("post-17").await, Intent { job_id: None, ..before });
    assert_eq!(trial.intent("post-18").await.job_id, Some(job("job_2")));
    assert_eq!(trial.asked(ASKS).await, ["job_2"]);
}

/// The answer to an order may be stored after its job was forgotten, and once more. The job stays forgotten, and the intent
/// is ordered.
pub async fn an_answer_to_an_order_does_not_bring_back_what_was_forgotten(
    mut trial: Trial<impl LedgerSubject>,
) {
    let intents = ["unnoted", "noted", "unknown", "abandoned", "delivered"];
    for name in intents {
        trial.intended(name).await;
    }
    trial.ledger().ordered("noted", job("noted"), trial.now(), KEY).await.unwrap();
    trial.store().record(with_intent("delivered", "delivered")).await.unwrap();
    trial.advance_by(WITHIN);
    trial.ledger().abandon("abandoned").await.unwrap();
    for name in intents {
        trial.store().forget(job(name)).await.unwrap();
        for _ in 0..2 {
            trial.ledger().ordered(name, job(name), trial.after(600), KEY).await.unwrap();
            assert_eq!(trial.ledger().job(job(name)).await.unwrap(), None, "{name}");
        }
        let intent = trial.intent(name).await;
        assert_eq!((intent.state, intent.job_id), (IntentState::Ordered, None), "{name}");
    }
    trial.ledger().ordered("noted", job("another"), trial.after(600), KEY).await.unwrap();
    assert_eq!(trial.state("another").await, JobState::Expected, "it was not forgotten");
}

/// A job that was forgotten may be expected again, under a new id.
pub async fn a_forgotten_job_may_be_expected_again(trial: Trial<impl LedgerSubject>) {
    trial.end("job_1", answered(FIRST)).await;
    let before = trial.job("job_1").await;
    trial.store().forget(job("job_1")).await.unwrap();
    trial.expect_now("job_1").await;
    let after = trial.job("job_1").await;
    assert!(after.id > before.id);
    assert_eq!((after.asks, after.collected_at), (0, None));
}

/// Retention removes jobs that ended before its limit, and never an open one.
pub async fn only_jobs_that_ended_are_pruned(mut trial: Trial<impl LedgerSubject>) {
    trial.expect(Expect::job(job("expected"), trial.after(86_400))).await;
    trial.end("collected", answered(FIRST)).await;
    trial.end("not_found", not_found()).await;
    trial.expect_now("arrived").await;
    trial.record("arrived", FIRST).await;
    trial.asking("asking").await;
    trial.advance(9);
    trial.expect_now("late").await;
    trial.record("late", FIRST).await;
    let pruned = trial.ledger().prune_ledger(trial.now(), 100).await.unwrap();
    assert_eq!(pruned, LedgerPruned { jobs: 3, more: false });
    assert_eq!(jobs(&trial).await, ["expected", "asking", "late"]);
    assert_eq!(trial.all().await.len(), 3, "entries have a retention of their own");
}

/// Retention removes no intent, so that the application that orders it again a year later pays once. The service may have
/// taken the order of one that was abandoned, too.
pub async fn no_intent_is_pruned(mut trial: Trial<impl LedgerSubject>) {
    for name in ["unknown", "abandoned", "ordered"] {
        trial.intended(name).await;
    }
    trial.ledger().ordered("ordered", job("job_1"), trial.after(600), KEY).await.unwrap();
    trial.advance_by(WITHIN);
    trial.ledger().abandon("abandoned").await.unwrap();
    trial.advance(86_400);
    let pruned = trial.ledger().prune_ledger(trial.now(), 100).await.unwrap();
    assert_eq!(pruned, LedgerPruned::default());
    for name in ["unknown", "abandoned", "ordered"] {
        let again = trial.ledger().intend(name, WITHIN, AMPLE).await.unwrap();
        assert!(matches!(again, Intended::Known(_)), "{again:?}");
    }
}

/// A batch removes the oldest, and says whether there is more.
pub async fn a_batch_removes_the_oldest(mut trial: Trial<impl LedgerSubject>) {
    for id in ["a", "b", "c"] {
        trial.end(id, not_found()).await;
        trial.advance(1);
    }
    let prune = |limit| {
        let (ledger, before) = (trial.ledger(), trial.now());
        async move { ledger.prune_ledger(before, limit).await.unwrap() }
    };
    assert_eq!(prune(2).await, LedgerPruned { jobs: 2, more: true });
    assert_eq!(jobs(&trial).await, ["c"]);
    assert_eq!(prune(1).await, LedgerPruned { jobs: 1, more: false });
    assert_eq!(prune(1).await, LedgerPruned::default());
}

/// A number is never used again, so that a lease of something that was removed holds for nothing else.
pub async fn a_number_is_never_used_again(mut trial: Trial<impl LedgerSubject>) {
    trial.end("job_1", not_found()).await;
    let (old, intent) = (trial.job("job_1").await.id, trial.intended("post-17").await);
    trial.ledger().not_ordered(intent).await.unwrap();
    trial.advance(1);
    trial.ledger().prune_ledger(trial.now(), 100).await.unwrap();
    trial.expect_now("job_2").await;
    assert!(trial.job("job_2").await.id > old);
    assert!(trial.intended("post-18").await.id > intent.id);
}

/// An imported job is as it was shown, but for its id and its lease.
pub async fn an_imported_job_is_as_it_was_shown(mut trial: Trial<impl LedgerSubject>) {
    let lease = trial.asking("expected").await;
    trial.settle_ask(lease, again(600)).await;
    trial.end("collected", answered(FIRST)).await;
    trial.leave("collected").await;
    trial.end("not_found", not_found()).await;
    let lease = trial.asking("asking").await;
    trial.advance(9);
    for id in ["expected", "collected", "not_found", "asking"] {
        let shown = trial.job(id).await;
        trial.store().forget(job(id)).await.unwrap();
        assert!(trial.ledger().import_job(shown.clone()).await.unwrap());
        let imported = trial.job(id).await;
        assert!(imported.id > shown.id);
        let expected = match id {
            "asking" => article_inbox::ExpectedJob {
                state: JobState::Expected,
                at: trial.now(),
                ..shown.clone()
            },
            _ => shown.clone(),
        };
        assert_eq!(imported, article_inbox::ExpectedJob { id: imported.id, ..expected });
        assert!(!trial.ledger().import_job(shown).await.unwrap(), "it is there");
        assert_eq!(trial.job(id).await, imported);
    }
    assert_eq!(trial.settle_ask(lease, not_found()).await, AskSettled::LostLease);
}

/// An imported job whose article is here has ended.
pub async fn an_imported_job_may_have_arrived(trial: Trial<impl LedgerSubject>) {
    for (state, expected) in
        [(State::Done, JobState::Arrived), (State::Unhandled, JobState::Expected)]
    {
        let id = state.as_str();
        trial.expect(Expect::job(job(id), trial.after(600))).await;
        let shown = trial.job(id).await;
        trial.store().forget(job(id)).await.unwrap();
        trial.put(id, state).await;
        assert!(trial.ledger().import_job(shown).await.unwrap());
        assert_eq!(trial.state(id).await, expected);
    }
}

/// An imported intent is as it was shown, but for its id, and it does not order twice.
pub async fn an_imported_intent_is_as_it_was_shown(mut trial: Trial<impl LedgerSubject>) {
    trial.intended("post-17").await;
    trial.ledger().ordered("post-18", job("job_1"), trial.after(600), KEY).await.unwrap();
    trial.advance_by(WITHIN);
    for (name, state) in [("post-17", IntentState::Unknown), ("post-18", IntentState::Ordered)] {
        let shown = trial.intent(name).await;
        assert_eq!(shown.state, state);
        assert!(!trial.ledger().import_intent(shown.clone()).await.unwrap(), "it is there");
        let copy = Intent { name: format!("copy of {name}").into(), ..shown.clone() };
        assert!(trial.ledger().import_intent(copy.clone()).await.unwrap());
        let imported = trial.intent(&copy.name).await;
        assert!(imported.id > shown.id);
        assert_eq!(imported, Intent { id: imported.id, ..copy });
    }
    trial.store().record(with_intent("job_2", "copy of post-17")).await.unwrap();
    assert_eq!(trial.intent("copy of post-17").await.job_id, Some(job("job_2")));
}

/// An intent that was moved while its order was under way is known after a second move, and is not ordered again.
pub async fn an_import_brings_what_became_of_an_intent(mut trial: Trial<impl LedgerSubject>) {
    trial.intended("post-17").await;
    let ordered = Intent {
        state: IntentState::Ordered,
        job_id: Some(job("job_1")),
        at: trial.now(),
        ..trial.intent("post-17").await
    };
    trial.advance_by(WITHIN);
    assert_eq!(trial.intent("post-17").await.state, IntentState::Unknown);
    assert!(!trial.ledger().import_intent(ordered.clone()).await.unwrap(), "it is there");
    assert_eq!(trial.intent("post-17").await, ordered);
    let other = Intent { job_id: Some(job("job_2")), ..ordered.clone() };
    assert!(!trial.ledger().import_intent(other).await.unwrap());
    assert_eq!(trial.intent("post-17").await, ordered, "its job was known");
}

/// An order may be answered between the lines of an export: its intent comes without a job, and then the job.
pub async fn an_imported_job_resolves_its_intent(trial: Trial<impl LedgerSubject>) {
    trial.intended("post-17").await;
    trial.expect_now("job_1").await;
    let shown = ExpectedJob { intent: Some("post-17".into()), ..trial.job("job_1").await };
    let other = ExpectedJob { job_id: job("job_2"), ..shown.clone() };
    for (imported, is_new) in [(shown, false), (other, true)] {
        assert_eq!(trial.ledger().import_job(imported).await.unwrap(), is_new);
        let known = trial.intent("post-17").await;
        assert_eq!((known.state, known.job_id), (IntentState::Ordered, Some(job("job_1"))));
    }
}

/// An imported bucket takes away what the other store used up, and gives nothing, nor does the first ask or order after it.
pub async fn an_imported_bucket_gives_nothing(trial: Trial<impl LedgerSubject>) {
    let mut refused = Bucket::new(trial.now());
    let event = BucketEvent::KeyRefused { key: KEY };
    refused.report(event, trial.now());
    trial.ledger().import_bucket(refused.clone()).await.unwrap();
    trial.expect_now("job_1").await;
    assert!(trial.claim_asks(ASKS).await.asks.is_empty());
    let intended = trial.ledger().intend("post-17", WITHIN, AMPLE).await.unwrap();
    assert_eq!(intended, Intended::Paused(refused.paused(KEY, trial.now()).unwrap()));
    trial.ledger().report(BucketEvent::Resumed).await.unwrap();

    trial.intended("post-17").await;
    let mut expected = trial.ledger().bucket().await.unwrap();
    let mut other = Bucket { used: 5000, ..Bucket::new(trial.now()) };
    other.report(event, trial.now());
    for imported in [other.clone(), Bucket::new(trial.now())] {
        expected.import(&imported, trial.now());
        trial.ledger().import_bucket(imported).await.unwrap();
        assert_eq!(trial.ledger().bucket().await.unwrap(), expected);
    }
    assert_eq!((expected.used, expected.refused), (5000, other.refused));
}
