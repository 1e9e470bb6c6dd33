use std::{fmt, mem};

use bytes::{Bytes, BytesMut};

use crate::{ArticleResult, Broken, Delivery, Envelope, Refused, Rejection, drain::Leftover};

/// A body on its way in: chunks are put together within the receiver's limit.
///
/// A body of one chunk is never copied, a longer one once.
///
/// ```
/// # use article_webhook::{AuthToken, Broken, Receiver};
/// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
/// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let mut intake = receiver.open(&headers)?.intake();
/// intake.push(r#"{"job_id": "#.into())?;
/// let refused = intake.broken(Broken::Early); // the connection was lost
/// assert_eq!(refused.rejection().code(), "incomplete");
/// assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Intake {
    envelope: Envelope,
    first: Bytes,
    rest: BytesMut,
}

impl Intake {
    pub(crate) fn new(envelope: Envelope) -> Self {
        Self { envelope, first: Bytes::new(), rest: BytesMut::new() }
    }

    /// Adds the next chunk.
    ///
    /// # Errors
    ///
    /// 413 as soon as the body is over the limit: stop reading.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let mut intake = receiver.open(&headers)?.intake();
    /// intake.push("{}".into())?;
    /// let nine_mebibytes = vec![b' '; 9 << 20];
    /// assert_eq!(intake.push(nine_mebibytes.into()).unwrap_err().rejection().status(), 413);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn push(&mut self, chunk: Bytes) -> Result<(), Refused> {
        let limit = self.envelope.receiver.settings().body_limit;
        let length = self.first.len() + self.rest.len() + chunk.len();
        if length > limit {
            let job_id = self.envelope.job_id.clone();
            return Err(Refused::new(Rejection::TooLarge { limit }, job_id, Leftover::Close));
        }
        if self.first.is_empty() && self.rest.is_empty() {
            self.first = chunk;
            return Ok(());
        }
        if self.rest.is_empty() {
            // The declared length was held against the limit when the envelope was opened.
            let declared = self.envelope.declared.and_then(|length| length.try_into().ok());
            self.rest.reserve(declared.unwrap_or(length));
            self.rest.extend_from_slice(&mem::take(&mut self.first));
        }
        self.rest.extend_from_slice(&chunk);
        Ok(())
    }

    /// The rest of the body does not come: 400 when it broke off, 408 when it is late, 503 when the
    /// server has no room for it.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Broken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let broken = |how| Ok::<_, article_webhook::Refused>(receiver.open(&headers)?.intake().broken(how));
    /// assert_eq!(broken(Broken::Late)?.rejection().status(), 408);
    /// assert_eq!(broken(Broken::Crowded)?.rejection().status(), 503);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn broken(self, broken: Broken) -> Refused {
        let rejection = match broken {
            Broken::Early => Rejection::Incomplete,
            Broken::Late => Rejection::Timeout,
            Broken::Crowded => Rejection::Overloaded,
        };
        Refused::new(rejection, self.envelope.job_id, Leftover::Close)
    }

    /// Judges the body that was taken in, as [`Envelope::read`].
    ///
    /// # Errors
    ///
    /// As [`Envelope::read`].
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let mut intake = receiver.open(&headers)?.intake();
    /// intake.push(r#"{"job_id": "job_1"}"#.into())?;
    /// assert_eq!(intake.read()?.job_id().as_str(), "job_1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(self) -> Result<Delivery, Refused> {
        let (envelope, body) = self.finish();
        envelope.read(body)
    }

    /// Judges the body that was taken in and builds the article, as [`Envelope::article`].
    ///
    /// # Errors
    ///
    /// As [`Envelope::article`].
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let mut intake = receiver.open(&headers)?.intake();
    /// intake.push(r#"{"job_id": "job_1"}"#.into())?;
    /// assert_eq!(intake.article().unwrap_err().rejection().status(), 422); // no article in it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn article(self) -> Result<ArticleResult, Refused> {
        let (envelope, body) = self.finish();
        envelope.article(body)
    }

    fn finish(self) -> (Envelope, Bytes) {
        let body = if self.rest.is_empty() { self.first } else { self.rest.freeze() };
        (self.envelope, body)
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.first.len() + self.rest.len();
        f.debug_struct("Intake")
            .field("envelope", &self.envelope)
            .field("body", &format_args!("{bytes} bytes"))
            .finish()
    }
}
