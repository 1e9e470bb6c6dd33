use std::{fmt, time::Duration};

use article_webhook::{ArticleResult, JobId, StatusCode};
use bytes::Bytes;

/// A job that the service has accepted.
///
/// ```
/// use std::time::SystemTime;
/// use article_webhook_client::{ApiKey, Created, Error, NewArticle, RawResponse, StatusCode};
///
/// let (key, article) = (ApiKey::new("sk-5f2b9c0e7a1d4e38")?, NewArticle::new("Shoes"));
/// let raw = |status, body: &'static str| RawResponse::new(status, &[("", ""); 0], body, SystemTime::now());
/// let created = Created::classify(&key, &article, Ok(raw(StatusCode::ACCEPTED, r#"{"job_id":"job_7c1e4a52","status":"queued"}"#)))?;
/// assert_eq!(created.job_id.as_str(), "job_7c1e4a52");
///
/// // The service has not taken an order that it refuses, but may have taken one that it did not answer.
/// let error = Created::classify(&key, &article, Ok(raw(StatusCode::PAYMENT_REQUIRED, ""))).unwrap_err();
/// assert!(!error.is_outcome_unknown());
/// let error = Created::classify(&key, &article, Err(Error::unanswered("the connection broke"))).unwrap_err();
/// assert!(error.is_outcome_unknown());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive] // the document defines no more of the response
pub struct Created {
    /// The id of the job, in its delivery and in calls of the API.
    pub job_id: JobId,
    /// The HTTP status of the response. The document does not show which.
    pub status: StatusCode,
    /// The pause that the service asks for, from `Retry-After`, as in [`Response`](crate::Response::retry_after).
    pub retry_after: Option<Duration>,
    /// The whole response, a JSON object.
    pub body: Bytes,
}

/// The state of a job.
///
/// ```
/// use article_webhook_client::JobStatus;
///
/// fn title(job: &JobStatus) -> Option<&str> {
///     match job {
///         JobStatus::Complete(complete) => Some(&complete.result.article.title),
///         JobStatus::Unfinished(_) => None,
///     }
/// }
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "a job is complete or it is not")]
pub enum JobStatus {
    /// The article is complete.
    Complete(Box<Complete>),
    /// The article is not complete. The document names no other state (service document, section 3).
    Unfinished(Unfinished),
}

/// A job with its article.
///
/// ```
/// fn words(complete: &article_webhook_client::Complete) -> usize {
///     complete.result.article.html.as_untrusted_str().split_whitespace().count()
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive] // the service may report more about a job
pub struct Complete {
    /// The article.
    pub result: ArticleResult,
    /// The bytes of the result, the same as those of a delivery by webhook.
    pub body: Bytes,
}

/// A job without an article, or with one that may be a draft.
///
/// ```
/// fn progress(job: &article_webhook_client::Unfinished) -> String {
///     format!("{:?}, {} bytes of JSON", job.status, job.body.len())
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive] // the service may report more about a job
pub struct Unfinished {
    /// The `status`, if it is a string: its first 200 characters, without the API key.
    pub status: Option<String>,
    /// The pause that the service asks for, from `Retry-After`, as in [`Response`](crate::Response::retry_after).
    pub retry_after: Option<Duration>,
    /// The whole response, a JSON object.
    pub body: Bytes,
    /// It has an article, which may be a draft.
    pub(crate) is_draft: bool,
}

impl fmt::Debug for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Created").field("job_id", &self.job_id).finish_non_exhaustive()
    }
}

impl fmt::Debug for Complete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Complete").field("result", &self.result).finish_non_exhaustive()
    }
}

impl fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfinished").field("status", &self.status).finish_non_exhaustive()
    }
}
