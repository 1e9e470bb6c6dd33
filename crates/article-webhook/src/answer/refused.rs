use std::fmt;

use super::{Answer, DrainBudget, Rejection, UnreadBody};
use crate::{article::JobId, auth::TokenShape, causes::debug_as_text};

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
        Self { rejection, job_id, intent: None, unread_body, presented: None }
    }

    /// The delivery came to the URL of this order.
    pub(crate) fn of_intent(self, intent: Option<&str>) -> Self {
        Self { intent: intent.map(Into::into), ..self }
    }

    pub(crate) fn presenting(self, presented: Option<Presented>) -> Self {
        Self { presented, ..self }
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
