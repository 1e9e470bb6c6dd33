//! Outcomes of polls that record nothing.

use std::time::Duration;

use article_webhook_inbox::{
    JobState, Missing,
    store::{PollOutcome, PollSettled},
};

use super::steps::{KEY, again, answered, failed, not_found};
use crate::{
    Subject, Trial,
    trial::{FIRST, changed, job},
};

fn missing(seconds: u64) -> PollOutcome {
    PollOutcome::Missing { after: Duration::from_secs(seconds), cause: "job_not_found".into() }
}

fn unfinished(seconds: u64) -> PollOutcome {
    PollOutcome::Unfinished { after: Duration::from_secs(seconds), cause: "it is queued".into() }
}

pub async fn a_job_is_polled_again_after_its_pause(mut trial: Trial<dyn Subject>) {
    for (id, outcome, cause) in [
        ("again", again(30), Some("status 503")),
        ("missing", missing(30), Some("job_not_found")),
        ("unfinished", unfinished(30), Some("it is queued")),
    ] {
        let lease = trial.polling(id).await;
        let polling = trial.job(id).await;
        trial.advance(1);
        let settled = trial.settle_poll(lease, outcome).await;
        assert_eq!(settled, PollSettled::Settled(JobState::Expected));
        let since = trial.now();
        let missing = (id == "missing").then_some(Missing::new(1, since));
        let key = (id == "unfinished").then_some(KEY);
        let mut expected = polling;
        expected.state = JobState::Expected;
        expected.at = trial.after(30);
        expected.cause = cause.map(Into::into);
        expected.key = key;
        expected.missing = missing;
        assert_eq!(trial.job(id).await, expected);
        trial.advance(30);
        trial.poll_with(id, not_found()).await;
    }
}

/// It is counted how often in a row the service did not know the job. A failed poll does not end the row.
pub async fn a_job_that_is_missing_is_counted(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    let since = trial.now();
    for (outcome, times) in [
        (missing(1), Some(1)),
        (again(1), Some(1)),
        (missing(1), Some(2)),
        (unfinished(1), None),
        (again(1), None),
    ] {
        trial.poll_with("job_1", outcome).await;
        let expected = times.map(|times| Missing::new(times, since));
        assert_eq!(trial.job("job_1").await.missing, expected);
        trial.advance(1);
    }
}

/// A key of another account knows none of the jobs of this one. The key of a job is the one that it was ordered with, or with
/// which the service reported its state last.
pub async fn a_key_that_never_knew_a_job_does_not_miss_it(trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    trial.store().ordered("post-17", job("ordered"), trial.now(), KEY).await.unwrap();
    for (id, outcome, key, known, times) in [
        ("ordered", missing(0), KEY + 1, Some(KEY), None),
        ("ordered", missing(0), KEY, Some(KEY), Some(1)),
        ("ordered", missing(0), KEY + 1, Some(KEY), Some(1)),
        ("ordered", unfinished(0), KEY + 1, Some(KEY + 1), None),
        ("ordered", missing(0), KEY, Some(KEY + 1), None),
        ("ordered", failed("{failed}"), KEY, Some(KEY), None),
        // Of a job that was ordered elsewhere, no key is known.
        ("expected", missing(0), KEY + 1, None, Some(1)),
        ("expected", missing(0), KEY, None, Some(2)),
        // What is read as an article may be a proxy's.
        ("expected", answered(FIRST), KEY, None, None),
    ] {
        if id == "expected" && times == Some(1) {
            trial.expect_now(id).await;
        }
        let lease = trial.poll(id).await;
        let named = format!("{id} {outcome:?} {key}");
        trial.store().settle_poll(lease, outcome, key).await.unwrap();
        let shown = trial.job(id).await;
        assert_eq!(
            (shown.key, shown.missing.map(|missing| missing.times)),
            (known, times),
            "{named}"
        );
    }
}

/// A poll that was not sent does not count, and its job is due now.
pub async fn a_poll_that_was_not_sent_does_not_count(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    let before = trial.job("job_1").await;
    let lease = trial.poll("job_1").await;
    trial.advance(1);
    let settled = trial.settle_poll(lease, PollOutcome::Released).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Expected));
    assert_eq!(trial.job("job_1").await, changed(before, |before| before.at = trial.now()));
    trial.poll("job_1").await;
}
