use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::{
    Delivery, Intake, body_budget::BudgetReservation, body_limit::BodyLimit,
    settings::UnknownEvents,
};
use crate::{
    answer::{Refused, RefusedBody, Rejection, ServiceHeader, UnreadBody},
    article::{ArticleResult, DecodeError, Event, JobId, ParsedResult},
    auth::{AcceptedTargets, CAPABILITY},
    log::{self, SeenDrift},
};

/// The proof that a request's headers were accepted: the service sent it, and its body may be read.
///
/// Only [`Receiver::open`](crate::Receiver::open) and its variants make an envelope, and only an envelope
/// makes a [`Delivery`].
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
    pub(super) body_limit: BodyLimit,
    /// Released when the envelope has become a delivery or an article.
    pub(super) reservation: BudgetReservation,
    pub(super) unknown_events: UnknownEvents,
    pub(super) sender: Sender,
    pub(super) event: Option<Event>,
    pub(super) job_id: Option<JobId>,
    pub(super) declared: Option<u64>,
    pub(super) seen_drift: SeenDrift,
}

/// An authenticated sender.
pub(super) enum Sender {
    /// The target at this index, whose token was presented. Its label is looked up after the headers were
    /// checked: the time of that depends on the target.
    Target { targets: Arc<AcceptedTargets>, index: usize },
    /// Presented a capability URL of this intent.
    #[cfg_attr(
        not(feature = "capability"),
        expect(dead_code, reason = "no other feature verifies one")
    )]
    Capability { intent: Box<str> },
}

impl Sender {
    fn label(&self) -> &str {
        match self {
            Self::Target { targets, index } => &targets[*index].label,
            Self::Capability { .. } => CAPABILITY,
        }
    }

    /// The intent of a capability URL.
    pub(super) fn intent(&self) -> Option<&str> {
        match self {
            Self::Target { .. } => None,
            Self::Capability { intent } => Some(intent),
        }
    }

    /// The label, and the intent of a capability URL.
    fn into_label(self) -> (Arc<str>, Option<Box<str>>) {
        match self {
            Self::Target { targets, index } => (Arc::clone(&targets[index].label), None),
            Self::Capability { intent } => (CAPABILITY.into(), Some(intent)),
        }
    }
}

impl Envelope {
    /// Checks the whole body and keeps its exact bytes. Does not build the article.
    ///
    /// A body that can be [repaired](crate::Repair) is accepted, and its bytes are kept as they came.
    ///
    /// # Errors
    ///
    /// In this order: the body is empty (400, or 500 if a length was declared: the application has read it),
    /// over the limit (413), shorter than declared (400), not one well-formed JSON object of at most 64 levels without
    /// repeated keys, also after a repair (400); the job id is
    /// missing or invalid (400), or differs from the header's (422); a header of the service is
    /// missing and the body is not a complete article (400).
    ///
    /// An unknown event that names neither a job nor an article, such as a ping, is answered with 200 and ignored.
    pub fn read(self, body: impl Into<Bytes>) -> Result<Delivery, Refused> {
        let body = body.into();
        match self.check(&body) {
            Ok((parsed, job_id)) => Ok(self.into_delivery(job_id, body, parsed.failure())),
            Err(refused) => Err(self.with_body(refused, body)),
        }
    }

    /// Checks the body and builds the article in the same pass: [`read`](Self::read) and
    /// [`Delivery::decode`] in one, for handlers that process the article inside the request.
    ///
    /// ```
    /// use article_webhook::{AuthToken, Receiver};
    ///
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    ///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let body = r#"{"job_id": "job_1", "status": "complete", "article": {"title": "Hello", "html": ""}}"#;
    ///
    /// let (result, delivery) = receiver.open(&headers)?.article(body)?;
    /// assert_eq!(result.article.title, "Hello");
    /// assert_eq!((delivery.target(), delivery.body().len()), ("default", body.len()));
    ///
    /// let refused = receiver.open(&headers)?.article(r#"{"job_id": "job_1"}"#).unwrap_err();
    /// assert_eq!(refused.answer().status(), 422);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and if the body is not an article result (422). An unknown event is
    /// answered with 200, because a retry could not help, unless the receiver
    /// [refuses unknown events](crate::ReceiverBuilder::refuse_unknown_events) (422).
    pub fn article(self, body: impl Into<Bytes>) -> Result<(ArticleResult, Delivery), Refused> {
        let body = body.into();
        match self.build(&body) {
            Ok((result, job_id)) => Ok((result, self.into_delivery(job_id, body, None))),
            Err(refused) => Err(self.with_body(refused, body)),
        }
    }

    /// Collects the body chunk by chunk.
    #[must_use]
    pub fn intake(self) -> Intake {
        Intake::new(self)
    }

    /// Checks the body and builds the article.
    fn build(&self, body: &[u8]) -> Result<(ArticleResult, JobId), Refused> {
        let (parsed, job_id) = self.check(body)?;
        let refused = |rejection| self.refused(rejection, Some(job_id.clone()), UnreadBody::None);
        if let Some(event @ Event::Other(_)) = &self.event {
            log::unknown_event(event);
            return Err(refused(match self.unknown_events {
                UnknownEvents::Ignore => Rejection::EventIgnored,
                UnknownEvents::Refuse => Rejection::EventUnknown,
            }));
        }
        let drift = parsed.drift();
        // `read` accepts a body that is no article.
        let result = parsed.finish().map_err(|error| refused(Rejection::Undecodable(error)))?;
        log::drift(&drift, &self.seen_drift, &job_id);
        Ok((result, job_id))
    }

    /// Checks the whole body, and returns the job that it is about.
    fn check(&self, body: &[u8]) -> Result<(ParsedResult, JobId), Refused> {
        let parsed = self.parse(body)?;
        if let (Some(event @ Event::Other(_)), None) = (&self.event, &self.job_id)
            && parsed.is_about_nothing()
        {
            // A ping: senders switch off endpoints that refuse theirs, and nothing can be lost.
            log::unknown_event(event);
            return Err(self.refuse(Rejection::EventIgnored));
        }
        let in_body = parsed.job_id().map_err(Rejection::BodyJobIdInvalid);
        let job_id = self.identify(in_body.map_err(|rejection| self.refuse(rejection))?)?;
        if let Some(missing) = self.missing_header() {
            if !parsed.is_complete_article() {
                return Err(self.incomplete(missing, job_id));
            }
            log::header_missing(missing, &job_id);
        }
        Ok((parsed, job_id))
    }

    fn into_delivery(self, job_id: JobId, body: Bytes, failure: Option<DecodeError>) -> Delivery {
        log::accepted(&job_id, self.sender.label());
        let (target, intent) = self.sender.into_label();
        let event = self.event.unwrap_or(Event::ArticleComplete);
        Delivery { target, event, job_id, intent, body, failure, seen_drift: self.seen_drift }
    }

    fn parse(&self, body: &[u8]) -> Result<ParsedResult, Refused> {
        if body.is_empty() {
            // A sender that hangs up is an error of the body. This one has ended, so its bytes went elsewhere.
            return Err(match self.declared {
                Some(1..) => {
                    self.refused(Rejection::AlreadyRead, self.job_id.clone(), UnreadBody::Close)
                }
                Some(0) | None => self.refuse(Rejection::Empty),
            });
        }
        let length = body.len() as u64;
        self.body_limit.check(length).map_err(|rejection| self.refuse(rejection))?;
        if self.declared.is_some_and(|declared| length < declared) {
            return Err(self.refuse(Rejection::Incomplete));
        }
        ParsedResult::parse(body)
            .map_err(|malformed| self.refuse(Rejection::MalformedJson(malformed)))
    }

    /// The job id that header and body agree on.
    fn identify(&self, in_body: Option<&JobId>) -> Result<JobId, Refused> {
        match (&self.job_id, in_body) {
            (Some(in_header), Some(in_body)) if in_header != in_body => {
                // Neither id is trusted, so the refusal names none.
                Err(self.refused(Rejection::JobIdMismatch, None, UnreadBody::None))
            }
            (_, Some(id)) | (Some(id), None) => Ok(id.clone()),
            (None, None) => Err(self.refuse(Rejection::JobIdMissing)),
        }
    }

    fn missing_header(&self) -> Option<ServiceHeader> {
        if self.event.is_none() {
            return Some(ServiceHeader::Event);
        }
        self.job_id.is_none().then_some(ServiceHeader::JobId)
    }

    /// The refusal with the body, if that is of a job and could not be understood.
    fn with_body(self, refused: Refused, bytes: Bytes) -> Refused {
        let is_not_understood = matches!(
            refused.rejection(),
            Rejection::MalformedJson(_)
                | Rejection::BodyJobIdInvalid(_)
                | Rejection::JobIdMismatch
                | Rejection::HeaderMissing(_)
        );
        // A body whose job id differs from the header's is that of the header: the service's API knows what it is.
        let job_id = self.job_id.or_else(|| refused.job_id().cloned());
        let Some(job_id) = job_id.filter(|_| is_not_understood) else { return refused };
        let target = self.sender.label().into();
        let event = self.event.unwrap_or(Event::ArticleComplete);
        refused.with_body(RefusedBody { job_id, event, target, bytes })
    }

    /// A header is missing, and the body is not a complete article, which could stand for it.
    fn incomplete(&self, missing: ServiceHeader, job_id: JobId) -> Refused {
        self.refused(Rejection::HeaderMissing(missing), Some(job_id), UnreadBody::None)
    }

    /// A refusal after the whole body was read.
    fn refuse(&self, rejection: Rejection) -> Refused {
        self.refused(rejection, self.job_id.clone(), UnreadBody::None)
    }

    /// A refusal of a delivery about this job.
    pub(super) fn refused(
        &self,
        rejection: Rejection,
        job_id: Option<JobId>,
        unread_body: UnreadBody,
    ) -> Refused {
        Refused::new(rejection, job_id, unread_body).of_intent(self.sender.intent())
    }
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("target", &self.sender.label())
            .field("event", &self.event)
            .field("job_id", &self.job_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::sample::{BODY, HEADERS, receiver},
        *,
    };

    /// A delivery that declares this length, if any.
    fn envelope(length: Option<&'static str>) -> Envelope {
        let length = length.map(|length| ("Content-Length", length));
        receiver().open(&HEADERS.into_iter().chain(length).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_body_shorter_than_was_declared_is_incomplete() {
        assert!(envelope(Some("19")).read(BODY).is_ok());
        let refused = envelope(Some("20")).read(BODY).unwrap_err();
        assert_eq!(*refused.rejection(), Rejection::Incomplete);
    }

    #[test]
    fn an_empty_body_was_read_before_if_a_length_was_declared() {
        for (length, rejection) in [
            (Some("20"), Rejection::AlreadyRead),
            (Some("0"), Rejection::Empty),
            (None, Rejection::Empty), // chunked: nothing proves that there was more
        ] {
            let refused = envelope(length).read("").unwrap_err();
            assert_eq!(*refused.rejection(), rejection);
            assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
        }
    }
}
