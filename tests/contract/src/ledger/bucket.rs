//! The bucket of tokens.

use std::time::Duration;

use article_webhook_inbox::{
    PauseReason,
    store::{
        Bucket, BucketEvent, BucketSettings, Intended, Pause, PollClaim, PollOutcome, PollSettled,
    },
};

use super::steps::{AMPLE, KEY, POLLS, WITHIN, again, answered, failed, not_found};
use crate::{Subject, Trial, trial::FIRST};

const SLOW: BucketSettings = BucketSettings { per_minute: 60, burst: 1, key: 1 };

const REFUSED: BucketEvent = BucketEvent::KeyRefused { key: KEY };

fn unavailable(seconds: u64) -> BucketEvent {
    BucketEvent::Unavailable { retry_after: Duration::from_secs(seconds) }
}

fn limited(seconds: u64) -> BucketEvent {
    BucketEvent::RateLimited { retry_after: Duration::from_secs(seconds) }
}

/// Begins the call of an order, and ends it so that the next one is the first.
async fn order(trial: &Trial<dyn Subject>, key: u64) -> Result<(), Pause> {
    match trial.store().intend("an order", WITHIN, key, None).await.unwrap() {
        Intended::Begun(lease) => {
            assert!(trial.store().not_ordered(lease).await.unwrap().is_noted);
            Ok(())
        }
        Intended::Paused(pause) => Err(pause),
        Intended::Known(intent) => panic!("{intent:?}"),
    }
}

async fn report(trial: &Trial<dyn Subject>, event: BucketEvent) {
    trial.store().report(event).await.unwrap();
}

async fn bucket(trial: &Trial<dyn Subject>) -> Bucket {
    trial.store().bucket().await.unwrap()
}

/// A bucket is full at first. Each poll and each order changes the stored one as the rule says.
pub async fn a_bucket_is_stored(mut trial: Trial<dyn Subject>) {
    let mut expected = Bucket::new();
    assert_eq!(bucket(&trial).await, expected);
    trial.advance(9);
    assert_eq!(bucket(&trial).await, expected, "to look at it changes nothing");
    let step = Duration::from_millis(333);
    for id in ["a", "b", "c", "d"] {
        trial.expect_now(id).await;
        trial.advance_by(step);
        let is_taken = expected.take(SLOW, trial.now());
        let polls = trial.claim_polls(PollClaim { limit: 1, bucket: SLOW, ..POLLS }).await.polls;
        assert_eq!(polls.len(), usize::from(is_taken));
        assert_eq!(bucket(&trial).await, expected);
        trial.advance_by(step);
        assert_eq!(order(&trial, KEY).await, expected.begin_call(KEY, trial.now()));
        assert_eq!(bucket(&trial).await, expected);
    }
    for event in [REFUSED, unavailable(60), limited(90), BucketEvent::KeyAccepted { key: KEY }] {
        expected.report(event, trial.now());
        report(&trial, event).await;
        assert_eq!(bucket(&trial).await, expected, "{event:?}");
    }
}

pub async fn a_pause_is_lifted(trial: Trial<dyn Subject>) {
    for event in [limited(86_400), unavailable(86_400), REFUSED] {
        report(&trial, event).await;
        assert!(order(&trial, KEY).await.is_err());
        report(&trial, BucketEvent::Resumed).await;
        assert_eq!(order(&trial, KEY).await, Ok(()));
    }
}

/// A refused key pauses the bucket. One poll tries it again, and the jobs lose nothing by it.
pub async fn a_refused_key_is_tried_by_one_poll(mut trial: Trial<dyn Subject>) {
    for id in ["job_1", "job_2"] {
        trial.expect_now(id).await;
    }
    let first = trial.claim_polls(POLLS).await.polls;
    for poll in first {
        trial.settle_poll(poll.lease, again(0)).await;
        report(&trial, REFUSED).await;
    }
    assert_eq!(bucket(&trial).await.key_refused_at, Some(trial.now()));
    for _ in 0..3 {
        assert!(trial.polled(POLLS).await.is_empty());
        trial.advance(299);
        assert!(trial.polled(POLLS).await.is_empty());
        trial.advance(1);
        assert_eq!(trial.polled(POLLS).await.len(), 1);
    }
}

/// An outcome that shows that the service accepted the key ends its pause at once, and no other does.
pub async fn an_accepted_key_ends_its_pause(mut trial: Trial<dyn Subject>) {
    let zero = Duration::ZERO;
    let missing = PollOutcome::Missing { after: zero, cause: "job_not_found".into() };
    for (number, (outcome, is_accepted)) in [
        (answered(FIRST), true),
        (failed("{failed}"), true),
        (not_found(), true),
        (PollOutcome::Unfinished { after: zero, cause: "it is queued".into() }, true),
        (missing, true),
        (again(0), false),
        (PollOutcome::Released, false),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("job_{number}");
        report(&trial, REFUSED).await;
        trial.advance(300);
        let lease = trial.polling(&id).await;
        let (named, lost) = (format!("{outcome:?}"), outcome.clone());
        trial.settle_poll(lease, outcome).await;
        let is_paused = bucket(&trial).await.paused(KEY, trial.now()).is_some();
        assert_eq!(is_paused, !is_accepted, "{named}");
        report(&trial, REFUSED).await;
        assert_eq!(trial.settle_poll(lease, lost).await, PollSettled::LostLease);
        let is_paused = bucket(&trial).await.paused(KEY, trial.now()).is_some();
        assert_eq!(is_paused, !is_accepted, "{named}, and the lease is lost");
        report(&trial, BucketEvent::Resumed).await;
        trial.store().erase(vec![id.parse().unwrap()]).await.unwrap();
    }
}

/// So does an answer that reports nothing else, for its own key.
pub async fn an_accepted_key_is_reported(trial: Trial<dyn Subject>) {
    for (key, is_paused) in [(KEY + 1, true), (KEY, false)] {
        report(&trial, REFUSED).await;
        report(&trial, BucketEvent::KeyAccepted { key }).await;
        assert_eq!(bucket(&trial).await.paused(KEY, trial.now()).is_some(), is_paused);
    }
}

/// So does an order that the service took.
pub async fn an_order_that_was_taken_ends_the_pause_of_a_refused_key(trial: Trial<dyn Subject>) {
    for event in [REFUSED, limited(86_400)] {
        report(&trial, event).await;
        trial.store().ordered("post-1", "job_1".parse().unwrap(), trial.now(), KEY).await.unwrap();
        let is_paused = bucket(&trial).await.paused(KEY, trial.now()).is_some();
        assert_eq!(is_paused, event != REFUSED, "{event:?}");
    }
}

/// Another API key works at once, and the refused one stays paused, whatever becomes of the other.
pub async fn a_refused_key_stays_paused_beside_another(mut trial: Trial<dyn Subject>) {
    report(&trial, REFUSED).await;
    let pause = order(&trial, KEY).await.unwrap_err();
    assert!(matches!(pause.why, PauseReason::KeyRefused { key: KEY, .. }), "{pause:?}");
    let other = BucketSettings { key: 2, ..AMPLE };
    assert_eq!(order(&trial, 2).await, Ok(()));
    trial.store().ordered("post-1", "job_1".parse().unwrap(), trial.now(), 2).await.unwrap();
    let polls = trial.claim_polls(PollClaim { bucket: other, ..POLLS }).await.polls;
    trial.store().settle_poll(polls[0].lease, answered(FIRST), 2).await.unwrap();
    assert_eq!(order(&trial, KEY).await, Err(pause));
    trial.advance(300);
    assert_eq!(order(&trial, KEY).await, Ok(()), "one try");
    assert!(order(&trial, KEY).await.is_err());
}
