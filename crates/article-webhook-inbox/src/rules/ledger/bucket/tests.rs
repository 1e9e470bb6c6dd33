use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;

const START: SystemTime = SystemTime::UNIX_EPOCH;
const SETTINGS: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 1 };

const REFUSED: BucketEvent = BucketEvent::KeyRefused { key: 1 };

fn after(seconds: u64) -> SystemTime {
    START + Duration::from_secs(seconds)
}

fn empty() -> Bucket {
    Bucket { used: capacity(SETTINGS), key: SETTINGS.key, ..Bucket::new(START) }
}

fn limited(seconds: u64) -> BucketEvent {
    BucketEvent::RateLimited { retry_after: Duration::from_secs(seconds) }
}

/// Something that happens to a bucket.
#[derive(Debug, Clone)]
enum Step {
    Wait(u64),
    Ask,
    Order,
    RateLimited(u64),
    KeyRefused,
    KeyAccepted,
    Resumed,
    Restarted,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop_oneof![0..50_u64, 0..5_000_u64, 0..600_000_u64].prop_map(Step::Wait),
        8 => Just(Step::Ask),
        1 => Just(Step::Order),
        1 => (0..4_000_000_u64).prop_map(Step::RateLimited),
        1 => Just(Step::KeyRefused),
        1 => Just(Step::KeyAccepted),
        1 => Just(Step::Resumed),
        1 => Just(Step::Restarted),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_any_window_asks_take_no_more_than_the_burst_and_the_rate(
        steps in prop::collection::vec(step(), 1..300),
        per_minute in 1..2_000_u32,
        burst in 1..20_u32,
    ) {
        let settings = BucketSettings { per_minute, burst, key: 1 };
        let (mut bucket, mut now, mut asks) = (Bucket::new(START), START, Vec::new());
        let mut limited_until = START;
        for step in steps {
            match step {
                Step::Wait(millis) => now += Duration::from_millis(millis),
                Step::Ask => if bucket.take(settings, now) {
                    prop_assert!(now >= limited_until, "a pause lasts in full");
                    asks.push(now);
                }
                Step::Order => { bucket.take_for_order(settings, now); }
                Step::RateLimited(millis) => {
                    let retry_after = Duration::from_millis(millis);
                    bucket.report(BucketEvent::RateLimited { retry_after }, now);
                    limited_until = limited_until.max(now + retry_after);
                }
                Step::KeyRefused => bucket.report(REFUSED, now),
                Step::KeyAccepted => { bucket.accept_key(1); }
                Step::Resumed => {
                    bucket.report(BucketEvent::Resumed, now);
                    limited_until = now;
                }
                Step::Restarted => prop_assert!(!bucket.restart(now), "the clock is right"),
            }
        }
        for (first, since) in asks.iter().enumerate() {
            for (last, until) in asks.iter().enumerate().skip(first) {
                let window = until.duration_since(*since).unwrap().as_millis();
                let thousandths = u128::from(burst) * 60_000 + u128::from(per_minute) * window;
                prop_assert!((last - first + 1) as u128 * 60_000 <= thousandths);
            }
        }
        // Nothing that happened keeps a token away for ever.
        let at = bucket.next_token(settings, now).unwrap();
        prop_assert!(bucket.take(settings, at), "{bucket:?}");
    }
}

#[test]
fn a_bucket_is_refilled_however_often_it_is_looked_at() {
    let mut bucket = empty();
    let mut taken = 0;
    for millis in 0..=120_000 {
        taken += u32::from(bucket.take(SETTINGS, START + Duration::from_millis(millis)));
    }
    assert_eq!(taken, 60, "30 a minute");
}

#[test]
fn the_time_of_the_next_token_is_known() {
    let bucket = empty();
    assert_eq!(bucket.next_token(SETTINGS, START), Some(START + Duration::from_millis(2000)));
    assert_eq!(Bucket::new(START).next_token(SETTINGS, after(9)), Some(after(9)));
    let never = BucketSettings { per_minute: 0, ..SETTINGS };
    assert_eq!(bucket.next_token(never, START), None);
    let mut paused = bucket;
    paused.report(limited(3600), START);
    assert_eq!(paused.next_token(SETTINGS, START), Some(after(3600)));
}

#[test]
fn an_order_takes_into_debt_but_not_from_a_paused_bucket() {
    let mut bucket = empty();
    assert_eq!(bucket.take_for_order(SETTINGS, START), OrderTurn::Taken);
    assert!(!bucket.take(SETTINGS, after(3)));
    bucket.report(limited(60), after(3));
    let used = bucket.used;
    let pause = Pause { since: after(3), until: after(63), why: PauseReason::RateLimited };
    assert_eq!(bucket.take_for_order(SETTINGS, after(3)), OrderTurn::Paused(pause));
    assert_eq!(bucket.used, used);
    assert_eq!(bucket.turn, 0, "an order has no turn");
}

#[test]
fn the_debt_of_many_orders_is_three_tokens() {
    let mut bucket = empty();
    for _ in 0..1000 {
        assert_eq!(bucket.take_for_order(SETTINGS, START), OrderTurn::Taken);
    }
    assert_eq!(bucket.used, capacity(SETTINGS) + 3 * TOKEN);
    assert_eq!(bucket.next_token(SETTINGS, START), Some(after(8)), "4 tokens, 30 a minute");
    assert!(!bucket.take(SETTINGS, after(7)) && bucket.take(SETTINGS, after(8)));
}

/// Orders at twice the rate for an hour, which brings 1800 tokens.
#[test]
fn orders_leave_every_fourth_token_to_the_asks() {
    for burst in [1, 5, 100] {
        let settings = BucketSettings { burst, ..SETTINGS };
        let mut bucket = Bucket { used: capacity(settings), ..Bucket::new(START) };
        let (mut asks, mut waited, mut longest) = (0, 0, 0);
        for second in 1..=3600 {
            assert_eq!(bucket.take_for_order(settings, after(second)), OrderTurn::Taken);
            if bucket.take(settings, after(second)) {
                (asks, waited) = (asks + 1, 0);
            } else {
                waited += 1;
            }
            longest = longest.max(waited);
        }
        assert_eq!((asks, longest), (450, 7), "burst {burst}: one each 8 seconds");
    }
}

#[test]
fn a_longer_pause_is_not_shortened_by_a_shorter_one() {
    let mut bucket = Bucket::new(START);
    bucket.report(limited(90_000), START);
    bucket.report(limited(1), after(1));
    bucket.report(REFUSED, after(1));
    let pause = Pause { since: START, until: after(90_000), why: PauseReason::RateLimited };
    assert_eq!(bucket.paused(1, after(1)), Some(pause));
    bucket.accept_key(1);
    assert_eq!(bucket.paused(1, after(1)), Some(pause));
    bucket.report(BucketEvent::Resumed, after(2));
    assert!(bucket.take(SETTINGS, after(2)));
}

#[test]
fn a_pause_of_the_service_outlasts_that_of_a_refused_key() {
    let mut bucket = Bucket::new(START);
    bucket.report(REFUSED, START);
    bucket.report(limited(60), START);
    let until = |bucket: &Bucket| bucket.paused(1, START).map(|pause| pause.until);
    assert_eq!(until(&bucket), Some(after(300)));
    bucket.accept_key(1);
    assert_eq!(until(&bucket), Some(after(60)), "the service said so");
}

#[test]
fn a_rate_limit_halves_the_rate_once_a_minute_and_it_recovers() {
    let mut bucket = Bucket::new(START);
    for (at, share) in [(0, 500), (1, 500), (59, 500), (60, 258), (120, 137), (180, 76), (240, 62)]
    {
        bucket.report(limited(0), after(at));
        assert_eq!(bucket.share, share, "{at}");
    }
    assert_eq!(bucket.limited, None, "the service named no time");
    for (at, share) in [(240, 62), (240 + 360, 162), (240 + 3600, FULL)] {
        assert_eq!(bucket.share_at(after(at)), share);
    }
    let halved = Bucket { share: 500, ..empty() };
    assert_eq!(halved.next_token(SETTINGS, START), Some(START + Duration::from_millis(4000)));
}

#[test]
fn a_refused_key_is_tried_by_one_ask_each_time() {
    let mut bucket = Bucket::new(START);
    for _ in 0..16 {
        bucket.report(REFUSED, START); // all that were under way
    }
    let mut tries = Vec::new();
    for second in 0..20_000 {
        if bucket.take(SETTINGS, after(second)) {
            tries.push(second);
            bucket.report(REFUSED, after(second));
        }
    }
    assert_eq!(tries, [300, 900, 2100, 4500, 8100, 11700, 15300, 18900]);
    assert_eq!(bucket.refused_at, Some(after(18_900)));
    assert!(bucket.accept_key(1) && !bucket.accept_key(1));
    assert!(bucket.take(SETTINGS, after(20_000)) && bucket.take(SETTINGS, after(20_000)));
}

/// Two keys in turn for an hour, of which one is refused.
#[test]
fn a_refused_key_stays_paused_while_another_is_used() {
    let other = BucketSettings { key: 2, ..SETTINGS };
    let mut bucket = Bucket::new(START);
    let (mut refused, mut accepted) = (0, 0);
    for second in 0..3600 {
        if bucket.take(SETTINGS, after(second)) {
            bucket.report(REFUSED, after(second));
            refused += 1;
        }
        if bucket.take(other, after(second)) {
            assert!(!bucket.accept_key(other.key), "it is not refused");
            accepted += 1;
        }
    }
    assert_eq!((refused, accepted), (4, 1800), "at the start, and after 5, 15 and 35 minutes");
    assert!(bucket.accept_key(1) && bucket.take(SETTINGS, after(3602)), "accepted at last");
    bucket.report(limited(60), after(3602));
    assert!(!bucket.take(other, after(3604)), "the service may limit by address");
}

/// The pause that health shows is that of the key in use, which is not changed by a call that was not made.
#[test]
fn a_key_that_was_not_used_is_not_the_last_one() {
    let other = BucketSettings { key: 2, burst: 1, ..SETTINGS };
    let mut bucket = Bucket::new(START);
    assert_eq!(bucket.take_for_order(SETTINGS, START), OrderTurn::Taken);
    assert!(!bucket.take(other, START), "there is no token");
    assert_eq!(bucket.key, 1);
    bucket.report(BucketEvent::KeyRefused { key: 2 }, START);
    assert!(matches!(bucket.take_for_order(other, START), OrderTurn::Paused(_)));
    assert_eq!((bucket.key, bucket.paused(bucket.key, START)), (1, None));

    let mut there = Bucket::new(START);
    there.import(&bucket, START);
    assert!(!there.take(other, START));
    assert_eq!(there.key, 2, "none was used before");
}

#[test]
fn the_last_eight_refused_keys_are_known() {
    let mut bucket = Bucket::new(START);
    for key in [1, 2, 3, 4, 5, 6, 7, 1, 8, 9] {
        bucket.report(BucketEvent::KeyRefused { key }, after(key));
    }
    let known = |bucket: &Bucket| bucket.refused.iter().map(|key| key.key).collect::<Vec<_>>();
    assert_eq!(known(&bucket), [3, 4, 5, 6, 7, 1, 8, 9]);
    assert_eq!(bucket.refused[5].refusals, 1, "it was not tried since");
    let mut other = Bucket::new(START);
    other.report(BucketEvent::KeyRefused { key: 10 }, after(1));
    other.import(&bucket, after(9));
    assert_eq!(known(&other), [3, 4, 5, 6, 7, 1, 8, 9]);
}

#[test]
fn a_restart_shortens_what_a_wrong_clock_left() {
    let year = 365 * 24 * 3600;
    let mut bucket = Bucket { used: 3000, ..Bucket::new(after(year)) };
    bucket.report(limited(60), after(year));
    assert!(bucket.restart(START) && !bucket.restart(START));
    assert_eq!((bucket.refilled_at, bucket.shared_at, bucket.used), (START, START, 3000));
    assert_eq!(bucket.limited.map(|pause| (pause.since, pause.until)), Some((START, after(60))));
}

#[test]
fn an_imported_bucket_allows_no_more_than_either() {
    let mut there = empty();
    there.report(limited(60), START);
    let mut here = Bucket::new(START);
    here.import(&there, START);
    assert_eq!((here.used, here.share, here.limited), (there.used, 500, there.limited));
    let before = here.clone();
    here.import(&Bucket::new(START), START);
    assert_eq!(here, before);

    // Nothing was used here for a day, and there a moment ago.
    let day = 24 * 3600;
    let there = Bucket { used: empty().used, ..Bucket::new(after(day)) };
    let mut here = Bucket::new(START);
    here.import(&there, after(day));
    assert!(!here.take(SETTINGS, after(day)), "what was used there is not refilled by that day");

    let ahead = Bucket { used: empty().used, ..Bucket::new(after(999 * day)) };
    here.import(&ahead, after(day));
    assert_eq!(here.refilled_at, after(day));
}
