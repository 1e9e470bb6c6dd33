use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use serde_json::Value;

use crate::{
    ApiKey, ErrorCode,
    error::{Error, Kind, ServiceError},
};

/// How many characters of a text of the service an error keeps.
const MAX_SHOWN: usize = 200;

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
    // A service, or a proxy, may repeat the request that it refuses.
    let redacted = |text: &str| text.replace(key.expose(), "(the API key)");
    let shown = |text: &str| redacted(text).chars().take(MAX_SHOWN).collect::<String>();
    let documented: Option<Value> = serde_json::from_slice(body).ok();
    let code = documented.as_ref().and_then(|body| body.get("error")?.as_str());
    let (Some(code), Some(body)) = (code, &documented) else {
        let start = shown(&String::from_utf8_lossy(body));
        return Error::new(Kind::Status { status, retry_after, start });
    };
    // The document puts some fields beside the code, and some in `details`.
    let details = body.get("details");
    let field = |name| body.get(name).or_else(|| details?.get(name));
    let text = |name| field(name).and_then(Value::as_str).map(shown);
    Error::new(Kind::Service(ServiceError {
        status,
        code: ErrorCode::from(&*shown(code)),
        message: text("message").unwrap_or_default(),
        credits_remaining: field("credits_remaining").and_then(integer),
        upgrade_url: field("upgrade_url").and_then(Value::as_str).map(redacted),
        step: text("step"),
        credits_refunded: field("credits_refunded").and_then(integer),
        retry_after,
    }))
}

/// The whole body, if it is within the limit.
pub(super) async fn read_limited(mut response: Response, limit: usize) -> Result<Bytes, Error> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(transport_error)? {
        if body.len() + chunk.len() > limit {
            return Err(Error::new(Kind::TooLarge { limit }));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
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
    seconds().or_else(date)
}

/// An integer, also when it is written as `44.0`.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number in the range of i64")]
fn integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(|&number| whole(number)).map(|n| n as i64))
}
