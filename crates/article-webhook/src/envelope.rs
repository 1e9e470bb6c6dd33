use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{
    ArticleResult, Delivery, Event, Intake, JobId, Receiver, Refused, Rejection, ServiceHeader,
    decode::ResultDraft,
    drain::Leftover,
    json::{self, Fields, Malformed, Slot},
    log,
    outline::Outline,
};

/// The proof that a request's headers were judged: it is from the service, and its body may be read.
///
/// Only [`Receiver::open`] makes one; there is no other way to a [`Delivery`].
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
///
/// let envelope = receiver.open(&headers)?;
/// assert_eq!(envelope.read(r#"{"job_id": "job_1"}"#)?.job_id().as_str(), "job_1");
///
/// let envelope = receiver.open(&headers)?;
/// let refused = envelope.read(r#"{"job_id": "job_2"}"#).unwrap_err();
/// assert_eq!(refused.rejection().code(), "job_id_mismatch");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Envelope {
    pub(crate) receiver: Receiver,
    pub(crate) target: Arc<str>,
    pub(crate) intent: Option<Box<str>>,
    pub(crate) event: Option<Event>,
    pub(crate) job_id: Option<JobId>,
    pub(crate) declared: Option<u64>,
}

impl Envelope {
    /// Judges the whole body and keeps its exact bytes. The article is not built.
    ///
    /// # Errors
    ///
    /// In this order: the body is over the limit (413), shorter than declared (400), not one
    /// well-formed JSON object of at most 64 levels without repeated keys (400); the job id is
    /// missing or invalid (400), or differs from the header's (422); a header of the service is
    /// missing and the body is no complete article (400).
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "new": [1, 2]}"#)?;
    /// assert_eq!(delivery.body(), r#"{"job_id": "job_1", "new": [1, 2]}"#);
    ///
    /// let refused = receiver.open(&headers)?.read(r#"["job_1"]"#).unwrap_err();
    /// assert_eq!(refused.rejection().code(), "malformed_json");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(self, body: impl Into<Bytes>) -> Result<Delivery, Refused> {
        let body = body.into();
        let job_id = self.judge(&body)?;
        log::let_in(&job_id, &self.target);
        Ok(Delivery {
            target: self.target,
            event: self.event.unwrap_or(Event::ArticleComplete),
            job_id,
            intent: self.intent,
            body,
        })
    }

    /// Judges the body and builds the article in the same pass: [`read`](Self::read) and
    /// [`Delivery::decode`] in one, for handlers that process the article inside the request.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and where the body is no article result (422). An event that is not
    /// known is answered with 200, because a retry could not help, unless the receiver
    /// [refuses](crate::ReceiverBuilder::refuse_unknown_events) it (422).
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let body = r#"{"job_id": "job_1", "status": "complete", "article": {"title": "Hello", "html": ""}}"#;
    /// assert_eq!(receiver.open(&headers)?.article(body)?.article.title, "Hello");
    ///
    /// let refused = receiver.open(&headers)?.article(r#"{"job_id": "job_1"}"#).unwrap_err();
    /// assert_eq!(refused.rejection().status(), 422);
    /// assert_eq!(refused.to_string(), "the body is no article result: status: expected a string, found nothing");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn article(self, body: impl AsRef<[u8]>) -> Result<ArticleResult, Refused> {
        let body = body.as_ref();
        if let Some(event @ Event::Other(_)) = &self.event {
            let job_id = self.judge(body)?;
            log::unknown_event(event);
            let refuses = self.receiver.settings().refuse_unknown_events;
            let rejection = if refuses { Rejection::EventUnknown } else { Rejection::EventIgnored };
            return Err(Refused::new(rejection, Some(job_id), Leftover::Nothing));
        }
        let draft: ResultDraft = self.parse(body)?;
        let job_id = self.identify(draft.job_id())?;
        let result = draft.finish().map_err(|error| match self.judge(body) {
            // What `read` lets in and nobody understands.
            Ok(job_id) => {
                Refused::new(Rejection::Undecodable(error), Some(job_id), Leftover::Nothing)
            }
            Err(refused) => refused,
        })?;
        if let Some(missing) = self.missing_header() {
            log::header_missing(missing, &job_id);
        }
        log::let_in(&job_id, &self.target);
        Ok(result)
    }

    /// Takes the body in as it arrives, within the receiver's limit.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::builder(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?).body_limit(20).build()?;
    /// # let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    /// #                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let mut intake = receiver.open(&headers)?.intake(); // body_limit(20)
    /// intake.push("{\"job_id\":".into())?;
    /// intake.push("\"job_1\"}".into())?;
    /// assert!(intake.read().is_ok());
    ///
    /// let mut intake = receiver.open(&headers)?.intake();
    /// let refused = intake.push("{ too long for that }".into()).unwrap_err();
    /// assert_eq!(refused.rejection().code(), "payload_too_large");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn intake(self) -> Intake {
        Intake::new(self)
    }

    /// Judges the whole body, and says which job it is about.
    fn judge(&self, body: &[u8]) -> Result<JobId, Refused> {
        let outline: Outline = self.parse(body)?;
        let job_id = self.identify(&outline.job_id)?;
        let Some(missing) = self.missing_header() else {
            return Ok(job_id);
        };
        if !outline.is_complete_article() {
            let rejection = Rejection::HeaderMissing(missing);
            return Err(Refused::new(rejection, Some(job_id), Leftover::Nothing));
        }
        log::header_missing(missing, &job_id);
        Ok(job_id)
    }

    fn parse<F: Fields>(&self, body: &[u8]) -> Result<F, Refused> {
        let limit = self.receiver.settings().body_limit;
        if body.len() > limit {
            return Err(self.refuse(Rejection::TooLarge { limit }));
        }
        if self.declared.is_some_and(|declared| (body.len() as u64) < declared) {
            return Err(self.refuse(Rejection::Incomplete));
        }
        json::parse(body).map_err(|Malformed { line, column }| {
            self.refuse(Rejection::MalformedJson { line, column })
        })
    }

    /// The job id that header and body agree on.
    fn identify(&self, body: &Slot<JobId>) -> Result<JobId, Refused> {
        match (&self.job_id, body) {
            (Some(header), Slot::Is(body)) if header != body => {
                // Neither id is trusted, so the refusal names none.
                Err(Refused::new(Rejection::JobIdMismatch, None, Leftover::Nothing))
            }
            (_, Slot::Is(id)) | (Some(id), Slot::Absent) => Ok(id.clone()),
            (_, Slot::Absent | Slot::Other(_)) => Err(self.refuse(Rejection::InvalidJobId)),
        }
    }

    fn missing_header(&self) -> Option<ServiceHeader> {
        if self.event.is_none() {
            return Some(ServiceHeader::Event);
        }
        self.job_id.is_none().then_some(ServiceHeader::JobId)
    }

    /// A refusal after the whole body was read.
    fn refuse(&self, rejection: Rejection) -> Refused {
        Refused::new(rejection, self.job_id.clone(), Leftover::Nothing)
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("target", &self.target)
            .field("event", &self.event)
            .field("job_id", &self.job_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthToken;

    const HEADERS: [(&str, &str); 4] = [
        ("Authorization", "Bearer 5f2b9c0e7a1d4e38"),
        ("Content-Type", "application/json"),
        ("X-Service-Event", "article.complete"),
        ("X-Service-Job-Id", "job_1"),
    ];

    fn envelope(limit: usize) -> Envelope {
        let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap();
        Receiver::builder(token).body_limit(limit).build().unwrap().open(&HEADERS).unwrap()
    }

    #[test]
    fn a_body_may_be_as_long_as_the_limit_and_no_longer() {
        let body = r#"{"job_id": "job_1"}"#;
        for limit in [body.len(), body.len() + 1] {
            assert_eq!(envelope(limit).read(body).unwrap().body(), body);
        }
        for limit in [body.len() - 1, body.len() - 2] {
            let refused = envelope(limit).read(body).unwrap_err();
            assert_eq!(*refused.rejection(), Rejection::TooLarge { limit });
        }
    }

    #[test]
    fn chunks_may_be_as_long_as_the_limit_together_and_no_longer() {
        let mut intake = envelope(10).intake();
        intake.push("12345".into()).unwrap();
        intake.push("678".into()).unwrap();
        intake.push("90".into()).unwrap();
        let refused = intake.push("1".into()).unwrap_err();
        assert_eq!(*refused.rejection(), Rejection::TooLarge { limit: 10 });
        let mut intake = envelope(10).intake();
        intake.push("1234567".into()).unwrap();
        intake.push("8".into()).unwrap();
        assert!(intake.push("9012".into()).is_err());
    }

    #[test]
    fn a_body_shorter_than_was_declared_is_incomplete() {
        let declared = |length: &'static str| {
            let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap();
            let headers = HEADERS.into_iter().chain([("Content-Length", length)]);
            Receiver::new(token).open(&headers.collect::<Vec<_>>()).unwrap()
        };
        let body = r#"{"job_id": "job_1"}"#;
        assert!(declared("19").read(body).is_ok());
        let refused = declared("20").read(body).unwrap_err();
        assert_eq!(*refused.rejection(), Rejection::Incomplete);
    }
}
