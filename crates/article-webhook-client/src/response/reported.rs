use std::{collections::HashMap, fmt};

use article_webhook::adapter;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Number, value::RawValue};

use super::{code::ErrorCode, raw::MAX_SHORT_BODY, secrets::Secrets};

/// How many characters of a text of the service are kept to be shown.
const MAX_SHOWN: usize = 200;

/// How many characters of a URL of the service are kept.
const MAX_URL: usize = 2048;

/// How much of a body is read to show its beginning, in bytes: as text, it may take more memory.
const MAX_START: usize = 64 << 10;

/// The fields that are read.
const NAMES: [&str; 7] =
    ["error", "message", "details", "credits_remaining", "upgrade_url", "step", "credits_refunded"];

/// An error that the service reports in the documented shape (service document, section 7).
#[derive(Debug, Clone)]
pub(crate) struct Reported {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) credits_remaining: Option<i64>,
    pub(crate) upgrade_url: Option<String>,
    pub(crate) step: Option<String>,
    pub(crate) credits_refunded: Option<i64>,
}

impl Reported {
    pub(super) fn read(secrets: &Secrets<'_>, body: &[u8]) -> Option<Self> {
        if body.len() > MAX_SHORT_BODY {
            return None;
        }
        let repaired = adapter::repair(body);
        let body = repaired.as_deref().unwrap_or(body);
        let documented: Fields<'_> = serde_json::from_slice(body).ok()?;
        let code = documented.0.get("error").and_then(|raw| text(raw))?;
        // The document puts some fields beside the code, and some in `details`.
        let details =
            documented.0.get("details").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let details: Fields<'_> = details.unwrap_or_default();
        let field = |name| documented.0.get(name).or_else(|| details.0.get(name)).copied();
        let short_text = |name| field(name).and_then(text).map(|text| shown(secrets, &text));
        let url = field("upgrade_url").and_then(text);
        Some(Self {
            code: ErrorCode::from(&*shown(secrets, &code)),
            message: short_text("message").unwrap_or_default(),
            credits_remaining: field("credits_remaining").and_then(integer),
            upgrade_url: url.map(|url| secrets.hidden_in(&url, MAX_URL)),
            step: short_text("step"),
            credits_refunded: field("credits_refunded").and_then(integer),
        })
    }
}

/// Fields of an object that have one of [`NAMES`], unread: as values, or with all the others, they would take many times
/// the memory of the response. Of two with the same name, the last counts.
#[derive(Default)]
struct Fields<'a>(HashMap<&'static str, &'a RawValue>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, value)) = from.next_entry::<String, &RawValue>()? {
                    if let Some(name) = NAMES.into_iter().find(|&known| known == name) {
                        fields.0.insert(name, value);
                    }
                }
                Ok(fields)
            }
        }

        from.deserialize_map(Object)
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A text of the service as it may be kept and shown: shortened, and without secrets.
pub(super) fn shown(secrets: &Secrets<'_>, text: &str) -> String {
    secrets.hidden_in(text, MAX_SHOWN)
}

/// The beginning of a body as it may be kept and shown.
pub(super) fn beginning(secrets: &Secrets<'_>, body: &[u8]) -> String {
    shown(secrets, &String::from_utf8_lossy(&body[..body.len().min(MAX_START)]))
}

/// An integer, also when it is written as `44.0`.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range of i64")]
fn integer(raw: &RawValue) -> Option<i64> {
    let value: Number = serde_json::from_str(raw.get()).ok()?;
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(|&number| whole(number)).map(|n| n as i64))
}
