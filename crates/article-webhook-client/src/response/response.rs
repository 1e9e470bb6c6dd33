use std::{
    fmt,
    time::{Duration, SystemTime},
};

use article_webhook::{ArticleResult, JobId, Status, StatusCode};
use bytes::Bytes;

use super::{
    code::ErrorCode,
    outcome::CallOutcome,
    outline::Outline,
    raw::{Length, MAX_SHORT_BODY, RawResponse},
    reported::{Reported, beginning, shown},
    secrets::Secrets,
};
use crate::ApiKey;

/// A response of the service, and what it means. Its text (`Display`) says the meaning, escaped and without secrets.
///
/// ```
/// use std::time::SystemTime;
/// use article_webhook_client::{ApiKey, JobId, CallOutcome, RawResponse, Response, StatusCode};
///
/// let (key, asked) = (ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "job_7c1e4a52".parse::<JobId>()?);
/// let classify = |status, body: &'static str| {
///     let raw = RawResponse::new(status, &[("Content-Type", "application/json")], body, SystemTime::now());
///     Response::classify(&key, &asked, raw)
/// };
/// let response = classify(StatusCode::OK, r#"{"job_id":"job_7c1e4a52","status":"queued"}"#);
/// assert!(matches!(response.outcome, CallOutcome::Unfinished { status: Some(ref status), .. } if status == "queued"));
/// assert_eq!(response.sent_at, None); // it had no `Date`
///
/// let response = classify(StatusCode::OK, "<h1>Welcome</h1>"); // a proxy's page
/// assert!(matches!(response.outcome, CallOutcome::Page));
/// assert_eq!(response.body, "<h1>Welcome</h1>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive] // the service may report more
pub struct Response {
    /// The HTTP status.
    pub status: StatusCode,
    /// When the service answered, by its own clock, to the second: its `Date`. With the time on this machine it tells
    /// whether one of the clocks is wrong.
    pub sent_at: Option<SystemTime>,
    /// The pause that the service asks for, from `Retry-After`, in full: up to hundreds of years, because the value
    /// comes from outside. A date is measured against the `Date` of the response, or without one against the clock of
    /// this machine.
    pub retry_after: Option<Duration>,
    /// The bytes of the body as they came: whole, if it may be an article, and otherwise at most the first MiB. They
    /// may repeat the request, with the API key and the webhook URL.
    pub body: Bytes,
    /// What it means.
    pub outcome: CallOutcome,
    /// Whether the body names the job that was asked for.
    names_job: bool,
    pub(super) reported: Option<Box<Reported>>,
    /// The beginning of a body that is not in the documented shape, without secrets.
    pub(super) start: String,
}

impl Response {
    /// The meaning of a response to a question for the job `asked`. `key` is the key of the call: texts that are kept
    /// to be shown do not contain it.
    #[must_use]
    pub fn classify(key: &ApiKey, asked: &JobId, raw: RawResponse) -> Self {
        let secrets = Secrets::of(key);
        if !raw.is_success() {
            return Self::refusal(&secrets, raw);
        }
        let mut repaired = None;
        let outline = Outline::read_repaired(&raw.body, &mut repaired);
        let job_id = outline.as_ref().ok().and_then(Outline::job_id);
        let names_job = job_id.is_some_and(|job_id| job_id == asked.as_str());
        let outcome = job(&secrets, asked, &raw, outline).unwrap_or_else(|outcome| outcome);
        Self { names_job, ..Self::new(raw, outcome) }
    }

    pub(crate) fn refusal(secrets: &Secrets<'_>, raw: RawResponse) -> Self {
        let reported = Reported::read(secrets, &raw.body).map(Box::new);
        let start = match &reported {
            Some(_) => String::new(),
            None => beginning(secrets, &raw.body),
        };
        let outcome = CallOutcome::of_refusal(raw.status, reported.as_deref());
        Self { reported, start, ..Self::new(raw, outcome) }
    }

    pub(crate) fn new(raw: RawResponse, outcome: CallOutcome) -> Self {
        let RawResponse { status, sent_at, retry_after, body, .. } = raw;
        let body = match outcome {
            // The body may be the article, or what is left of it.
            CallOutcome::Complete(_)
            | CallOutcome::Undecodable(_)
            | CallOutcome::Draft { .. }
            | CallOutcome::NotJson
            | CallOutcome::OtherJob
            | CallOutcome::InvalidJobId => body,
            // A slice would keep the memory of the whole.
            _ if body.len() > MAX_SHORT_BODY => Bytes::copy_from_slice(&body[..MAX_SHORT_BODY]),
            _ => body,
        };
        let (names_job, reported, start) = (false, None, String::new());
        Self { status, sent_at, retry_after, body, outcome, names_job, reported, start }
    }

    /// Whether the body of a success names the job that was asked for, by its `job_id`. One that does not, such as `{}`, may
    /// come from a proxy.
    #[must_use]
    pub fn names_the_job(&self) -> bool {
        self.names_job
    }

    /// What another response must say again before this one counts: the bytes of a [draft](CallOutcome::Draft), or the
    /// word of a [failure](CallOutcome::FailedState) that is not in its documented form. `None` for any other outcome.
    #[must_use]
    pub fn unconfirmed(&self) -> Option<&[u8]> {
        match &self.outcome {
            CallOutcome::Draft { .. } => Some(&self.body),
            CallOutcome::FailedState { state } => Some(state.as_bytes()),
            _ => None,
        }
    }

    /// The code of the service, if it reported an error in the documented shape.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        self.reported.as_ref().map(|reported| &reported.code)
    }

    pub(crate) fn reported(&self) -> Option<&Reported> {
        self.reported.as_deref()
    }

    /// Whether the same call may succeed later: 408, 429 or a 5xx, other than `generation_failed`.
    pub(crate) fn is_transient(&self) -> bool {
        // Statuses from 600 are read as 5xx (RFC 9110, section 15).
        matches!(self.outcome, CallOutcome::RateLimited | CallOutcome::Unavailable)
            || matches!(self.outcome, CallOutcome::UnknownStatus if self.status.as_u16() >= 600)
    }

    /// Whether the service itself refused a call that changes something. A 408 or 5xx may come from a proxy, which
    /// does not know what the service did. A redirect is a usual response to a form that was carried out, unless it asks
    /// to send the same request elsewhere (301, 307 and 308).
    pub(crate) fn is_certain_refusal(&self) -> bool {
        match self.status.as_u16() {
            301 | 307 | 308 => true,
            300..400 | 408 => false,
            400..500 => true,
            _ => matches!(self.outcome, CallOutcome::Failed { .. }),
        }
    }
}

/// The outcome of a success, when the job `asked` was asked for.
fn job(
    secrets: &Secrets<'_>,
    asked: &JobId,
    raw: &RawResponse,
    outline: Result<Outline<'_>, CallOutcome>,
) -> Result<CallOutcome, CallOutcome> {
    if let Length::OverLimit(limit) = raw.length {
        return Err(CallOutcome::TooLarge { limit });
    }
    let outline = outline?;
    if outline.names_a_job() {
        let job_id = outline.job_id().and_then(|job_id| job_id.parse::<JobId>().ok());
        if job_id.ok_or(CallOutcome::InvalidJobId)? != *asked {
            return Err(CallOutcome::OtherJob);
        }
    }
    // Unlike a delivery, which the service sends when the job is complete, a response may come before that.
    let status = outline.status();
    let has_article = outline.has_article();
    let result = ArticleResult::from_json(&raw.body);
    // An article in which a key stands twice has none that can be distinguished from another.
    let is_malformed = result.as_ref().is_err_and(|error| error.malformed().is_some());
    if !has_article
        && !is_malformed
        && let Some(word) = outline.failure()
    {
        return Ok(CallOutcome::FailedState { state: word });
    }
    if has_article || is_malformed || status.as_deref() == Some("complete") {
        let result = result.map_err(CallOutcome::Undecodable)?;
        return Ok(match status {
            Some(status) if Status::from(&*status).is_complete() => {
                CallOutcome::Complete(Box::new(result))
            }
            status => CallOutcome::Draft { status: status.map(|status| shown(secrets, &status)) },
        });
    }
    if raw.body.len() > MAX_SHORT_BODY {
        return Err(CallOutcome::TooLarge { limit: MAX_SHORT_BODY });
    }
    Ok(CallOutcome::Unfinished { status: status.map(|status| shown(secrets, &status)) })
}

/// Without the body.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("outcome", &self.outcome)
            .field("code", &self.code())
            .field("retry_after", &self.retry_after)
            .field("length", &self.body.len())
            .finish_non_exhaustive()
    }
}
