use std::{fmt, mem};

use bytes::{Bytes, BytesMut};

use super::{Delivery, Envelope};
use crate::{
    answer::{Refused, Rejection, UnreadBody},
    article::ArticleResult,
};

/// Collects the chunks of a body, within the receiver's limit and within the budget of all bodies.
///
/// A body of one chunk is not copied. The budget is released when the intake is read or dropped.
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
    /// The body is over the limit (413), or the budget of all bodies is used up (503): stop reading.
    pub fn push(&mut self, chunk: Bytes) -> Result<(), Refused> {
        let length = self.first.len() + self.rest.len() + chunk.len();
        let within_limit = self.envelope.body_limit.check(length as u64);
        within_limit
            .and_then(|()| self.envelope.reservation.take(chunk.len()))
            .map_err(|rejection| self.refuse(rejection))?;
        if self.first.is_empty() && self.rest.is_empty() {
            self.first = chunk;
            return Ok(());
        }
        if self.rest.is_empty() {
            // A declared length may never arrive, so at most 64 KiB are reserved for it.
            let declared = self.envelope.declared.map_or(0, |declared| declared.min(64 << 10));
            self.rest.reserve(usize::try_from(declared).map_or(length, |it| it.max(length)));
            self.rest.extend_from_slice(&mem::take(&mut self.first));
        }
        self.rest.extend_from_slice(&chunk);
        Ok(())
    }

    /// Refuses the delivery before its body is complete.
    pub(crate) fn refuse(&self, rejection: Rejection) -> Refused {
        self.envelope.refused(rejection, self.envelope.job_id.clone(), UnreadBody::Close)
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
    pub fn article(self) -> Result<(ArticleResult, Delivery), Refused> {
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

#[cfg(test)]
mod tests {
    use super::super::sample::{BODY, HEADERS, receiver, token};
    use crate::Receiver;

    #[test]
    fn a_declared_length_reserves_little_memory() {
        let headers = [&HEADERS[..], &[("Content-Length", "8388608")]].concat();
        let mut intake = receiver().open(&headers).unwrap().intake();
        intake.push("{".into()).unwrap();
        intake.push("}".into()).unwrap();
        assert!(intake.rest.capacity() <= 64 << 10, "{}", intake.rest.capacity());
    }

    #[test]
    fn neither_a_delivery_nor_a_refusal_holds_the_budget() {
        let builder = Receiver::builder(token()).body_limit(BODY.len()).body_budget(BODY.len());
        let receiver = builder.build().unwrap();
        let received = || {
            let mut intake = receiver.open(&HEADERS).unwrap().intake();
            intake.push(BODY[..5].into()).unwrap();
            intake.push(BODY[5..].into()).unwrap();
            intake
        };
        let delivery = received().read().unwrap();
        let refused = received().article().unwrap_err();
        assert_eq!(refused.rejection().code(), "unprocessable");
        assert_eq!(received().read().unwrap().body(), delivery.body());
    }
}
