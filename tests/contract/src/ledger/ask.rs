//! Jobs that are asked for.

use std::time::Duration;

use article_webhook_inbox::{
    JobState,
    store::{Ask, AskClaim, AskOutcome, AskSettled, Asks, BucketSettings, Expect},
};

use super::steps::{ASKS, again, answered, failed, not_found};
use crate::{
    LedgerSubject, Trial,
    trial::{FIRST, job},
};

/// A bucket with this many tokens, and no more for a minute.
fn tokens(burst: u32) -> AskClaim {
    AskClaim { bucket: BucketSettings { per_minute: 1, burst, ..ASKS.bucket }, ..ASKS }
}

/// An ask holds the lease of its job, and counts when it begins.
pub async fn a_job_is_asked_for_under_a_lease(mut trial: Trial<impl LedgerSubject>) {
    trial.expect(Expect::job(job("job_1"), trial.after(600))).await;
    let before = trial.job("job_1").await;
    trial.advance(600);
    let Asks { asks, next } = trial.claim_asks(ASKS).await;
    let [Ask { lease, job }] = &asks[..] else { panic!("one: {asks:?}") };
    let at = trial.now() + ASKS.lease;
    let asking = article_webhook_inbox::ExpectedJob {
        state: JobState::Asking,
        asks: 1,
        at,
        ..before.clone()
    };
    assert_eq!((job, lease.id, next), (&asking, before.id, None));
    assert_eq!(trial.job("job_1").await, asking);
    assert!(trial.asked(ASKS).await.is_empty(), "one asks");
}

/// A job is not asked for before its time.
pub async fn a_job_is_asked_for_when_its_time_has_come(mut trial: Trial<impl LedgerSubject>) {
    trial.expect(Expect::job(job("job_1"), trial.after(600))).await;
    trial.advance_by(Duration::from_millis(599_999));
    let early = trial.claim_asks(ASKS).await;
    let next = trial.now() + Duration::from_millis(1);
    assert_eq!((early.asks.len(), early.next), (0, Some(next)));
    trial.advance_by(Duration::from_millis(1));
    assert_eq!(trial.asked(ASKS).await, ["job_1"]);
}

/// What has been due longest comes first, whether it was asked for before or not, and of these the smallest id; and no more
/// than the limit.
pub async fn what_is_due_longest_is_asked_for_first(mut trial: Trial<impl LedgerSubject>) {
    trial.expect_now("b").await;
    let lease = trial.ask("b").await;
    trial.settle_ask(lease, again(2)).await;
    for (id, seconds) in [("c", 3), ("a", 1), ("d", 3), ("e", 9)] {
        trial.expect(Expect::job(job(id), trial.after(seconds))).await;
    }
    trial.advance(5);
    assert_eq!(trial.asked(AskClaim { limit: 3, ..ASKS }).await, ["a", "b", "c"]);
    let rest = trial.claim_asks(ASKS).await;
    assert_eq!((rest.asks.len(), rest.next), (1, Some(trial.after(4))));
    assert_eq!(trial.asked(AskClaim { limit: 0, ..ASKS }).await.len(), 0);
}

/// A job whose lease ended without an outcome is due again, under a new fence.
pub async fn an_ask_without_an_outcome_is_made_again(mut trial: Trial<impl LedgerSubject>) {
    let first = trial.asking("job_1").await;
    trial.advance_by(ASKS.lease - Duration::from_millis(1));
    assert!(trial.asked(ASKS).await.is_empty());
    trial.advance_by(Duration::from_millis(1));
    let second = trial.ask("job_1").await;
    assert_eq!(second.id, first.id);
    assert!(second.fence > first.fence);
    assert_eq!(trial.job("job_1").await.asks, 2);
}

/// An attempt limit would turn "not yet" into "never".
pub async fn no_number_of_asks_ends_a_job(mut trial: Trial<impl LedgerSubject>) {
    trial.expect_now("job_1").await;
    for asks in 1..=100 {
        let lease = trial.ask("job_1").await;
        let expected = AskSettled::Settled(JobState::Expected);
        assert_eq!(trial.settle_ask(lease, again(86_400)).await, expected);
        assert_eq!(trial.job("job_1").await.asks, asks);
        trial.advance(86_400);
    }
}

/// A job that has ended is not asked for.
pub async fn a_job_that_has_ended_is_not_asked_for(mut trial: Trial<impl LedgerSubject>) {
    for (id, outcome) in
        [("job_1", not_found()), ("job_2", answered(FIRST)), ("job_3", failed("{failed}"))]
    {
        trial.end(id, outcome).await;
    }
    trial.advance(1_000_000);
    assert_eq!(trial.claim_asks(ASKS).await, Asks::default());
}

/// Each ask takes a token, with the claim; and an ask that was not sent does not give it back.
pub async fn an_ask_takes_a_token(mut trial: Trial<impl LedgerSubject>) {
    for id in ["a", "b", "c", "d"] {
        trial.expect_now(id).await;
    }
    let two = trial.claim_asks(tokens(2)).await;
    let minute = trial.now() + Duration::from_secs(60);
    assert_eq!((two.asks.len(), two.next), (2, Some(minute)));
    trial.settle_ask(two.asks[0].lease, AskOutcome::Released).await;
    assert_eq!(trial.claim_asks(tokens(2)).await.asks.len(), 0);
    let settings = BucketSettings { per_minute: 60, burst: 2, ..ASKS.bucket };
    let claim = AskClaim { bucket: settings, ..ASKS };
    let none = trial.claim_asks(claim).await;
    let next = none.next.expect("a token comes within about a second");
    assert!(next > trial.now() && next <= trial.now() + Duration::from_millis(1001));
    trial.advance_by(next.duration_since(trial.now()).unwrap());
    assert_eq!(trial.asked(claim).await.len(), 1);
}

/// A claim that finds nothing due takes no token.
pub async fn a_claim_of_nothing_takes_no_token(trial: Trial<impl LedgerSubject>) {
    for _ in 0..3 {
        assert!(trial.asked(tokens(1)).await.is_empty());
    }
    trial.expect_now("job_1").await;
    assert_eq!(trial.asked(tokens(1)).await, ["job_1"]);
}
