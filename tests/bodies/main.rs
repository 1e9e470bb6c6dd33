//! Random bodies, read by the core and by independent readers.
//!
//! Each body is one of the fixtures with a few random changes. `BODIES=1000000` runs that many; the seed and the text of a body that
//! breaks a property are printed.

use std::{env, panic};

use article_webhook::fixture::{self, DeliveryRequest};
use article_webhook_tests::properties::{bodies, mutate::mutate};
use fastrand::Rng;

#[test]
fn the_core_reads_random_bodies_as_independent_readers_do() {
    let count = env::var("BODIES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let fixtures = [
        fixture::complete(),
        fixture::minimal(),
        fixture::unicode(),
        fixture::extra_fields(),
        fixture::missing_optional_fields(),
    ];
    let mut seeds = Rng::new();
    for number in 0..count {
        let seed = seeds.u64(..);
        let mut body = fixtures[number % fixtures.len()].bytes().to_vec();
        mutate(&mut body, seed);
        let held = panic::catch_unwind(|| bodies::check(&body));
        assert!(held.is_ok(), "broken by seed {seed}: {:?}", String::from_utf8_lossy(&body));
    }
}

/// Also where an application turns on numbers of arbitrary precision, which look like objects.
#[test]
fn a_number_is_no_level_of_nesting() {
    let nested = |levels| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let body = format!(r#"{{"job_id":"job_7c1e4a52","new":{open}1.5{close}}}"#);
        let post = DeliveryRequest::new(body);
        fixture::receiver().open(post.headers())?.read(post.bytes().clone())
    };
    assert!(nested(63).is_ok());
    assert_eq!(nested(64).unwrap_err().rejection().code(), "malformed_json");
}

/// Also where an application turns on numbers of arbitrary precision, in which it would have room.
#[test]
fn a_number_that_no_double_holds_is_refused() {
    let with = |number| {
        let post = DeliveryRequest::new(format!(r#"{{"job_id":"job_7c1e4a52","new":{number}}}"#));
        fixture::receiver().open(post.headers())?.read(post.bytes().clone())
    };
    assert!(with("1e308").is_ok());
    assert_eq!(with("1e309").unwrap_err().rejection().code(), "malformed_json");
}
