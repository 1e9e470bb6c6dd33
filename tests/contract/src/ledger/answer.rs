//! Answers of the API that are recorded.

use article_webhook_inbox::{
    EntryKey, IntentState, JobState, Source, State,
    store::{Arrival, Expect, Outcome, PollSettled, Settled},
};

use super::steps::{KEY, POLLS, answered, failed};
use crate::{
    Subject, Trial,
    trial::{FIRST, arrival, bytes, job, unhandled},
};

/// An answer with the article is recorded as a delivery is, with its source and the job's intent.
pub async fn an_article_of_the_api_is_recorded(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    trial.store().ordered("post-17", job("job_1"), trial.now(), KEY).await.unwrap();
    let lease = trial.poll("job_1").await;
    trial.advance(1);
    let settled = trial.settle_poll(lease, answered(FIRST)).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Collected));
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.at), (JobState::Collected, trial.now()));
    assert_eq!((shown.collected_at, shown.pushed_at), (Some(trial.now()), None));

    let (entry, bodies) = trial.shown("job_1").await;
    assert_eq!((entry.state, entry.at), (State::Waiting, trial.now()));
    let (target, intent) = ("api".into(), Some("post-17".into()));
    let sent = Arrival { source: Source::Api, target, intent, ..arrival("job_1", FIRST) };
    assert_eq!(bodies, [sent.into_body(trial.now())]);
    assert_eq!(trial.intent("post-17").await.state, IntentState::Ordered);
}

/// A failure is an entry of its own, with the raw answer, so that a worker can notify the application.
pub async fn a_failure_is_recorded_under_its_own_event(trial: Trial<dyn Subject>) {
    let settled = trial.end("job_1", failed("{failed}")).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Failed));
    let shown = trial.job("job_1").await;
    assert_eq!(
        (shown.state, shown.cause.as_deref()),
        (JobState::Failed, Some("generation_failed"))
    );

    let key = EntryKey::failure(job("job_1"));
    let (entry, bodies) = trial.store().show(key).await.unwrap().expect("the failure is stored");
    assert_eq!((entry.state, entry.at), (State::Waiting, trial.now()));
    assert_eq!((bodies[0].bytes.clone(), bodies[0].source), (bytes("{failed}"), Source::Api));
    assert_eq!(trial.all().await.len(), 1, "there is no article");
}

/// A job that was opened again failed again. What the service reports now is handed out, whatever became of what it reported
/// before. The very same answer is not.
pub async fn another_failure_is_handed_out(trial: Trial<dyn Subject>) {
    let dead = || Outcome::Dead { cause: "no author".into() };
    let key = EntryKey::failure(job("job_1"));
    for (first, second, outcome) in [
        ("{1}", "{2}", Some(Outcome::Done)),
        ("{2}", "{3}", Some(dead())),
        ("{3}", "{4}", Some(unhandled(1))),
        ("{4}", "{5}", None),
    ] {
        trial.end("job_1", failed(first)).await;
        let lease = trial.claim().await.claimed.remove(0).lease;
        if let Some(outcome) = outcome {
            trial.settle(lease, outcome).await;
            let before = trial.store().show(key.clone()).await.unwrap();
            trial.end("job_1", failed(first)).await;
            assert_eq!(trial.store().show(key.clone()).await.unwrap(), before, "it was reported");
        }
        trial.end("job_1", failed(second)).await;
        assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::LostLease);
        let claimed = trial.claim().await.claimed.remove(0);
        let claimed_bodies: Vec<_> = claimed.bodies.iter().map(|body| body.bytes.clone()).collect();
        assert_eq!((claimed.attempt, claimed_bodies), (1, vec![bytes(second)]));
        trial.settle(claimed.lease, Outcome::Done).await;
        trial.store().erase(vec![job("job_1")]).await.unwrap();
    }
}

/// A failure that no handler has ended with is not handed out once the article is there, whichever route that took.
pub async fn a_failure_that_an_article_overtook_is_not_handed_out(mut trial: Trial<dyn Subject>) {
    let key = EntryKey::failure(job("job_1"));
    for is_polled in [false, true] {
        for state in [State::Waiting, State::Leased, State::Done] {
            trial.end("job_1", failed("{failed}")).await;
            let mut lease = None;
            if state != State::Waiting {
                lease = trial.claim().await.claimed.pop().map(|claimed| claimed.lease);
            }
            if let (State::Done, Some(lease)) = (state, lease) {
                trial.settle(lease, Outcome::Done).await;
            }
            if is_polled {
                trial.end("job_1", answered(FIRST)).await;
            } else {
                trial.record("job_1", FIRST).await;
            }
            let failure = trial.store().show(key.clone()).await.unwrap();
            assert_eq!(failure.is_some(), state == State::Done, "{state}");
            if let (State::Leased, Some(lease)) = (state, lease) {
                assert_eq!(trial.settle(lease, Outcome::Done).await, Settled::LostLease);
            }
            trial.advance(1);
            trial.work("job_1", Outcome::Done).await;
            trial.store().erase(vec![job("job_1")]).await.unwrap();
        }
    }
}

/// Fencing: of a poll that has ended, nothing is stored.
pub async fn the_answer_of_a_lost_poll_is_not_stored(mut trial: Trial<dyn Subject>) {
    for outcome in [answered(FIRST), failed("{failed}")] {
        let first = trial.polling("job_1").await;
        trial.advance_by(POLLS.lease);
        let ended = trial.job("job_1").await;
        assert_eq!(trial.settle_poll(first, outcome.clone()).await, PollSettled::LostLease);
        assert_eq!(trial.job("job_1").await, ended);

        let second = trial.poll("job_1").await;
        let polled = trial.job("job_1").await;
        assert_eq!(trial.settle_poll(first, outcome.clone()).await, PollSettled::LostLease);
        assert_eq!(trial.job("job_1").await, polled);
        assert!(trial.all().await.is_empty());
        trial.settle_poll(second, super::steps::not_found()).await;
    }
}

/// Erasing is for good: the answer to a poll that was under way does not bring the job back, nor does it end the poll
/// of another job.
pub async fn an_answer_does_not_bring_back_what_was_erased(trial: Trial<dyn Subject>) {
    for outcome in [answered(FIRST), failed("{failed}")] {
        let lease = trial.polling("job_1").await;
        trial.store().erase(vec![job("job_1")]).await.unwrap();
        assert_eq!(trial.settle_poll(lease, outcome.clone()).await, PollSettled::LostLease);
        assert!(trial.all().await.is_empty());
        assert_eq!(trial.store().job(job("job_1")).await.unwrap(), None);

        let other = trial.polling("job_1").await;
        assert_eq!(trial.settle_poll(lease, outcome).await, PollSettled::LostLease);
        trial.settle_poll(other, super::steps::not_found()).await;
        trial.store().erase(vec![job("job_1")]).await.unwrap();
    }
}

/// A body that is added to an entry in hand leaves its job as it is, whichever route it took.
pub async fn a_later_body_changes_no_job(trial: Trial<dyn Subject>) {
    trial.expect(Expect::job(job("job_1"), trial.now())).await;
    trial.record("job_1", FIRST).await;
    let before = trial.job("job_1").await;
    let polled = Arrival { source: Source::Api, ..arrival("job_1", "[]") };
    trial.store().record(polled).await.unwrap();
    assert_eq!(trial.job("job_1").await, before);
}
