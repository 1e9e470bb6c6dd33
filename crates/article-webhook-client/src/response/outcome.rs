use article_webhook::{ArticleResult, DecodeError, StatusCode};

use super::{code::ErrorCode, reported::Reported};

/// What a response means for the job that was asked for, or for the call.
///
/// A status that the document defines counts whatever the body is, because a proxy may answer in the service's place
/// (401, 403, 429, 5xx). What ends a job at once is only what the document writes: [`Failed`](Self::Failed) and
/// [`JobNotFound`](Self::JobNotFound) need their status and their code. [`Draft`](Self::Draft) and
/// [`FailedState`](Self::FailedState) have to be [confirmed](crate::Response::unconfirmed).
///
/// ```
/// use std::time::SystemTime;
/// use article_webhook_client::{ApiKey, CallOutcome, RawResponse, Response, StatusCode};
///
/// /// Whether to ask again later.
/// fn is_open(outcome: &CallOutcome) -> bool {
///     !matches!(outcome, CallOutcome::Complete(_) | CallOutcome::Failed { .. })
/// }
///
/// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
/// let failed = r#"{"error":"generation_failed","message":"at the outline","details":{"step":"outline","credits_refunded":3}}"#;
/// for (status, body, expected) in [(StatusCode::TOO_MANY_REQUESTS, "", true), (StatusCode::INTERNAL_SERVER_ERROR, failed, false)] {
///     let raw = RawResponse::new(status, &[("Content-Type", "application/json")], body, SystemTime::now());
///     let response = Response::classify(&key, &"job_7c1e4a52".parse()?, raw);
///     assert_eq!(is_open(&response.outcome), expected);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive] // the service may define more
pub enum CallOutcome {
    /// The article is complete: the status is `complete` or a [synonym](article_webhook::Status::is_complete). The body of
    /// the response is the body of its delivery.
    Complete(Box<ArticleResult>),
    /// The job is not complete. The document names no other state (service document, section 3).
    #[non_exhaustive]
    Unfinished {
        /// The `status`, if it is a string: its first 200 characters, without the API key.
        status: Option<String>,
    },
    /// A success with a title and HTML, whose status is no word for a complete job. It may be a draft: it is the article
    /// only if another response, at least a minute later, has the same bytes. The body of the response is whole.
    #[non_exhaustive]
    Draft {
        /// As in [`Unfinished`](Self::Unfinished).
        status: Option<String>,
    },
    /// A success without an article that says that the job has failed: by a [status](article_webhook::Status::is_failed),
    /// or by an error code of the document that is about a job. The document has another form for it, so it counts only
    /// if another response says the same.
    #[non_exhaustive]
    FailedState {
        /// The status or the code.
        state: String,
    },
    /// 500 with `generation_failed`: the job has failed, and its credits were refunded.
    #[non_exhaustive]
    Failed {
        /// The step of the pipeline: its first 200 characters, without the API key.
        step: Option<String>,
        /// The credits that were refunded.
        credits_refunded: Option<i64>,
    },
    /// 404 with `job_not_found`: this key has no such job.
    JobNotFound,
    /// 404 with another body: there is no such call, so the base URL may be wrong.
    NotFound,
    /// 401: the API key is missing or wrong.
    Unauthorized,
    /// 403: the plan, or a proxy, does not allow the call.
    Forbidden,
    /// 429: too many requests.
    RateLimited,
    /// 408 or 5xx: the service, or a proxy before it, cannot answer now.
    Unavailable,
    /// Another 4xx with a code, for instance `credits_exhausted` or `invalid_request`.
    Refused,
    /// 3xx. A redirect is not followed: the key would go elsewhere.
    Redirect,
    /// Any other status.
    UnknownStatus,
    /// A success, and the body is about another job than the one that was asked for.
    OtherJob,
    /// A success, and its `job_id` is none: another kind of value than a string, or a string that no job id is.
    InvalidJobId,
    /// A success, and the job is complete, but its result cannot be decoded; or an article beside a failure; or the body
    /// is not well-formed, for instance because a key stands twice.
    Undecodable(DecodeError),
    /// A success, and the body is a page of HTML or XML, probably of a proxy.
    Page,
    /// A success, and the body is not one JSON object.
    NotJson,
    /// A success without a valid `job_id`, after an order.
    NoJobId,
    /// A success, and the body is longer than allowed.
    #[non_exhaustive]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl CallOutcome {
    /// The outcome of a response that is not a success.
    pub(super) fn of_refusal(status: StatusCode, reported: Option<&Reported>) -> Self {
        match (status.as_u16(), reported) {
            (500, Some(reported)) if reported.code == ErrorCode::GenerationFailed => Self::Failed {
                step: reported.step.clone(),
                credits_refunded: reported.credits_refunded,
            },
            (404, Some(reported)) if reported.code == ErrorCode::JobNotFound => Self::JobNotFound,
            (404, _) => Self::NotFound,
            (401, _) => Self::Unauthorized,
            (403, _) => Self::Forbidden,
            (429, _) => Self::RateLimited,
            (408 | 500..600, _) => Self::Unavailable,
            (300..400, _) => Self::Redirect,
            (400..500, Some(_)) => Self::Refused,
            _ => Self::UnknownStatus,
        }
    }
}
