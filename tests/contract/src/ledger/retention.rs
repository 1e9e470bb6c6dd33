//! What is erased, or removed by retention.

use article_webhook_inbox::{
    IntentState, JobFilter, JobState, LedgerPruned,
    store::{Expect, Intended},
};

use super::steps::{KEY, WITHIN, answered, not_found, with_intent};
use crate::{
    Subject, Trial,
    trial::{FIRST, job},
};

/// The jobs of the ledger, by ascending id.
async fn jobs(trial: &Trial<dyn Subject>) -> Vec<String> {
    let page = trial.store().jobs(JobFilter::default()).await.unwrap();
    page.items.into_iter().map(|job| job.job_id.to_string()).collect()
}

/// The answer to an order may be stored after its job was erased, and once more. The job stays erased, and the intent
/// is ordered.
pub async fn an_answer_to_an_order_does_not_bring_back_what_was_erased(
    mut trial: Trial<dyn Subject>,
) {
    let intents = ["unnoted", "noted", "unknown", "abandoned", "delivered"];
    for name in intents {
        trial.intended(name).await;
    }
    trial.store().ordered("noted", job("noted"), trial.now(), KEY).await.unwrap();
    trial.store().record(with_intent("delivered", "delivered")).await.unwrap();
    trial.advance_by(WITHIN);
    trial.store().abandon("abandoned").await.unwrap();
    for name in intents {
        trial.store().erase(vec![job(name)]).await.unwrap();
        for _ in 0..2 {
            trial.store().ordered(name, job(name), trial.after(600), KEY).await.unwrap();
            assert_eq!(trial.store().job(job(name)).await.unwrap(), None, "{name}");
        }
        let intent = trial.intent(name).await;
        assert_eq!((intent.state, intent.job_id), (IntentState::Ordered, None), "{name}");
    }
    trial.store().ordered("noted", job("another"), trial.after(600), KEY).await.unwrap();
    assert_eq!(trial.state("another").await, JobState::Expected, "it was not erased");
}

pub async fn only_jobs_that_ended_are_pruned(mut trial: Trial<dyn Subject>) {
    trial.expect(Expect::job(job("expected"), trial.after(86_400))).await;
    trial.end("collected", answered(FIRST)).await;
    trial.end("not_found", not_found()).await;
    trial.expect_now("arrived").await;
    trial.record("arrived", FIRST).await;
    trial.polling("polling").await;
    trial.advance(9);
    trial.expect_now("late").await;
    trial.record("late", FIRST).await;
    let pruned = trial.store().prune_ledger(trial.now(), 100).await.unwrap();
    assert_eq!((pruned.jobs, pruned.more), (3, false));
    assert_eq!(jobs(&trial).await, ["expected", "polling", "late"]);
    assert_eq!(trial.all().await.len(), 3, "entries have a retention of their own");
}

/// Retention removes no intent, so that the application that orders it again a year later pays once. The service may have
/// taken the order of one that was abandoned, too.
pub async fn no_intent_is_pruned(mut trial: Trial<dyn Subject>) {
    for name in ["unknown", "abandoned", "ordered"] {
        trial.intended(name).await;
    }
    trial.store().ordered("ordered", job("job_1"), trial.after(600), KEY).await.unwrap();
    trial.advance_by(WITHIN);
    trial.store().abandon("abandoned").await.unwrap();
    trial.advance(86_400);
    let pruned = trial.store().prune_ledger(trial.now(), 100).await.unwrap();
    assert_eq!(pruned, LedgerPruned::default());
    for name in ["unknown", "abandoned", "ordered"] {
        let again = trial.store().intend(name, WITHIN, KEY, None).await.unwrap();
        assert!(matches!(again, Intended::Known(_)), "{again:?}");
    }
}

pub async fn a_batch_removes_the_oldest(mut trial: Trial<dyn Subject>) {
    for id in ["a", "b", "c"] {
        trial.end(id, not_found()).await;
        trial.advance(1);
    }
    let prune = |limit| {
        let (ledger, before) = (trial.store(), trial.now());
        async move {
            let pruned = ledger.prune_ledger(before, limit).await.unwrap();
            (pruned.jobs, pruned.more)
        }
    };
    assert_eq!(prune(2).await, (2, true));
    assert_eq!(jobs(&trial).await, ["c"]);
    assert_eq!(prune(1).await, (1, false));
    assert_eq!(prune(1).await, (0, false));
}

/// A number is never used again, so that a lease of something that was removed holds for nothing else.
pub async fn a_number_is_never_used_again(mut trial: Trial<dyn Subject>) {
    trial.end("job_1", not_found()).await;
    let (old, intent) = (trial.job("job_1").await.id, trial.intended("post-17").await);
    trial.store().not_ordered(intent).await.unwrap();
    trial.advance(1);
    trial.store().prune_ledger(trial.now(), 100).await.unwrap();
    trial.expect_now("job_2").await;
    assert!(trial.job("job_2").await.id > old);
    assert!(trial.intended("post-18").await.id > intent.id);
}
