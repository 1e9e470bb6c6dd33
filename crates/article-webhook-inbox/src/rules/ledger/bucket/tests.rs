use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;

const START: SystemTime = SystemTime::UNIX_EPOCH;
const SETTINGS: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 1 };
const OTHER_KEY: BucketSettings = BucketSettings { key: 2, ..SETTINGS };

const REFUSED: BucketEvent = BucketEvent::KeyRefused { key: 1 };

fn after(seconds: u64) -> SystemTime {
    START + Duration::from_secs(seconds)
}

fn limited(seconds: u64) -> BucketEvent {
    BucketEvent::RateLimited { retry_after: Duration::from_secs(seconds) }
}

fn pause(from: u64, until: u64, why: PauseReason) -> Pause {
    Pause { since: after(from), until: after(until), why }
}

/// Something that happens to a bucket.
#[derive(Debug, Clone)]
enum Step {
    Wait(u64),
    Poll,
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
        8 => Just(Step::Poll),
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
    fn in_any_window_polls_take_no_more_than_the_burst_and_the_rate(
        steps in prop::collection::vec(step(), 1..300),
        per_minute in 1..2_000_u32,
        burst in 1..20_u32,
    ) {
        let settings = BucketSettings { per_minute, burst, key: 1 };
        let (mut bucket, mut now, mut polls) = (Bucket::new(), START, Vec::new());
        let mut limited_until = START;
        for step in steps {
            match step {
                Step::Wait(millis) => now += Duration::from_millis(millis),
                Step::Poll => if bucket.take(settings, now) {
                    prop_assert!(now >= limited_until, "a pause lasts in full");
                    polls.push(now);
                }
                Step::Order => if bucket.begin_call(1, now).is_ok() {
                    prop_assert!(now >= limited_until, "a pause lasts in full");
                }
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
            prop_assert_eq!(codec::row::<Bucket>(&codec::document(&bucket)), Some(bucket));
        }
        for (first, since) in polls.iter().enumerate() {
            for (last, until) in polls.iter().enumerate().skip(first) {
                let window = until.duration_since(*since).unwrap().as_millis();
                let thousandths = u128::from(burst) * 60_000 + u128::from(per_minute) * window;
                prop_assert!((last - first + 1) as u128 * 60_000 <= thousandths);
            }
        }
        // Nothing that happened keeps a token away for ever, and a token is there at the time that was named for it.
        let at = bucket.next_token(settings, now);
        let early = at - Duration::from_millis(1);
        prop_assert!(at == now || !bucket.clone().take(settings, early), "{bucket:?}");
        prop_assert!(bucket.take(settings, at), "{bucket:?}");
    }
}

#[test]
fn the_tokens_and_the_time_of_the_next_are_known() {
    let mut bucket = Bucket::new();
    for left in (0..5).rev() {
        assert_eq!(bucket.next_token(SETTINGS, after(9)), after(9));
        assert!(bucket.take(SETTINGS, after(9)));
        assert_eq!(bucket.tokens(SETTINGS, after(9)), left);
    }
    assert_eq!(bucket.next_token(SETTINGS, after(9)), after(11));
    assert_eq!((bucket.tokens(SETTINGS, after(11)), bucket.tokens(SETTINGS, after(99))), (1, 5));
    bucket.report(limited(3600), after(10));
    assert_eq!(bucket.next_token(SETTINGS, after(10)), after(3610));
    assert_eq!(bucket.next_token(OTHER_KEY, after(10)), after(3610));

    let mut empty = Bucket::empty();
    assert!(!empty.take(SETTINGS, after(9)));
    assert_eq!(empty.tokens(SETTINGS, after(9)), 0);
    assert_eq!(empty.next_token(SETTINGS, after(9)), after(11));
}

#[test]
fn the_least_and_the_highest_rate_are_those_of_a_millisecond_and_a_minute() {
    for (per_minute, interval) in [(0, 60_000), (1, 60_000), (60_000, 1), (u32::MAX, 1)] {
        for burst in [0, 1] {
            let settings = BucketSettings { per_minute, burst, key: 1 };
            let mut bucket = Bucket::new();
            assert!(bucket.take(settings, START) && !bucket.take(settings, START));
            let next = START + Duration::from_millis(interval);
            assert_eq!(bucket.next_token(settings, START), next, "{settings:?}");
        }
    }
    let mut endless = Bucket::new();
    let settings = BucketSettings { per_minute: 1, burst: u32::MAX, key: 1 };
    assert!((0..1000).all(|_| endless.take(settings, START)));
}

#[test]
fn a_429_without_a_time_is_no_pause() {
    let mut bucket = Bucket::new();
    bucket.report(limited(0), START);
    assert_eq!(bucket, Bucket::new());
}

#[test]
fn a_restart_shortens_what_a_wrong_clock_left() {
    let year = 365 * 24 * 3600;
    let mut bucket = Bucket::new();
    while bucket.take(SETTINGS, after(year)) {}
    bucket.report(limited(60), after(year));
    assert!(bucket.restart(START) && !bucket.restart(START));
    assert_eq!(bucket.pause, Some(pause(0, 60, PauseReason::RateLimited)));
    // The rest of its tokens comes back from the first use on.
    assert_eq!((bucket.tokens(SETTINGS, after(60)), bucket.take(SETTINGS, after(60))), (0, false));
    assert_eq!(bucket.next_token(SETTINGS, after(60)), after(62));
    assert!(bucket.take(SETTINGS, after(62)) && !bucket.take(SETTINGS, after(62)));
}

#[test]
fn an_imported_bucket_allows_no_more_than_either() {
    let mut there = Bucket::new();
    assert!(there.take(SETTINGS, after(5)));
    there.report(REFUSED, START);
    there.report(limited(60), START);
    let mut here = Bucket::new();
    here.import(&there, after(5));
    assert_eq!(here, there);
    here.report(limited(90), after(5));
    let before = here;
    here.import(&there, after(5));
    here.import(&Bucket::new(), after(5));
    assert_eq!(here, before);

    let ahead = Bucket { pause: Some(pause(900, 1000, PauseReason::Unavailable)), ..there };
    let mut here = Bucket::new();
    here.import(&ahead, after(5));
    assert_eq!(here.pause, Some(pause(5, 105, PauseReason::Unavailable)));
}

#[test]
fn a_bucket_is_kept_as_a_document() {
    let mut bucket = Bucket::new();
    assert_eq!(codec::document(&bucket), r#"{"full_at":0}"#);
    bucket.report(REFUSED, after(1));
    let document = r#"{"full_at":0,"pause":{"since":1000,"until":301000,"why":"key_refused","key":1},"key_refused_at":1000}"#;
    assert_eq!((codec::document(&bucket).as_str(), codec::row(document)), (document, Some(bucket)));
    for other in [
        "",
        "{}",
        r#"{"full_at":"now"}"#,
        r#"{"full_at":0,"pause":{"since":0,"until":0,"why":"lunch"}}"#,
    ] {
        assert_eq!(codec::row::<Bucket>(other), None, "{other}");
    }
}
