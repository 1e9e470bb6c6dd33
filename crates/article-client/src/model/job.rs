use std::fmt;

use article_webhook::{ArticleResult, JobId};
use bytes::Bytes;

/// A job that the service has accepted.
///
/// ```
/// /// What an application stores after an order.
/// fn remember(created: &article_client::Created) -> String {
///     created.job_id.to_string()
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive] // the document defines no more of the response
pub struct Created {
    /// The id of the job, in its delivery and in calls of the API.
    pub job_id: JobId,
    /// The whole response, a JSON object.
    pub body: Bytes,
}

/// The state of a job.
///
/// ```
/// use article_client::Job;
///
/// fn title(job: &Job) -> Option<&str> {
///     match job {
///         Job::Complete(complete) => Some(&complete.result.article.title),
///         Job::Unfinished(_) => None,
///     }
/// }
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "a job is complete or it is not")]
pub enum Job {
    /// The article is complete.
    Complete(Box<Complete>),
    /// The article is not complete. The document names no other state (service document, section 3).
    Unfinished(Unfinished),
}

/// A job with its article.
///
/// ```
/// fn words(complete: &article_client::Complete) -> usize {
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

/// A job without an article.
///
/// ```
/// fn progress(job: &article_client::Unfinished) -> String {
///     format!("{:?}, {} bytes of JSON", job.status, job.body.len())
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive] // the service may report more about a job
pub struct Unfinished {
    /// The `status`, if it is a string: its first 200 characters, without the API key.
    pub status: Option<String>,
    /// The whole response, a JSON object.
    pub body: Bytes,
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
