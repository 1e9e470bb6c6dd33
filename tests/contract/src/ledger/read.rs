//! What the ledger shows.

use std::time::Duration;

use article_webhook_inbox::{IntentState, JobFilter, JobState, LedgerCounts, store::Expect};

use super::steps::{KEY, WITHIN, answered, failed, not_found};
use crate::{
    Subject, Trial,
    trial::{FIRST, job},
};

async fn counts(trial: &Trial<dyn Subject>) -> LedgerCounts {
    trial.store().ledger_counts().await.unwrap()
}

async fn jobs(trial: &Trial<dyn Subject>, filter: JobFilter) -> Vec<String> {
    let page = trial.store().jobs(filter).await.unwrap();
    page.items.into_iter().map(|job| job.job_id.to_string()).collect()
}

pub async fn jobs_are_counted_by_state(mut trial: Trial<dyn Subject>) {
    trial.end("collected", answered(FIRST)).await;
    trial.end("failed", failed("{failed}")).await;
    trial.end("not_found", not_found()).await;
    trial.expect_now("arrived").await;
    trial.record("arrived", FIRST).await;
    trial.advance(9);
    trial.polling("polling").await;
    let oldest = trial.now();
    trial.advance(9);
    trial.expect_now("expected_1").await;
    trial.expect_now("expected_2").await;
    let counts = counts(&trial).await;
    for &state in JobState::ALL {
        let expected = match state {
            JobState::Expected => 2,
            JobState::Unreadable => 0,
            _ => 1,
        };
        assert_eq!(counts.of(state), expected, "{state}");
    }
    assert_eq!((counts.open(), counts.oldest_expected), (3, Some(oldest)));
}

/// A job is overdue 72 hours after it was expected, and is polled even so.
pub async fn a_job_without_an_end_is_overdue(mut trial: Trial<dyn Subject>) {
    let limit = Duration::from_secs(72 * 3600);
    trial.end("job_2", not_found()).await;
    trial.expect_now("job_1").await;
    trial.advance_by(limit - Duration::from_millis(1));
    assert_eq!(counts(&trial).await.overdue, 0);
    trial.advance_by(Duration::from_millis(1));
    assert_eq!(counts(&trial).await.overdue, 1);
    trial.poll("job_1").await;
    assert_eq!(counts(&trial).await.overdue, 1, "a poll is no end");
}

pub async fn unknown_intents_are_counted(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    assert_eq!(counts(&trial).await.unknown_intents, 0);
    trial.advance_by(WITHIN);
    trial.intended("post-18").await;
    trial.store().ordered("post-19", job("job_1"), trial.after(600), KEY).await.unwrap();
    assert_eq!(counts(&trial).await.unknown_intents, 1);
    trial.store().abandon("post-17").await.unwrap();
    assert_eq!(counts(&trial).await.unknown_intents, 0);
}

/// A job is recovered if the service delivers nothing until 400 seconds after the collection. It is not counted before.
pub async fn a_recovered_job_is_counted_when_no_push_can_come(mut trial: Trial<dyn Subject>) {
    for id in ["alone", "in_time", "late"] {
        trial.end(id, answered(FIRST)).await;
    }
    trial.advance(399);
    trial.record("in_time", FIRST).await;
    assert_eq!(counts(&trial).await.recovered, 0);
    trial.advance(1);
    assert_eq!(counts(&trial).await.recovered, 2);
    trial.advance_by(Duration::from_millis(1));
    trial.record("late", FIRST).await;
    assert_eq!(counts(&trial).await.recovered, 2, "that was no delivery of the first time");
    trial.expect_now("arrived").await;
    trial.record("arrived", FIRST).await;
    trial.advance(400);
    assert_eq!(counts(&trial).await.recovered, 2, "an arrival needed no collection");
}

pub async fn a_list_of_jobs_is_filtered(mut trial: Trial<dyn Subject>) {
    trial.end("a", not_found()).await;
    trial.advance(1);
    trial.store().ordered("post-17", job("b"), trial.after(600), KEY).await.unwrap();
    trial.advance(1);
    trial.expect(Expect::job(job("c"), trial.after(600))).await;
    let all = JobFilter::default();
    assert_eq!(jobs(&trial, all.clone()).await, ["a", "b", "c"]);
    let open = JobFilter { state: Some(JobState::Expected), ..all.clone() };
    assert_eq!(jobs(&trial, open).await, ["b", "c"]);
    let ordered = JobFilter { intent: Some("post-17".into()), ..all.clone() };
    assert_eq!(jobs(&trial, ordered).await, ["b"]);
    let old = JobFilter { expected_before: Some(trial.now()), ..all };
    assert_eq!(jobs(&trial, old.clone()).await, ["a", "b"]);
    for (after, expected, next) in [(0, "a", true), (trial.job("a").await.id, "b", false)] {
        let page = trial.store().jobs(JobFilter { after, limit: 1, ..old.clone() }).await.unwrap();
        assert_eq!(page.items[0].job_id, job(expected));
        assert_eq!(page.next, next.then_some(page.items[0].id));
    }
}

pub async fn a_list_of_intents_is_filtered(mut trial: Trial<dyn Subject>) {
    for name in ["c", "a"] {
        trial.intended(name).await;
    }
    trial.advance_by(WITHIN);
    for name in ["d", "b"] {
        trial.intended(name).await;
    }
    let ledger = trial.store();
    let names = |state, after, limit| {
        let ledger = ledger.clone();
        async move {
            let page = ledger.intents(state, after, limit).await.unwrap();
            let names = page.items.into_iter().map(|intent| intent.name.to_string());
            (names.collect::<Vec<_>>(), page.next)
        }
    };
    let unknown = names(Some(IntentState::Unknown), 0, 100).await;
    assert_eq!(unknown.0, ["c", "a"]);
    assert_eq!(names(Some(IntentState::Ordering), 0, 100).await.0, ["d", "b"]);
    let (first, next) = names(None, 0, 2).await;
    assert_eq!(first, ["c", "a"]);
    let rest = names(None, next.expect("there is more"), 2).await;
    assert_eq!(rest, (vec!["d".into(), "b".into()], None));
}
