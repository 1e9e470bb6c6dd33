//! Jobs that are polled.

use std::time::Duration;

use article_webhook_inbox::{
    JobState,
    store::{BucketSettings, Expect, Poll, PollClaim, PollOutcome, PollSettled, Polls},
};

use super::steps::{POLLS, again};
use crate::{Subject, Trial, trial::job};

/// A bucket with this many tokens, and no more for a minute.
fn tokens(burst: u32) -> PollClaim {
    PollClaim { bucket: BucketSettings { per_minute: 1, burst, ..POLLS.bucket }, ..POLLS }
}

/// A job is polled when its time has come. The poll holds the lease of the job, and counts when it begins.
pub async fn a_job_is_polled_under_a_lease(mut trial: Trial<dyn Subject>) {
    trial.expect(Expect::job(job("job_1"), trial.after(600))).await;
    let before = trial.job("job_1").await;
    trial.advance_by(Duration::from_millis(599_999));
    let early = trial.claim_polls(POLLS).await;
    assert_eq!((early.polls.len(), early.next), (0, Some(before.at)));
    trial.advance_by(Duration::from_millis(1));
    let Polls { polls, next } = trial.claim_polls(POLLS).await;
    let [Poll { lease, job }] = &polls[..] else { panic!("one: {polls:?}") };
    let at = trial.now() + POLLS.lease;
    let mut polling = before.clone();
    polling.state = JobState::Polling;
    polling.polls = 1;
    polling.at = at;
    assert_eq!((job, lease.id, next), (&polling, before.id, None));
    assert_eq!(trial.job("job_1").await, polling);
    assert!(trial.polled(POLLS).await.is_empty(), "one polls");
}

/// What has been due longest comes first, whether it was polled before or not, and of these the smallest id; and no more
/// than the limit.
pub async fn what_is_due_longest_is_polled_first(mut trial: Trial<dyn Subject>) {
    trial.expect_now("b").await;
    trial.poll_with("b", again(2)).await;
    for (id, seconds) in [("c", 3), ("a", 1), ("d", 3), ("e", 9)] {
        trial.expect(Expect::job(job(id), trial.after(seconds))).await;
    }
    trial.advance(5);
    assert_eq!(trial.polled(PollClaim { limit: 3, ..POLLS }).await, ["a", "b", "c"]);
    let rest = trial.claim_polls(POLLS).await;
    assert_eq!((rest.polls.len(), rest.next), (1, Some(trial.after(4))));
    assert_eq!(trial.polled(PollClaim { limit: 0, ..POLLS }).await.len(), 0);
}

/// An attempt limit would turn "not yet" into "never".
pub async fn no_number_of_polls_ends_a_job(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    for polls in 1..=100 {
        let lease = trial.poll("job_1").await;
        let expected = PollSettled::Settled(JobState::Expected);
        assert_eq!(trial.settle_poll(lease, again(86_400)).await, expected);
        assert_eq!(trial.job("job_1").await.polls, polls);
        trial.advance(86_400);
    }
}

/// Each poll takes a token, with the claim; and a poll that was not sent does not give it back.
pub async fn a_poll_takes_a_token(mut trial: Trial<dyn Subject>) {
    for _ in 0..3 {
        assert!(trial.polled(tokens(2)).await.is_empty(), "a claim of nothing takes none");
    }
    for id in ["a", "b", "c", "d"] {
        trial.expect_now(id).await;
    }
    let two = trial.claim_polls(tokens(2)).await;
    let minute = trial.now() + Duration::from_secs(60);
    assert_eq!((two.polls.len(), two.next), (2, Some(minute)));
    trial.settle_poll(two.polls[0].lease, PollOutcome::Released).await;
    assert_eq!(trial.claim_polls(tokens(2)).await.polls.len(), 0);
    let settings = BucketSettings { per_minute: 60, burst: 2, ..POLLS.bucket };
    let claim = PollClaim { bucket: settings, ..POLLS };
    let none = trial.claim_polls(claim).await;
    let next = none.next.expect("a token comes within about a second");
    assert!(next > trial.now() && next <= trial.now() + Duration::from_millis(1001));
    trial.advance_by(next.duration_since(trial.now()).unwrap());
    assert_eq!(trial.polled(claim).await.len(), 1);
}
