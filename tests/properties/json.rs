//! JSON as an independent parser reads it, which keeps a repeated key instead of choosing a value.

use std::collections::BTreeSet;

use article_webhook::ArticleResult;
use jiter::JsonValue;
use serde_json::Value;

/// The value that the text is, if it is well-formed.
pub(super) fn parse(text: &[u8]) -> Option<JsonValue<'_>> {
    JsonValue::parse(text, false).ok()
}

/// Every value behind a key; none where there is no object.
pub(super) fn values<'a>(
    value: &'a JsonValue<'a>,
    key: &str,
) -> impl Iterator<Item = &'a JsonValue<'a>> {
    let entries = match value {
        JsonValue::Object(entries) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter(move |(own, _)| own == key).map(|(_, value)| value)
}

/// Whether an object that the document describes has a key twice.
pub(super) fn repeats_a_key(value: &JsonValue<'_>) -> bool {
    repeats(value) || parts(value).any(repeats)
}

/// The objects inside a result that the document describes.
fn parts<'a>(value: &'a JsonValue<'a>) -> impl Iterator<Item = &'a JsonValue<'a>> {
    let parts = ["article", "featured_image", "social_posts"];
    parts.into_iter().flat_map(|part| values(value, part))
}

/// Whether an object that the document describes has more keys than are searched for a repeated one.
pub(super) fn has_many_keys(value: &JsonValue<'_>) -> bool {
    let has_many = |value: &JsonValue<'_>| match value {
        JsonValue::Object(entries) => entries.len() > 1024,
        _ => false,
    };
    has_many(value) || parts(value).any(has_many)
}

fn repeats(value: &JsonValue<'_>) -> bool {
    let JsonValue::Object(entries) = value else {
        return false;
    };
    let mut keys = BTreeSet::new();
    !entries.iter().all(|(key, _)| keys.insert(key))
}

/// How many arrays and objects the innermost value stands in.
pub(super) fn depth(value: &JsonValue<'_>) -> usize {
    match value {
        JsonValue::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        JsonValue::Object(entries) => {
            1 + entries.iter().map(|(_, value)| depth(value)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The largest magnitude of all numbers in it.
pub(super) fn vastest(value: &JsonValue<'_>) -> f64 {
    let vastest =
        |values: &mut dyn Iterator<Item = &JsonValue<'_>>| values.map(vastest).fold(0.0, f64::max);
    match value {
        JsonValue::Array(elements) => vastest(&mut elements.iter()),
        JsonValue::Object(entries) => vastest(&mut entries.iter().map(|(_, value)| value)),
        JsonValue::Float(number) => number.abs(),
        JsonValue::BigInt(number) => number.to_string().parse().map_or(f64::INFINITY, f64::abs),
        _ => 0.0,
    }
}

/// Whether `serde_json` reads every number of the result as it writes it. Without its feature
/// `float_roundtrip` it reads some floats of 16 or 17 digits as their neighbours.
pub(super) fn keeps_its_numbers(result: &ArticleResult) -> bool {
    let value = serde_json::to_value(result).expect("a result is JSON");
    let again = serde_json::from_str::<Value>(&value.to_string());
    again.is_ok_and(|again| again == value)
}
