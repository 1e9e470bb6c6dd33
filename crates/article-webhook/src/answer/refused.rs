use std::fmt;

use bytes::Bytes;

use super::{Answer, DrainBudget, Rejection, UnreadBody};
use crate::{
    article::{Event, JobId},
    auth::TokenShape,
    causes::debug_as_text,
};

/// A refused delivery: the cause, and the job if it is known.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
///
/// let refused = receiver.open(&headers)?.read("{").unwrap_err();
/// assert_eq!(refused.rejection().code(), "malformed_json");
/// assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
///
/// let stranger = receiver.open(&headers[1..]).unwrap_err();
/// assert_eq!(stranger.rejection().code(), "unauthorized");
/// assert_eq!(stranger.job_id(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rejection}")]
pub struct Refused {
    rejection: Rejection,
    job_id: Option<JobId>,
    intent: Option<Box<str>>,
    unread_body: UnreadBody,
    pub(crate) presented: Option<Presented>,
    body: Option<Box<RefusedBody>>,
}

/// The whole body of a refused delivery, which came with the token and the id of its job, and could not be understood: it is
/// malformed, or names its job otherwise. It may be the only copy of an article that was paid for, so a sink may
/// [keep](crate::Sink::keep_refused) it.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
///
/// let refused = receiver.open(&headers)?.read(r#"{"job_id": "job_1", "article": {"title": "Hel"#).unwrap_err();
/// let body = refused.body().ok_or("it was read")?;
/// assert_eq!((body.job_id().as_str(), body.event().as_str()), ("job_1", "article.complete"));
/// assert_eq!((body.target(), body.bytes().len()), ("default", 45));
///
/// let of_no_job = receiver.open(&headers[..3])?.read("{").unwrap_err();
/// assert!(of_no_job.body().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RefusedBody {
    pub(crate) job_id: JobId,
    pub(crate) event: Event,
    pub(crate) target: Box<str>,
    pub(crate) bytes: Bytes,
}

impl RefusedBody {
    /// The job that the header names, or the body if the header is missing.
    #[must_use]
    pub fn job_id(&self) -> &JobId {
        &self.job_id
    }

    /// The event that the header names; `article.complete` if the header is missing.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// The label of the publish target, as [`Delivery::target`](crate::Delivery::target).
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The bytes as they came.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Shows the number of bytes, and never the bytes.
impl fmt::Debug for RefusedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusedBody")
            .field("job_id", &self.job_id)
            .field("event", &self.event)
            .field("target", &self.target)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// What was presented in place of what is accepted, for the log.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Presented {
    /// In place of a token.
    Token(TokenShape),
    /// The header of an authentic sender, escaped and cut.
    Header(Box<str>),
}

impl fmt::Display for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(shape) => shape.fmt(f),
            Self::Header(value) => f.write_str(value),
        }
    }
}

debug_as_text!(Refused);

impl Refused {
    pub(crate) fn new(
        rejection: Rejection,
        job_id: Option<JobId>,
        unread_body: UnreadBody,
    ) -> Self {
        Self { rejection, job_id, intent: None, unread_body, presented: None, body: None }
    }

    /// The delivery came to the URL of this order.
    pub(crate) fn of_intent(self, intent: Option<&str>) -> Self {
        Self { intent: intent.map(Into::into), ..self }
    }

    pub(crate) fn presenting(self, presented: Option<Presented>) -> Self {
        Self { presented, ..self }
    }

    pub(crate) fn with_body(self, body: RefusedBody) -> Self {
        Self { body: Some(Box::new(body)), ..self }
    }

    /// Whether the sender may still be writing the body when the connection closes, so that it sees no answer.
    #[cfg(feature = "tracing")]
    pub(crate) fn interrupts_the_sender(&self) -> bool {
        let is_writing = !matches!(
            self.rejection,
            Rejection::AlreadyRead | Rejection::Incomplete | Rejection::Timeout
        );
        is_writing && matches!(self.unread_body, UnreadBody::Drain | UnreadBody::Close)
    }

    /// The cause.
    #[must_use]
    pub fn rejection(&self) -> &Rejection {
        &self.rejection
    }

    /// The job of the delivery, whose article the API can return. `None` if the sender was not
    /// authenticated, if the id could not be read, or if header and body name different jobs.
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        self.job_id.as_ref()
    }

    /// The intent of the order to whose capability URL the delivery came, as
    /// [`Delivery::intent`](crate::Delivery::intent).
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        self.intent.as_deref()
    }

    /// The body, if it was read to its end, is of a job, and could not be understood. `None` for a body that is
    /// empty, over the limit or shorter than declared, and for one that is well-formed and merely not handled: an event that is
    /// not known, or no article result.
    #[must_use]
    pub fn body(&self) -> Option<&RefusedBody> {
        self.body.as_deref()
    }

    /// The answer for the sender. It closes the connection unless the whole body was read.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let answer = Answer::from(&self.rejection);
        match self.unread_body {
            UnreadBody::None => answer,
            UnreadBody::Drain | UnreadBody::Close | UnreadBody::Unsent => answer.closing(),
        }
    }

    /// How much of the unread body may be read and dropped before the answer is sent; `None` if nothing
    /// may be read.
    pub(crate) fn drain_budget(&self) -> Option<DrainBudget> {
        (self.unread_body == UnreadBody::Drain).then(DrainBudget::new)
    }

    /// The same refusal, after the body was read to its end: the connection may be used again.
    pub(crate) fn drained(self) -> Self {
        Self { unread_body: UnreadBody::None, ..self }
    }
}
