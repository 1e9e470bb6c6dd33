//! The bucket of tokens.

use std::time::Duration;

use article_webhook_inbox::{
    PauseReason,
    store::{
        AskClaim, AskOutcome, AskSettled, Bucket, BucketEvent, BucketSettings, Intended, OrderTurn,
        Pause,
    },
};

use super::steps::{AMPLE, ASKS, KEY, WITHIN, again, answered, failed, not_found};
use crate::{LedgerSubject, Trial, trial::FIRST};

const SLOW: BucketSettings = BucketSettings { per_minute: 60, burst: 1, key: 1 };

const REFUSED: BucketEvent = BucketEvent::KeyRefused { key: KEY };

fn unavailable(seconds: u64) -> BucketEvent {
    BucketEvent::Unavailable { retry_after: Duration::from_secs(seconds) }
}

fn limited(seconds: u64) -> BucketEvent {
    BucketEvent::RateLimited { retry_after: Duration::from_secs(seconds) }
}

async fn order(trial: &Trial<impl LedgerSubject>, settings: BucketSettings) -> OrderTurn {
    match trial.ledger().intend("an order", WITHIN, settings).await.unwrap() {
        Intended::Begun(lease) => {
            assert!(trial.ledger().not_ordered(lease).await.unwrap(), "the next one is the first");
            OrderTurn::Taken
        }
        Intended::Paused(pause) => OrderTurn::Paused(pause),
        Intended::Known(intent) => panic!("{intent:?}"),
    }
}

async fn report(trial: &Trial<impl LedgerSubject>, event: BucketEvent) {
    trial.ledger().report(event).await.unwrap();
}

async fn bucket(trial: &Trial<impl LedgerSubject>) -> Bucket {
    trial.ledger().bucket().await.unwrap()
}

/// A store that was never asked has a full bucket, and to look at it changes nothing.
pub async fn a_new_bucket_is_full(mut trial: Trial<impl LedgerSubject>) {
    assert_eq!(bucket(&trial).await, Bucket::new(trial.now()));
    trial.advance(9);
    assert_eq!(bucket(&trial).await, Bucket::new(trial.now()));
}

/// Each ask and each order changes the stored bucket as the rule says.
pub async fn a_bucket_is_stored(mut trial: Trial<impl LedgerSubject>) {
    assert_eq!(order(&trial, SLOW).await, OrderTurn::Taken);
    let mut expected = bucket(&trial).await;
    let step = Duration::from_millis(333);
    for id in ["a", "b", "c", "d"] {
        trial.expect_now(id).await;
        trial.advance_by(step);
        let is_taken = expected.take(SLOW, trial.now());
        let asks = trial.claim_asks(AskClaim { limit: 1, bucket: SLOW, ..ASKS }).await.asks;
        assert_eq!(asks.len(), usize::from(is_taken));
        assert_eq!(bucket(&trial).await, expected);
        trial.advance_by(step);
        let turn = expected.take_for_order(SLOW, trial.now());
        assert_eq!(order(&trial, SLOW).await, turn);
        assert_eq!(bucket(&trial).await, expected);
        expected.report(limited(0), trial.now());
        report(&trial, limited(0)).await;
        assert_eq!(bucket(&trial).await, expected);
    }
}

/// In any window, asks take no more tokens than the burst and the rate of that window, however often they are claimed.
pub async fn asks_take_no_more_than_the_rate(mut trial: Trial<impl LedgerSubject>) {
    for number in 0..100 {
        trial.expect_now(&format!("job_{number}")).await;
    }
    let settings = BucketSettings { per_minute: 30, burst: 5, key: 1 };
    let mut asked = 0;
    for _ in 0..600 {
        trial.advance_by(Duration::from_millis(100));
        asked += trial.asked(AskClaim { bucket: settings, ..ASKS }).await.len();
    }
    assert_eq!(asked, 5 + 29, "a minute, whose last token is not there yet");
}

/// An order does not wait for a token, and the asks wait for what it took.
pub async fn an_order_takes_into_debt(mut trial: Trial<impl LedgerSubject>) {
    for _ in 0..3 {
        assert_eq!(order(&trial, SLOW).await, OrderTurn::Taken);
    }
    trial.expect_now("job_1").await;
    trial.advance(2);
    let claim = AskClaim { bucket: SLOW, ..ASKS };
    assert!(trial.asked(claim).await.is_empty());
    trial.advance(2);
    assert_eq!(trial.asked(claim).await, ["job_1"]);
}

/// Many orders are all made, and the asks wait for no more than three of them.
pub async fn the_debt_of_orders_has_a_limit(mut trial: Trial<impl LedgerSubject>) {
    for _ in 0..100 {
        assert_eq!(order(&trial, SLOW).await, OrderTurn::Taken);
    }
    assert_eq!(bucket(&trial).await.used, 3000);
    trial.expect_now("job_1").await;
    trial.advance(2);
    let claim = AskClaim { bucket: SLOW, ..ASKS };
    assert!(trial.asked(claim).await.is_empty());
    trial.advance(1);
    assert_eq!(trial.asked(claim).await, ["job_1"]);
}

/// Orders at twice the rate for an hour. All are made, and every fourth token is an ask's.
pub async fn orders_leave_asks_their_share(mut trial: Trial<impl LedgerSubject>) {
    let settings = BucketSettings { per_minute: 6, burst: 5, key: 1 };
    let claim = AskClaim { limit: 1, bucket: settings, ..ASKS };
    let mut asked = 0;
    trial.expect_now("job_1").await;
    for _ in 0..720 {
        trial.advance(5);
        assert_eq!(order(&trial, settings).await, OrderTurn::Taken);
        for ask in trial.claim_asks(claim).await.asks {
            asked += 1;
            trial.settle_ask(ask.lease, AskOutcome::Released).await;
        }
    }
    assert_eq!(asked, 360 / 4 + 2, "and two of the tokens that the bucket began with");
}

/// A pause lasts for as long as the service says, however long that is, and a shorter one does not shorten it.
pub async fn a_pause_lasts_in_full(mut trial: Trial<impl LedgerSubject>) {
    let (days, why) = (2 * 86_400, PauseReason::RateLimited);
    trial.expect_now("job_1").await;
    report(&trial, limited(days)).await;
    report(&trial, limited(1)).await;
    let pause = Pause { since: trial.now(), until: trial.after(days), why };
    assert_eq!(order(&trial, AMPLE).await, OrderTurn::Paused(pause));
    assert_eq!(bucket(&trial).await.used, 0, "a refused order takes nothing");
    trial.advance_by(Duration::from_secs(days) - Duration::from_millis(1));
    let none = trial.claim_asks(ASKS).await;
    assert_eq!((none.asks.len(), none.next), (0, Some(pause.until)));
    trial.advance_by(Duration::from_millis(1));
    assert_eq!(trial.asked(ASKS).await, ["job_1"]);
    assert_eq!(order(&trial, AMPLE).await, OrderTurn::Taken);
}

/// A service that cannot serve any call now does not say that there were too many. The pause says what it was.
pub async fn only_a_call_too_many_halves_the_rate(trial: Trial<impl LedgerSubject>) {
    let full = bucket(&trial).await.share;
    report(&trial, unavailable(60)).await;
    let pause = Pause { since: trial.now(), until: trial.after(60), why: PauseReason::Unavailable };
    let paused = bucket(&trial).await;
    assert_eq!((paused.limited, paused.share), (Some(pause), full));
    report(&trial, limited(30)).await;
    let limited = bucket(&trial).await;
    assert_eq!((limited.limited, limited.share), (Some(pause), full / 2), "nor is it shortened");
}

/// A person lifts a pause of any kind.
pub async fn a_pause_is_lifted(trial: Trial<impl LedgerSubject>) {
    for event in [limited(86_400), unavailable(86_400), REFUSED] {
        report(&trial, event).await;
        assert!(matches!(order(&trial, AMPLE).await, OrderTurn::Paused(_)));
        report(&trial, BucketEvent::Resumed).await;
        assert_eq!(order(&trial, AMPLE).await, OrderTurn::Taken);
    }
}

/// A refused key pauses the bucket. One ask tries it again, and the jobs lose nothing by it.
pub async fn a_refused_key_is_tried_by_one_ask(mut trial: Trial<impl LedgerSubject>) {
    for id in ["job_1", "job_2"] {
        trial.expect_now(id).await;
    }
    let first = trial.claim_asks(ASKS).await.asks;
    for ask in first {
        trial.settle_ask(ask.lease, again(0)).await;
        report(&trial, REFUSED).await;
    }
    assert_eq!(bucket(&trial).await.refused_at, Some(trial.now()));
    assert!(trial.asked(ASKS).await.is_empty());
    trial.advance(300);
    assert_eq!(trial.asked(ASKS).await.len(), 1);
    trial.advance(599);
    assert!(trial.asked(ASKS).await.is_empty(), "the next waits twice as long");
    trial.advance(1);
    assert_eq!(trial.asked(ASKS).await.len(), 1);
}

/// An outcome that shows that the service accepted the key ends its pause at once, and no other does.
pub async fn an_accepted_key_ends_its_pause(mut trial: Trial<impl LedgerSubject>) {
    let zero = Duration::ZERO;
    let missing = AskOutcome::Missing { after: zero, cause: "job_not_found".into() };
    for (number, (outcome, is_accepted)) in [
        (answered(FIRST), true),
        (failed("{failed}"), true),
        (not_found(), true),
        (AskOutcome::Unfinished { after: zero }, true),
        (missing, true),
        (again(0), false),
        (AskOutcome::Released, false),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("job_{number}");
        report(&trial, REFUSED).await;
        trial.advance(300);
        let lease = trial.asking(&id).await;
        let (named, lost) = (format!("{outcome:?}"), outcome.clone());
        trial.settle_ask(lease, outcome).await;
        let is_paused = bucket(&trial).await.paused(KEY, trial.now()).is_some();
        assert_eq!(is_paused, !is_accepted, "{named}");
        report(&trial, REFUSED).await;
        assert_eq!(trial.settle_ask(lease, lost).await, AskSettled::LostLease);
        let is_paused = bucket(&trial).await.paused(KEY, trial.now()).is_some();
        assert_eq!(is_paused, !is_accepted, "{named}, and the lease is lost");
        report(&trial, BucketEvent::Resumed).await;
        trial.store().forget(id.parse().unwrap()).await.unwrap();
    }
}

/// So does an answer that tells nothing else, for its own key.
pub async fn an_accepted_key_is_reported(trial: Trial<impl LedgerSubject>) {
    for (key, is_paused) in [(KEY + 1, true), (KEY, false)] {
        report(&trial, REFUSED).await;
        report(&trial, BucketEvent::KeyAccepted { key }).await;
        assert_eq!(bucket(&trial).await.paused(KEY, trial.now()).is_some(), is_paused);
    }
}

/// So does an order that the service took.
pub async fn an_order_that_was_taken_ends_the_pause_of_a_refused_key(
    trial: Trial<impl LedgerSubject>,
) {
    for event in [REFUSED, limited(86_400)] {
        report(&trial, event).await;
        trial.ledger().ordered("post-1", "job_1".parse().unwrap(), trial.now(), KEY).await.unwrap();
        let is_paused = bucket(&trial).await.paused(KEY, trial.now()).is_some();
        assert_eq!(is_paused, event != REFUSED, "{event:?}");
    }
}

/// Another API key works at once, and the refused one stays paused, whatever becomes of the other.
pub async fn a_refused_key_stays_paused_beside_another(mut trial: Trial<impl LedgerSubject>) {
    assert_eq!(order(&trial, AMPLE).await, OrderTurn::Taken);
    report(&trial, REFUSED).await;
    assert!(matches!(order(&trial, AMPLE).await, OrderTurn::Paused(_)));
    let other = BucketSettings { key: 2, ..AMPLE };
    let paused = async || bucket(&trial).await.paused(KEY, trial.now());
    let pause = paused().await;
    assert_eq!(order(&trial, other).await, OrderTurn::Taken);
    trial.ledger().ordered("post-1", "job_1".parse().unwrap(), trial.now(), 2).await.unwrap();
    let asks = trial.claim_asks(AskClaim { bucket: other, ..ASKS }).await.asks;
    trial.ledger().settle_ask(asks[0].lease, answered(FIRST), 2).await.unwrap();
    assert_eq!(paused().await, pause);

    report(&trial, BucketEvent::KeyRefused { key: 2 }).await;
    trial.advance(300);
    assert_eq!(order(&trial, AMPLE).await, OrderTurn::Taken, "one try each");
    assert!(matches!(order(&trial, AMPLE).await, OrderTurn::Paused(_)));
    assert_eq!(order(&trial, other).await, OrderTurn::Taken);
    assert!(matches!(order(&trial, other).await, OrderTurn::Paused(_)));
}
