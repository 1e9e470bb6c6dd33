//! Random bodies, judged by the core and by independent readers.
//!
//! Each body is one of the fixtures with a few random edits: bytes changed, pieces of JSON inserted,
//! stretches removed or repeated. `BODIES=1000000` runs that many; a failing body is printed.

use std::env;

use article_webhook::{
    ArticleResult, Delivery, Kind, Refused, Rejection,
    fixture::{self, Post},
};
use proptest::{
    prelude::{Just, Strategy, any, prop_oneof},
    sample::select,
    test_runner::{Config, TestRunner},
};
use serde_json::{Number, Value};

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

/// Pieces that sit on the edges of the rules.
const PIECES: [&[u8]; 27] = [
    br#""$serde_json::private::Number":"7","#,
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"null",
    b"true",
    b"1e999",
    b"-0.0",
    b"44.0",
    br"\u0000",
    br"\ud83c",
    br"\udfc3",
    br"job\u005fid",
    br#""job_id":"job_7c1e4a52","#,
    br#""job_id":7,"#,
    br#""title":"again","#,
    br#""credits_used":"2","#,
    br#""status":"failed","#,
    b"\xff",
    b"\xef\xbb\xbf",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"\n",
];

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let fixtures = [
        Post::complete(),
        Post::minimal(),
        Post::unicode(),
        Post::extra_fields(),
        Post::missing_optional_fields(),
    ];
    let edit = prop_oneof![
        any::<u8>().prop_map(Edit::Change),
        select(&PIECES[..]).prop_map(Edit::Insert),
        (1..40_usize).prop_map(Edit::Remove),
        (1..40_usize).prop_map(Edit::Repeat),
    ];
    let edits = proptest::collection::vec((any::<proptest::sample::Index>(), edit), 0..4);
    (select(fixtures.to_vec()), edits).prop_flat_map(|(post, edits)| {
        let mut body = post.body().to_vec();
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

fn read(post: &Post) -> Result<Delivery, Refused> {
    fixture::receiver().open(post.headers())?.read(post.body().clone())
}

fn article(post: &Post) -> Result<ArticleResult, Refused> {
    fixture::receiver().open(post.headers())?.article(post.body())
}

#[test]
fn the_single_pass_judges_as_the_two_steps_do() {
    check(|body| {
        let post = Post::new(body.to_vec());
        let heads = [
            post.clone().without_header("X-Service-Event"),
            post.clone().without_header("X-Service-Job-Id"),
            post.clone().header("X-Service-Job-Id", "job_other"),
            post,
        ];
        for post in heads {
            let one_pass = article(&post);
            match read(&post).map(|delivery| (delivery.job_id().clone(), delivery.decode())) {
                Ok((_, Ok(result))) => assert_eq!(one_pass, Ok(result)),
                Ok((job_id, Err(error))) => {
                    let refused = one_pass.expect_err("the two steps did not decode it");
                    assert_eq!(*refused.rejection(), Rejection::Undecodable(error));
                    assert_eq!(refused.job_id(), Some(&job_id));
                }
                Err(refused) => assert_eq!(one_pass, Err(refused)),
            }
        }
    });
}

/// Also where an application turns on numbers of arbitrary precision, which look like objects.
#[test]
fn a_number_is_no_level_of_nesting() {
    let nested = |levels| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        read(&Post::new(format!(r#"{{"job_id":"job_7c1e4a52","new":{open}1.5{close}}}"#)))
    };
    assert!(nested(63).is_ok());
    assert_eq!(nested(64).unwrap_err().rejection().code(), "malformed_json");
}

#[test]
fn what_is_let_in_every_reader_reads_alike() {
    check(|body| {
        let Ok(delivery) = read(&Post::new(body.to_vec())) else {
            return;
        };
        let value: Value = serde_json::from_slice(body).expect("a delivery is well-formed JSON");
        let object = value.as_object().expect("a delivery is an object");
        match object.get("job_id") {
            Some(id) => assert_eq!(id, delivery.job_id().as_str()),
            None => assert_eq!(delivery.job_id().as_str(), "job_7c1e4a52"),
        }
        assert_eq!(delivery.body(), body);
    });
}

#[test]
fn what_is_refused_as_malformed_breaks_a_rule() {
    check(|body| {
        let Err(refused) = read(&Post::new(body.to_vec())) else {
            return;
        };
        if !matches!(refused.rejection(), Rejection::MalformedJson { .. }) {
            return;
        }
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return;
        };
        // It is JSON, so one of our own rules was broken: an object, no repeated keys, bounded depth.
        let written = value.to_string();
        let repeats = count_keys(body) > count_keys(written.as_bytes());
        let vast = holds(&value, &|number| number.as_f64().is_none());
        // With numbers of arbitrary precision, an object with this key cannot be told from a number.
        let guise = body.windows(NUMBER.len()).any(|part| part == NUMBER);
        let broken = !value.is_object() || repeats || vast || guise || depth(&value) > 64;
        assert!(broken, "refused without a reason");
    });
}

/// Keys in the text, repeated ones included: what stands in front of a colon.
fn count_keys(body: &[u8]) -> usize {
    let mut keys = 0;
    let (mut in_string, mut escaped) = (false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b':' if !in_string => keys += 1,
            _ => {}
        }
    }
    keys
}

const NUMBER: &[u8] = b"$serde_json::private::Number";

fn holds(value: &Value, property: &dyn Fn(&Number) -> bool) -> bool {
    match value {
        Value::Number(number) => property(number),
        Value::Array(array) => array.iter().any(|value| holds(value, property)),
        Value::Object(object) => object.values().any(|value| holds(value, property)),
        _ => false,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(array) => 1 + array.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn what_decodes_says_the_same_as_the_json() {
    check(|body| {
        let Ok(result) = ArticleResult::from_json(body) else {
            return;
        };
        let value: Value = serde_json::from_slice(body).expect("a result is well-formed JSON");
        assert_eq!(value["job_id"], result.job_id.as_str());
        assert_eq!(value["status"], "complete");
        assert_eq!(value["article"]["title"], *result.article.title);
        assert_eq!(value["article"]["html"], result.article.html.as_untrusted_str());
        assert_eq!(value["article"]["meta_title"].as_str(), result.article.meta_title.as_deref());
        let words = result.article.word_count.as_ref().and_then(Number::as_f64);
        assert_eq!(value["article"]["word_count"].as_f64(), words);
        let url = result.featured_image.as_ref().and_then(|image| image.url.as_deref());
        assert_eq!(value["featured_image"]["url"].as_str(), url);
        let posts: Vec<_> = result.social_posts.x.iter().map(|post| post.json().clone()).collect();
        assert_eq!(value["social_posts"]["x"].as_array().cloned().unwrap_or_default(), posts);
    });
}

#[test]
fn what_was_decoded_can_be_encoded_and_decoded_again() {
    check(|body| {
        let Ok(result) = ArticleResult::from_json(body) else {
            return;
        };
        let encoded = serde_json::to_vec(&result).expect("a result is JSON");
        assert_eq!(ArticleResult::from_json(&encoded).as_ref(), Ok(&result));
    });
}

#[test]
fn a_body_without_drift_has_no_field_that_the_document_does_not_name() {
    check(|body| {
        let Ok(delivery) = read(&Post::new(body.to_vec())) else {
            return;
        };
        let value: Value = serde_json::from_slice(body).expect("a delivery is well-formed JSON");
        let known =
            ["job_id", "status", "article", "featured_image", "social_posts", "credits_used"];
        let unknown = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !known.contains(&key.as_str()));
        let drift = delivery.drift();
        for (key, value) in unknown {
            let found = drift.iter().find(|drift| drift.path == *key && drift.expected.is_none());
            assert_eq!(found.map(|drift| drift.found), Some(kind(value)), "{key}");
        }
        let reported =
            drift.iter().filter(|drift| drift.expected.is_none() && !drift.path.contains('.'));
        for drift in reported {
            assert!(value.get(&*drift.path).is_some(), "{drift}");
        }
    });
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(_) => Kind::Number,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}
