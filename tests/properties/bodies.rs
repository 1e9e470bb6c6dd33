//! What the core reads in a body, against two independent readers: `serde_json`'s values, and a
//! parser that shares no line with it.

use std::fmt::Debug;

use article_webhook::{
    ArticleResult, Delivery, Difference, Drift, Envelope, Kind, Receiver, Refused, Rejection,
    SocialPosts, adapter, fixture,
};
use bytes::Bytes;
use jiter::JsonValue;
use serde_json::Value;

use super::{json, lenient};

/// Everything that is held against a body.
pub const ALL: [fn(&[u8]); 7] = [
    the_single_pass_decides_as_the_two_steps_do,
    every_reader_reads_alike,
    what_is_repaired_is_all_that_is_wrong,
    an_article_is_decoded,
    what_decodes_says_the_same_as_the_json,
    what_was_decoded_can_be_encoded_and_decoded_again,
    drift_names_what_the_document_does_not,
];

/// Holds the core to a body.
pub fn check(data: &[u8]) {
    for property in ALL {
        property(data);
    }
}

/// The job that the head of every body speaks of, if it speaks of one.
const JOB: &str = "job_7c1e4a52";

const HEAD: [(&str, &str); 4] = [
    ("Authorization", fixture::TOKEN),
    ("Content-Type", "application/json"),
    ("X-Service-Event", "article.complete"),
    ("X-Service-Job-Id", JOB),
];

fn open(head: &[(&'static str, &'static str)]) -> Result<Envelope, Refused> {
    thread_local!(static RECEIVER: Receiver = fixture::receiver());
    RECEIVER.with(|receiver| receiver.open(head))
}

fn read(body: &[u8]) -> Result<Delivery, Refused> {
    open(&HEAD)?.read(Bytes::copy_from_slice(body))
}

/// The single pass decides as reading and decoding do, whatever the headers are: one of four heads,
/// which the length of the body chooses.
pub fn the_single_pass_decides_as_the_two_steps_do(body: &[u8]) {
    let [token, json, event, _] = HEAD;
    let other = ("X-Service-Job-Id", "job_other");
    let heads = [&[token, json, HEAD[3]][..], &HEAD[..3], &[token, json, event, other], &HEAD];
    let head = heads[body.len() % heads.len()];
    let body = Bytes::copy_from_slice(body);
    let read = open(head).and_then(|envelope| envelope.read(body.clone()));
    let one_pass = open(head).and_then(|envelope| envelope.article(body)).map(|(result, _)| result);
    match read.map(|delivery| (delivery.job_id().clone(), delivery.decode())) {
        Ok((_, Ok(result))) => assert_eq!(one_pass, Ok(result)),
        Ok((job_id, Err(error))) => {
            let refused = one_pass.expect_err("the two steps did not decode it");
            assert_eq!(*refused.rejection(), Rejection::Undecodable(error));
            assert_eq!(refused.job_id(), Some(&job_id));
            assert_eq!(refused.body(), None, "it is well-formed");
        }
        Err(refused) => assert_eq!(one_pass, Err(refused)),
    }
}

/// What is let in, and what is refused, every reader would let in and refuse, and for the same reason: a well-formed
/// body as it is, and another as it was repaired.
pub fn every_reader_reads_alike(body: &[u8]) {
    let verdict = read(body);
    let text = lenient::rewrite(body);
    let other = text.as_deref().and_then(|text| json::parse(text.as_bytes()));
    if is_unclear(body, other.as_ref()) {
        return;
    }
    let expected = match &other {
        Some(other) if is_well_formed(other) => identify(other),
        _ => Err("malformed_json"),
    };
    let found = verdict.as_ref().map(Delivery::job_id).map_err(|refused| refused.rejection());
    assert_eq!(found.map_err(Rejection::code).map(|id| id.as_str()), expected);
    if let Ok(delivery) = &verdict {
        assert_eq!(delivery.body(), body);
        let value = json_of(body).expect("a delivery is well-formed JSON, or was repaired");
        let id = value.as_object().expect("a delivery is an object").get("job_id");
        assert!(id.is_none_or(|id| id == JOB));
    }
}

/// A body of which readers may differ.
fn is_unclear(body: &[u8], value: Option<&JsonValue<'_>>) -> bool {
    // Numbers on the border of what an f64 holds are rounded in as many ways as there are readers.
    let border = value.is_some_and(|value| json::vastest(value) > 1.7e308);
    // With numbers of arbitrary precision, an object with this key cannot be distinguished from a number.
    // Of very many keys, not all are compared with each other.
    let many = value.is_some_and(json::has_many_keys);
    border || many || body.windows(NUMBER.len()).any(|part| part == NUMBER)
}

/// The body as another parser reads it: as it is if it is well-formed, and else repaired by another program.
fn json_of(body: &[u8]) -> Option<Value> {
    let as_it_is = serde_json::from_slice(body).ok();
    as_it_is.or_else(|| serde_json::from_str(&lenient::rewrite(body)?).ok())
}

/// A well-formed body is not repaired. What is repaired is what another program makes of the same body, with the same
/// names and the same job id.
pub fn what_is_repaired_is_all_that_is_wrong(body: &[u8]) {
    let (strict, copy, text) = (json::parse(body), adapter::repair(body), lenient::rewrite(body));
    if is_unclear(body, text.as_deref().and_then(|text| json::parse(text.as_bytes())).as_ref()) {
        return;
    }
    if let Some(strict) = &strict {
        assert_eq!(copy, None, "a well-formed body was repaired");
        if let Some(text) = &text {
            assert_eq!(json::parse(text.as_bytes()).as_ref(), Some(strict), "{text}");
        }
    }
    let Some(copy) = copy else {
        assert!(strict.is_some() || read(body).is_err(), "it was let in without a repair");
        return;
    };
    assert!(2 * copy.len() <= 5 * body.len() + 8, "{} bytes of {}", copy.len(), body.len());
    if let (Some(text), Some(found)) = (&text, json::parse(&copy)) {
        assert_eq!(json::parse(text.as_bytes()), Some(found), "{text}");
    }
    if let Ok(delivery) = read(body) {
        let text = text.expect("another program repairs it as well");
        assert!(json::parse(&copy).is_some(), "{text}");
        assert!(serde_json::from_slice::<Value>(&copy).is_ok(), "{text}");
        let is_repair = |drift: &Drift| matches!(drift.difference, Difference::Repaired(_));
        assert!(delivery.drift().iter().any(is_repair), "no repair is reported");
    }
}

fn is_well_formed(value: &JsonValue<'_>) -> bool {
    let object = matches!(value, JsonValue::Object(_));
    object && !json::repeats_a_key(value) && json::depth(value) <= 64
}

/// The job that the body is about, under the head of every body.
fn identify(value: &JsonValue<'_>) -> Result<&'static str, &'static str> {
    let harmful = |c: char| c.is_whitespace() || c.is_control();
    match json::values(value, "job_id").next() {
        None => Ok(JOB),
        Some(JsonValue::Str(id)) if id == JOB => Ok(JOB),
        Some(JsonValue::Str(id)) => {
            let legal = (1..=255).contains(&id.len()) && !id.contains(harmful);
            let legal = legal && id != "." && id != "..";
            Err(if legal { "job_id_mismatch" } else { "invalid_job_id" })
        }
        Some(_) => Err("invalid_job_id"),
    }
}

const NUMBER: &[u8] = b"$serde_json::private::Number";

/// What is let in, has all that an article needs and reports no failure is decoded.
pub fn an_article_is_decoded(body: &[u8]) {
    let Some(value) = read(body).ok().and_then(|_| json_of(body)) else {
        return;
    };
    let article = &value["article"];
    let required = [&value["job_id"], &article["title"], &article["html"]];
    let is_complete = matches!(value["status"].as_str(), None | Some("complete"));
    if required.iter().all(|text| text.is_string()) && is_complete && value["error"].is_null() {
        assert!(ArticleResult::from_json(body).is_ok(), "an article was refused: {value}");
    }
}

/// What decodes says the same as the JSON.
pub fn what_decodes_says_the_same_as_the_json(body: &[u8]) {
    let Ok(result) = ArticleResult::from_json(body) else {
        return;
    };
    let value = json_of(body).expect("a result is well-formed JSON, or was repaired");
    let (json, article) = (&value["article"], &result.article);
    same(&value["job_id"], Some(result.job_id.as_str()), Value::as_str);
    assert_eq!(result.status.as_str(), value["status"].as_str().unwrap_or("complete"));
    same(&json["title"], Some(&*article.title), Value::as_str);
    same(&json["html"], Some(article.html.as_untrusted_str()), Value::as_str);
    same(&json["meta_title"], article.meta_title.as_deref(), Value::as_str);
    same(&json["meta_description"], article.meta_description.as_deref(), Value::as_str);
    same(&json["word_count"], article.word_count, integer);
    same(&json["eeat_score"], article.eeat_score, Value::as_f64);
    same(&value["credits_used"], result.credits_used, Value::as_f64);
    let (json, image) = (image_of(&value["featured_image"]), result.featured_image.as_ref());
    let url = |json: &'_ Value| json.as_str().or_else(|| json["url"].as_str()).map(str::to_owned);
    assert_eq!(image.and_then(|image| image.url.clone()), url(json));
    same(&json["alt_text"], image.and_then(|image| image.alt_text.as_deref()), Value::as_str);
    let (json, posts) = (&value["social_posts"], &result.social_posts);
    // A value has at least two bytes. Posts of more than 4096 values are missing.
    if body.len() > 2 * 4096 && *posts == SocialPosts::default() {
        return;
    }
    for (json, posts) in [(&json["linkedin"], &posts.linkedin), (&json["x"], &posts.x)] {
        let found = posts.iter().map(|post| post.json());
        assert!(json.as_array().into_iter().flatten().eq(found), "{json} was lost");
    }
}

/// An integer from 0, however it is written.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is integral and in range"
)]
fn integer(json: &Value) -> Option<u64> {
    let whole =
        |float: &f64| float.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(float);
    json.as_u64().or_else(|| json.as_f64().filter(whole).map(|float| float as u64))
}

/// An array of one object or text counts as that, and an empty text as nothing.
fn image_of(json: &Value) -> &Value {
    let inner = match json.as_array().map(Vec::as_slice) {
        Some([inner]) if !inner.is_array() => inner,
        _ => json,
    };
    if inner.as_str() == Some("") { &Value::Null } else { inner }
}

/// A value of another kind than documented is missing.
fn same<'a, T: PartialEq + Debug + Copy>(
    json: &'a Value,
    found: Option<T>,
    read: impl FnOnce(&'a Value) -> Option<T>,
) {
    assert_eq!(found, read(json));
}

/// What was decoded can be encoded, and says the same when it is decoded again.
pub fn what_was_decoded_can_be_encoded_and_decoded_again(body: &[u8]) {
    let Ok(result) = ArticleResult::from_json(body) else {
        return;
    };
    let encoded = serde_json::to_vec(&result).expect("a result is JSON");
    if !json::keeps_its_numbers(&result) {
        return;
    }
    assert_eq!(ArticleResult::from_json(&encoded).as_ref(), Ok(&result));
    let again: ArticleResult = serde_json::from_slice(&encoded).expect("a result is read again");
    assert_eq!(again, result);
}

/// A body without drift has no field that the document does not name. Of many such fields, some are named.
pub fn drift_names_what_the_document_does_not(body: &[u8]) {
    let Ok(delivery) = read(body) else {
        return;
    };
    let value = json_of(body).expect("a delivery is well-formed JSON, or was repaired");
    let known = ["job_id", "status", "article", "featured_image", "social_posts", "credits_used"];
    let entries = value.as_object().into_iter().flatten();
    let new: Vec<_> = entries.filter(|(key, _)| !known.contains(&key.as_str())).collect();
    let drift = delivery.drift();
    let are_more = new.len() > 64 || new.iter().any(|(key, _)| key.len() > 128);
    let says_more = |drift: &Drift| match drift.difference {
        Difference::Unexpected { expected, .. } => {
            drift.path.is_empty() && expected.contains("unknown fields")
        }
        _ => false,
    };
    assert_eq!(drift.iter().any(says_more), are_more);
    let unknown = || {
        drift.iter().filter_map(|drift| match drift.difference {
            Difference::UnknownField(found) => Some((&*drift.path, found)),
            _ => None,
        })
    };
    for (key, value) in new.into_iter().filter(|_| !are_more) {
        let found = unknown().find(|(path, _)| path == key).map(|(_, found)| found);
        assert_eq!(found, Some(kind(value)), "{key}");
    }
    for (path, _) in unknown().filter(|(path, _)| !path.contains('.')) {
        assert!(value.get(path).is_some(), "{path}");
    }
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
