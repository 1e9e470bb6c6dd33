use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{ArticleResult, DecodeError, Drift, Event, JobId, decode, drift};

/// One POST of the service that was let in (document, section 6.1): authentic, well-formed, and of a
/// known job. Holds the exact bytes of the body; the article is built by [`decode`](Self::decode).
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
    pub(crate) target: Arc<str>,
    pub(crate) event: Event,
    pub(crate) job_id: JobId,
    pub(crate) intent: Option<Box<str>>,
    pub(crate) body: Bytes,
}

impl Delivery {
    /// The job the delivery is about: the idempotency key, as the service may deliver it again.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// assert_eq!(delivery.job_id().as_str(), "job_1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// The kind of the delivery; `article.complete` where a proxy stripped the header off a
    /// complete article.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// assert_eq!(*delivery.event(), article_webhook::Event::ArticleComplete);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The label of the publish target whose token the sender presented; `capability` for a
    /// delivery to a capability URL.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// assert_eq!(delivery.target(), "default");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The intent that a capability URL was minted for; `None` for a delivery by token.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// assert_eq!(delivery.intent(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// The body, byte for byte as it came.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// assert!(delivery.body().starts_with(b"{"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The typed article. It can be built again later, with
    /// [`ArticleResult::from_json`] from the stored body: what today's version does not understand
    /// is not lost.
    ///
    /// # Errors
    ///
    /// A [`DecodeError`] that names the first field which is missing or of another kind than documented.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// let error = delivery.decode().unwrap_err(); // {"job_id": "job_1", "new": 1}
    /// assert_eq!(error.to_string(), "status: expected a string, found nothing");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(&self) -> Result<ArticleResult, DecodeError> {
        decode::decode(&self.body)
    }

    /// Fields and kinds of values that this version does not know, in the order of the document:
    /// a sign that the service has grown.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// # let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": 1}"#)?;
    /// let drift = delivery.drift(); // {"job_id": "job_1", "new": 1}
    /// assert_eq!(drift[0].to_string(), "new: unknown field, a number");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn drift(&self) -> Vec<Drift> {
        drift::drift(&self.body)
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
