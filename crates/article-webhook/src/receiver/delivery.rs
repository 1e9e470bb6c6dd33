use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{
    article::{self, ArticleResult, DecodeError, Drift, Event, JobId},
    log::{self, SeenDrift},
};

/// One accepted POST of the service (service document, section 6.1): authentic, well-formed, and with a
/// job id. Contains the exact bytes of the body; [`decode`](Self::decode) builds the article.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let body = r#"{"job_id": "job_1", "status": "complete", "article": {"title": "Hello", "html": ""}}"#;
///
/// let delivery = receiver.open(&headers)?.read(body)?;
/// assert_eq!(delivery.job_id().as_str(), "job_1");
/// assert_eq!(delivery.body(), body);
/// assert_eq!(delivery.decode()?.article.title, "Hello");
///
/// assert!(receiver.open(&headers)?.read(&body.as_bytes()[1..]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Delivery {
    pub(super) target: Arc<str>,
    pub(super) event: Event,
    pub(super) job_id: JobId,
    pub(super) intent: Option<Box<str>>,
    pub(super) body: Bytes,
    pub(super) failure: Option<DecodeError>,
    pub(super) seen_drift: SeenDrift,
}

impl Delivery {
    /// The job of the delivery. It is the idempotency key: the service may deliver a job again.
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// The event; `article.complete` if the header is missing and the body is a complete article.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The label of the publish target whose token the sender presented; `capability` for a
    /// delivery to a capability URL.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The intent of the capability URL; `None` for a delivery with a token.
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// The exact bytes of the body.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The failure of the job that the body reports, also beside an article: a status such as `failed`, or an error code of the
    /// service's document. Such a body does not [decode](Self::decode).
    ///
    /// ```
    /// use article_webhook::{AuthToken, Receiver};
    ///
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    ///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let failed = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "status": "failed"}"#)?;
    /// let failure = failed.failure().map(ToString::to_string);
    /// assert_eq!(failure.as_deref(), Some("status: the service reports a failure, `failed`"));
    ///
    /// assert_eq!(receiver.open(&headers)?.read(r#"{"job_id": "job_1"}"#)?.failure(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn failure(&self) -> Option<&DecodeError> {
        self.failure.as_ref()
    }

    /// Builds the typed article. [`ArticleResult::from_json`] builds it from a stored body, so a later
    /// version can decode what this version cannot.
    ///
    /// Logs each [difference](Self::drift) from the service's document that the receiver has not seen before.
    ///
    /// # Errors
    ///
    /// A [`DecodeError`] that names the first required field that is missing or not of the documented kind.
    pub fn decode(&self) -> Result<ArticleResult, DecodeError> {
        let (article, drift) = ArticleResult::from_json_with_drift(&self.body)?;
        log::drift(&drift, &self.seen_drift, &self.job_id);
        Ok(article)
    }

    /// The differences between the body and the service's document, in the document's order.
    #[must_use]
    pub fn drift(&self) -> Vec<Drift> {
        article::drift(&self.body)
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("job_id", &self.job_id)
            .field("event", &self.event)
            .field("target", &self.target)
            .field("intent", &self.intent)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}
