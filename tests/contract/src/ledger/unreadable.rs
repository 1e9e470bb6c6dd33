//! Answers for entries that no worker can read.

use std::time::Duration;

use article_webhook_inbox::{
    Digest, JobState, Source, State,
    store::{Arrival, Outcome, PollLease, PollOutcome, PollSettled},
};

use super::steps::{again, answered};
use crate::{
    Subject, Trial,
    trial::{FIRST, arrival, bytes, corrupt, damaged, unhandled},
};

/// For how long the API must give nothing but bodies that cannot be read.
const HOURS_72: u64 = 72 * 3600;

/// Delivers a body that cannot be read, and polls the job.
async fn polling(trial: &Trial<dyn Subject>, id: &str, outcome: Outcome) -> PollLease {
    trial.expect_now(id).await;
    trial.record(id, FIRST).await;
    trial.work(id, outcome).await;
    trial.poll(id).await
}

/// The API gives the very body that was delivered and cannot be read, now and after 72 hours.
async fn given_again(trial: &mut Trial<dyn Subject>) -> PollSettled {
    let lease = polling(trial, "job_1", unhandled(1)).await;
    let settled = trial.settle_poll(lease, answered(FIRST)).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Expected), "an outage may be short");
    let shown = trial.job("job_1").await;
    assert_eq!((shown.at, shown.unreadable_since), (trial.after(3600), Some(trial.now())));
    trial.advance(HOURS_72);
    trial.poll_with("job_1", answered(FIRST)).await
}

/// After 72 hours the job ends, for a person to look at.
pub async fn the_body_that_was_delivered_is_unreadable(mut trial: Trial<dyn Subject>) {
    let settled = given_again(&mut trial).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Unreadable));
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.at), (JobState::Unreadable, trial.now()));
    assert!(shown.cause.is_some());
    assert_eq!(trial.entry("job_1").await.state, State::Unhandled);
}

/// A damaged entry is repaired by its body, as often as that is damaged: the article is there, and the API gives it.
pub async fn a_damaged_entry_is_repaired_each_time(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    trial.store().record(damaged("job_1", FIRST)).await.unwrap();
    trial.work("job_1", corrupt(1)).await;
    trial.poll_ends("job_1", answered(FIRST), JobState::Collected).await;
    assert_eq!(trial.bodies("job_1").await, [bytes(FIRST)]);

    for hours in [1, 72, 1] {
        trial.work("job_1", corrupt(1)).await;
        let shown = trial.job("job_1").await;
        assert_eq!((shown.state, shown.at), (JobState::Expected, trial.after(3600)));
        trial.advance(hours * 3600);
        trial.poll_ends("job_1", answered(FIRST), JobState::Collected).await;
        assert_eq!(trial.entry("job_1").await.state, State::Waiting);
    }
}

/// The API gives another body at each poll, and none can be read. That ends the job after 72 hours, also if nothing was
/// delivered.
pub async fn bodies_of_the_api_that_cannot_be_read_end_a_job(mut trial: Trial<dyn Subject>) {
    for id in ["job_1", "job_2"] {
        trial.expect_now(id).await;
        let since = trial.job(id).await.expected_at;
        if id == "job_2" {
            trial.record(id, FIRST).await;
            trial.work(id, unhandled(1)).await;
        }
        for (body, hours) in [("1", 1), ("2", 71), ("3", 1)] {
            trial.advance(hours * 3600);
            trial.poll_ends(id, answered(body), JobState::Collected).await;
            let seen = trial.bodies(id).await.len();
            trial.work(id, unhandled(seen)).await;
            let shown = trial.job(id).await;
            let expected = if body == "3" { JobState::Unreadable } else { JobState::Expected };
            assert_eq!((shown.state, shown.expected_at), (expected, since), "{id} {body}");
        }
        assert!(trial.job(id).await.cause.is_some(), "{id}");
    }
}

/// They are not recorded, and end the job after 72 hours as well, unless the service says meanwhile that it works on it.
pub async fn bodies_of_the_api_that_are_refused_end_a_job(mut trial: Trial<dyn Subject>) {
    let after = Duration::from_secs(30);
    let rejected = PollOutcome::Rejected { after, cause: "a key twice".into() };
    let unfinished = PollOutcome::Unfinished { after, cause: "it is queued".into() };
    let again = again(30);
    trial.expect_now("job_1").await;
    for (hours, outcome, state) in [
        (1, &rejected, JobState::Expected),
        (72, &unfinished, JobState::Expected),
        (1, &rejected, JobState::Expected),
        (71, &again, JobState::Expected),
        (0, &rejected, JobState::Expected),
        (1, &rejected, JobState::Unreadable),
    ] {
        trial.advance((hours * 3600).max(30));
        trial.poll_ends("job_1", outcome.clone(), state).await;
        if state == JobState::Expected {
            assert_eq!(trial.job("job_1").await.at, trial.after(30));
        }
    }
    assert!(trial.all().await.is_empty());
}

pub async fn a_delivery_ends_an_unreadable_job(mut trial: Trial<dyn Subject>) {
    given_again(&mut trial).await;
    trial.record("job_1", FIRST).await;
    assert_eq!(trial.state("job_1").await, JobState::Unreadable, "it is the same body");
    trial.record("job_1", "[]").await;
    assert_eq!(trial.state("job_1").await, JobState::Arrived);
}

/// A body that the API gave never takes the place of one that was delivered: it is kept beyond the limit, and worked on. One
/// that is delivered later does not take its place.
pub async fn a_body_of_the_api_is_kept_beside_delivered_ones(trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    let delivered = [FIRST, "1", "2", "3"];
    for body in delivered {
        trial.record("job_1", body).await;
    }
    trial.work("job_1", unhandled(4)).await;
    trial.poll_ends("job_1", answered("[]"), JobState::Collected).await;
    assert_eq!(trial.bodies("job_1").await, [FIRST, "1", "2", "3", "[]"].map(bytes));
    assert_eq!(trial.entry("job_1").await.state, State::Waiting);
    trial.work("job_1", unhandled(5)).await;
    trial.record("job_1", "4").await;
    assert_eq!(trial.bodies("job_1").await, [FIRST, "1", "2", "4", "[]"].map(bytes));
}

/// A body that the API gave takes the place of the last such body, if the entry is full.
pub async fn a_body_of_the_api_replaces_such_a_body(trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    let stored =
        [(FIRST, Source::Webhook), ("1", Source::Api), ("2", Source::Api), ("3", Source::Webhook)];
    for (body, source) in stored {
        trial.store().record(Arrival { source, ..arrival("job_1", body) }).await.unwrap();
    }
    trial.work("job_1", unhandled(4)).await;
    trial.poll_ends("job_1", answered("[]"), JobState::Collected).await;
    let (_, bodies) = trial.shown("job_1").await;
    let kept: Vec<_> = bodies.iter().map(|body| (body.digest, body.source)).collect();
    let of = |body: &str, source| (Digest::of(body.as_bytes()), source);
    let expected = [
        of(FIRST, Source::Webhook),
        of("1", Source::Api),
        of("[]", Source::Api),
        of("3", Source::Webhook),
    ];
    assert_eq!(kept, expected);
}
