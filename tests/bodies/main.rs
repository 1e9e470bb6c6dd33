//! Random bodies, read by the core and by independent readers.
//!
//! Each body is one of the fixtures with a few random edits: bytes changed, pieces of JSON inserted,
//! stretches removed or repeated. `BODIES=1000000` runs that many; a failing body is printed.

use std::env;

use article_webhook::fixture::{self, DeliveryRequest};
use article_webhook_tests::properties::{bodies, mutate::PIECES};
use proptest::{
    prelude::{Just, Strategy, any, prop_oneof},
    sample::select,
    test_runner::{Config, TestRunner},
};

fn check(property: fn(&[u8])) {
    let cases = env::var("BODIES").ok().and_then(|cases| cases.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(4_000), failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&bodies(), |body| {
        property(&body);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[derive(Debug, Clone)]
enum Edit {
    Change(u8),
    Insert(&'static [u8]),
    Remove(usize),
    Repeat(usize),
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let fixtures = [
        fixture::complete(),
        fixture::minimal(),
        fixture::unicode(),
        fixture::extra_fields(),
        fixture::missing_optional_fields(),
    ];
    let edit = prop_oneof![
        any::<u8>().prop_map(Edit::Change),
        select(&PIECES[..]).prop_map(Edit::Insert),
        (1..40_usize).prop_map(Edit::Remove),
        (1..40_usize).prop_map(Edit::Repeat),
    ];
    let edits = proptest::collection::vec((any::<proptest::sample::Index>(), edit), 0..4);
    (select(fixtures.to_vec()), edits).prop_flat_map(|(post, edits)| {
        let mut body = post.bytes().to_vec();
        for (place, edit) in edits {
            let place = place.index(body.len() + 1);
            let end = |length: usize| (place + length).min(body.len());
            match edit {
                Edit::Change(byte) => body.get_mut(place).into_iter().for_each(|old| *old = byte),
                Edit::Insert(piece) => drop(body.splice(place..place, piece.iter().copied())),
                Edit::Remove(length) => drop(body.drain(place..end(length))),
                Edit::Repeat(length) => {
                    let piece = body[place..end(length)].to_vec();
                    drop(body.splice(place..place, piece));
                }
            }
        }
        Just(body)
    })
}

#[test]
fn the_single_pass_decides_as_the_two_steps_do() {
    check(bodies::the_single_pass_decides_as_the_two_steps_do);
}

#[test]
fn every_reader_reads_alike() {
    check(bodies::every_reader_reads_alike);
}

#[test]
fn what_is_repaired_is_all_that_is_wrong() {
    check(bodies::what_is_repaired_is_all_that_is_wrong);
}

#[test]
fn what_decodes_says_the_same_as_the_json() {
    check(bodies::what_decodes_says_the_same_as_the_json);
}

#[test]
fn what_was_decoded_can_be_encoded_and_decoded_again() {
    check(bodies::what_was_decoded_can_be_encoded_and_decoded_again);
}

#[test]
fn drift_names_what_the_document_does_not() {
    check(bodies::drift_names_what_the_document_does_not);
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
