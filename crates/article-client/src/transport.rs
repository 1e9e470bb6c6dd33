use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::{
    Method, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use serde_json::Value;
use url::Url;

use crate::{
    Client, ErrorCode,
    error::{Error, Kind, Service},
};

/// How much of a text of the service an error keeps, in characters.
const SHOWN: usize = 200;

/// How much of an error's body is read, in bytes.
const ERROR: usize = 64 << 10;

/// How much any answer but an article may have, in bytes. It becomes JSON values, which take many times its length.
const SHORT: usize = 1 << 20;

impl Client {
    /// One attempt. The body of a success, or why there is none.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        body: Option<Bytes>,
    ) -> Result<Bytes, Error> {
        let is_order = body.is_some();
        let mut request = self.0.http.request(method, url);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let response = request.send().await.map_err(broken)?;
        let status = response.status();
        let retry_after = retry_after(&response, SystemTime::now());
        if status.is_redirection() {
            return Err(Error::new(Kind::Redirect { status: status.as_u16() }));
        }
        if !status.is_success() {
            let start = start_of_body(response).await;
            return Err(self.refusal(status, retry_after, &start));
        }
        let limit = self.0.body_limit;
        whole_body(response, if is_order { limit.min(SHORT) } else { limit }).await
    }

    fn refusal(&self, status: StatusCode, retry_after: Option<Duration>, body: &[u8]) -> Error {
        let status = status.as_u16();
        // A service, or what stands in front of it, may show the request that it refuses.
        let redacted = |text: &str| text.replace(self.0.key.expose(), "(the API key)");
        let shown = |text: &str| redacted(text).chars().take(SHOWN).collect::<String>();
        let documented: Option<Value> = serde_json::from_slice(body).ok();
        let code = documented.as_ref().and_then(|body| body.get("error")?.as_str());
        let (Some(code), Some(body)) = (code, &documented) else {
            let start = shown(&String::from_utf8_lossy(body));
            return Error::new(Kind::Status { status, retry_after, start });
        };
        // The document puts some fields beside the code and some into `details`.
        let details = body.get("details");
        let field = |name| body.get(name).or_else(|| details?.get(name));
        let text = |name| field(name).and_then(Value::as_str).map(shown);
        Error::new(Kind::Service(Service {
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
}

async fn whole_body(mut response: Response, limit: usize) -> Result<Bytes, Error> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > limit {
            return Err(Error::new(Kind::TooLarge { limit }));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Whatever is wrong with an error's body, its status counts.
async fn start_of_body(mut response: Response) -> Vec<u8> {
    let mut start = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        start.extend_from_slice(&chunk);
        if start.len() >= ERROR {
            start.truncate(ERROR);
            break;
        }
    }
    start
}

/// `44` and `44.0` alike.
#[allow(clippy::cast_possible_truncation)] // a whole number of credits within the range of i64
fn integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    value.as_i64().or_else(|| value.as_f64().filter(|&number| whole(number)).map(|n| n as i64))
}

fn broken(error: reqwest::Error) -> Error {
    let error = error.without_url();
    Error::new(if error.is_connect() {
        Kind::Connect(error)
    } else if error.is_timeout() {
        Kind::TimedOut(error)
    } else {
        Kind::Broken(error)
    })
}

/// Seconds, or a date (RFC 9110, section 10.2.3).
fn retry_after(response: &Response, now: SystemTime) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = || value.parse().ok().map(Duration::from_secs);
    let date = || httpdate::parse_http_date(value).ok()?.duration_since(now).ok();
    seconds().or_else(date)
}
