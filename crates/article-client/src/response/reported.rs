use std::collections::HashMap;

use serde_json::{Number, value::RawValue};

use super::code::ErrorCode;
use crate::ApiKey;

/// How many characters of a text of the service are kept to be shown.
const MAX_SHOWN: usize = 200;

/// How many characters of a URL of the service are kept.
const MAX_URL: usize = 2048;

/// How much of an error response is read, in bytes: as text or as fields, it takes more memory.
const MAX_READ: usize = 64 << 10;

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
    pub(super) fn read(key: &ApiKey, body: &[u8]) -> Option<Self> {
        if body.len() > MAX_READ {
            return None;
        }
        let documented: Fields<'_> = serde_json::from_slice(body).ok()?;
        let code = documented.get("error").and_then(|raw| text(raw))?;
        // The document puts some fields beside the code, and some in `details`.
        let details =
            documented.get("details").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let details: Fields<'_> = details.unwrap_or_default();
        let field = |name| documented.get(name).or_else(|| details.get(name)).copied();
        let short_text = |name| field(name).and_then(text).map(|text| shown(key, &text));
        let url = field("upgrade_url").and_then(text);
        Some(Self {
            code: ErrorCode::from(&*shown(key, &code)),
            message: short_text("message").unwrap_or_default(),
            credits_remaining: field("credits_remaining").and_then(integer),
            upgrade_url: url.map(|url| redacted(key, &url, MAX_URL)),
            step: short_text("step"),
            credits_refunded: field("credits_refunded").and_then(integer),
        })
    }
}

/// The fields of an object, unread: as values, they would take many times the memory of the response.
type Fields<'a> = HashMap<String, &'a RawValue>;

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A text of the service as it may be kept and shown: shortened, and without the key.
pub(super) fn shown(key: &ApiKey, text: &str) -> String {
    redacted(key, text, MAX_SHOWN)
}

/// The beginning of a body as it may be kept and shown.
pub(super) fn beginning(key: &ApiKey, body: &[u8]) -> String {
    shown(key, &String::from_utf8_lossy(&body[..body.len().min(MAX_READ)]))
}

/// A service, or a proxy, may repeat the request that it refuses, with the key.
fn redacted(key: &ApiKey, text: &str, limit: usize) -> String {
    let parts = text.split(key.expose()).enumerate();
    let parts = parts.flat_map(|(at, part)| [if at == 0 { "" } else { "(the API key)" }, part]);
    parts.flat_map(str::chars).take(limit).collect()
}

/// An integer, also when it is written as `44.0`.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range of i64")]
fn integer(raw: &RawValue) -> Option<i64> {
    let value: Number = serde_json::from_str(raw.get()).ok()?;
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(|&number| whole(number)).map(|n| n as i64))
}
