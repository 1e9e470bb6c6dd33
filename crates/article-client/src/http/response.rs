use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use serde_json::{Number, value::RawValue};

use crate::{
    ApiKey, ErrorCode,
    error::{Error, Kind, ServiceError},
};

/// How many characters of a text of the service an error keeps.
const MAX_SHOWN: usize = 200;

/// How many characters of a URL of the service an error keeps.
const MAX_URL: usize = 2048;

/// The longest `Retry-After` that is handed out: the value comes from outside, and an application may wait for it.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3600);

/// How many bytes of an error response are read.
const MAX_ERROR_BODY: usize = 64 << 10;

/// The error for a response that is not a success. `body` is its first part.
pub(super) fn refusal(
    key: &ApiKey,
    status: StatusCode,
    retry_after: Option<Duration>,
    body: &[u8],
) -> Error {
    let status = status.as_u16();
    let documented: Fields<'_> = serde_json::from_slice(body).unwrap_or_default();
    // The document puts some fields beside the code, and some in `details`.
    let details = documented.get("details").and_then(|raw| serde_json::from_str(raw.get()).ok());
    let details: Fields<'_> = details.unwrap_or_default();
    let field = |name| documented.get(name).or_else(|| details.get(name)).copied();
    let Some(code) = documented.get("error").and_then(|raw| text(raw)) else {
        let start = shown(key, &String::from_utf8_lossy(body));
        return Error::new(Kind::Status { status, retry_after, start });
    };
    let short_text = |name| field(name).and_then(text).map(|text| shown(key, &text));
    let url = field("upgrade_url").and_then(text);
    Error::new(Kind::Service(ServiceError {
        status,
        code: ErrorCode::from(&*shown(key, &code)),
        message: short_text("message").unwrap_or_default(),
        credits_remaining: field("credits_remaining").and_then(integer),
        upgrade_url: url.map(|url| redacted(key, &url, MAX_URL)),
        step: short_text("step"),
        credits_refunded: field("credits_refunded").and_then(integer),
        retry_after,
    }))
}

/// The fields of an object, unread: as values, they would take many times the memory of the response.
type Fields<'a> = HashMap<String, &'a RawValue>;

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A text of the service as it may be kept and shown: shortened, and without the key.
pub(crate) fn shown(key: &ApiKey, text: &str) -> String {
    redacted(key, text, MAX_SHOWN)
}

/// A service, or a proxy, may repeat the request that it refuses, with the key.
fn redacted(key: &ApiKey, text: &str, limit: usize) -> String {
    let parts = text.split(key.expose()).enumerate();
    let parts = parts.flat_map(|(at, part)| [if at == 0 { "" } else { "(the API key)" }, part]);
    parts.flat_map(str::chars).take(limit).collect()
}

/// The whole body, if it is within the limit.
pub(super) async fn read_limited(mut response: Response, limit: usize) -> Result<Bytes, Error> {
    let declared = response.content_length().unwrap_or(0);
    let mut body = Vec::with_capacity(limit.min(declared.try_into().unwrap_or(limit)));
    while let Some(chunk) = response.chunk().await.map_err(transport_error)? {
        if body.len() + chunk.len() > limit {
            return Err(Error::new(Kind::TooLarge { limit }));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.into_boxed_slice().into())
}

/// The first part of an error response. An error while reading does not matter: the status counts.
pub(super) async fn read_start(mut response: Response) -> Vec<u8> {
    let mut start = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        start.extend_from_slice(&chunk);
        if start.len() >= MAX_ERROR_BODY {
            start.truncate(MAX_ERROR_BODY);
            break;
        }
    }
    start
}

pub(super) fn transport_error(error: reqwest::Error) -> Error {
    let error = error.without_url();
    Error::new(if error.is_connect() {
        Kind::Connect(error)
    } else if error.is_timeout() {
        Kind::TimedOut(error)
    } else {
        Kind::Broken(error)
    })
}

/// `Retry-After` as seconds, or as a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = || value.parse().ok().map(Duration::from_secs);
    let date = || httpdate::parse_http_date(value).ok()?.duration_since(SystemTime::now()).ok();
    seconds().or_else(date).map(|asked| asked.min(MAX_RETRY_AFTER))
}

/// An integer, also when it is written as `44.0`.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range of i64")]
fn integer(raw: &RawValue) -> Option<i64> {
    let value: Number = serde_json::from_str(raw.get()).ok()?;
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(|&number| whole(number)).map(|n| n as i64))
}
