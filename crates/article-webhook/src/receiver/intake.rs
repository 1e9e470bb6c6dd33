use std::{fmt, mem};

use bytes::{Bytes, BytesMut};

use super::{Delivery, Envelope};
use crate::{
    answer::{Refused, Rejection, UnreadBody},
    article::ArticleResult,
};

/// Collects the chunks of a body, within the receiver's limit.
///
/// A body of one chunk is not copied; a body of several chunks is copied once.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::builder(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?).body_limit(20).build()?;
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
///
/// let mut intake = receiver.open(&headers)?.intake();
/// intake.push(r#"{"job_id": "#.into())?;
/// intake.push(r#""job_1"}"#.into())?;
/// assert_eq!(intake.read()?.job_id().as_str(), "job_1");
///
/// let mut intake = receiver.open(&headers)?.intake();
/// let refused = intake.push("{ more than 20 bytes }".into()).unwrap_err();
/// assert_eq!(refused.rejection().code(), "payload_too_large");
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
    /// The body is over the limit (413): stop reading.
    pub fn push(&mut self, chunk: Bytes) -> Result<(), Refused> {
        let length = self.first.len() + self.rest.len() + chunk.len();
        let limit = self.envelope.body_limit;
        limit.check(length as u64).map_err(|rejection| {
            Refused::new(rejection, self.envelope.job_id.clone(), UnreadBody::Close)
        })?;
        if self.first.is_empty() && self.rest.is_empty() {
            self.first = chunk;
            return Ok(());
        }
        if self.rest.is_empty() {
            // The declared length was checked against the limit with the headers.
            let declared = self.envelope.declared.and_then(|length| length.try_into().ok());
            self.rest.reserve(declared.unwrap_or(length));
            self.rest.extend_from_slice(&mem::take(&mut self.first));
        }
        self.rest.extend_from_slice(&chunk);
        Ok(())
    }

    /// Refuses the delivery before its body is complete.
    pub(crate) fn refuse(self, rejection: Rejection) -> Refused {
        Refused::new(rejection, self.envelope.job_id, UnreadBody::Close)
    }

    /// Checks the body, as [`Envelope::read`].
    ///
    /// # Errors
    ///
    /// As [`Envelope::read`].
    pub fn read(self) -> Result<Delivery, Refused> {
        let (envelope, body) = self.finish();
        envelope.read(body)
    }

    /// Checks the body and builds the article, as [`Envelope::article`].
    ///
    /// # Errors
    ///
    /// As [`Envelope::article`].
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
