use crate::{Answer, Drain, JobId, Rejection, drain::Leftover};

/// A delivery that was not let in: the cause, and the job it was about as far as that is known.
///
/// ```
/// use article_webhook::{AuthToken, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
///
/// let refused = receiver.open(&headers[..])?.read("{").unwrap_err();
/// assert_eq!(refused.rejection().code(), "malformed_json");
/// assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
///
/// let stranger = receiver.open(&headers[1..]).unwrap_err();
/// assert_eq!(stranger.rejection().code(), "unauthorized");
/// assert_eq!(stranger.job_id(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rejection}")]
pub struct Refused {
    rejection: Rejection,
    job_id: Option<JobId>,
    leftover: Leftover,
}

impl Refused {
    pub(crate) fn new(rejection: Rejection, job_id: Option<JobId>, leftover: Leftover) -> Self {
        Self {
            rejection,
            job_id,
            leftover,
        }
    }

    /// The cause.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver, Rejection};
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let refused = receiver.open(&[("Authorization", "Bearer guess")][..]).unwrap_err();
    /// assert_eq!(*refused.rejection(), Rejection::AuthorizationWrong);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn rejection(&self) -> &Rejection {
        &self.rejection
    }

    /// The job that an authentic sender spoke of: what the API can be asked for. `None` for a
    /// stranger, for an id that could not be read, and when header and body name different jobs.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("X-Service-Job-Id", "job_1")];
    /// let refused = receiver.open(&headers[..]).unwrap_err();
    /// assert_eq!(refused.rejection().code(), "unsupported_media_type");
    /// assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        self.job_id.as_ref()
    }

    /// What goes back to the sender. It closes the connection unless the whole body was read or
    /// [`drained`](Self::drained).
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let refused = receiver.open(&[("Authorization", "Bearer guess")][..]).unwrap_err();
    /// assert_eq!(refused.answer().status(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn answer(&self) -> Answer {
        let answer = Answer::from(&self.rejection);
        match self.leftover {
            Leftover::Nothing => answer,
            Leftover::Drain | Leftover::Close => answer.closing(),
        }
    }

    /// How much of the unread body is to be read and dropped before answering; `None` when nothing
    /// is, because all was read or because it would cost more than it is worth.
    ///
    /// A sender that is still writing when the connection closes may see a reset instead of the
    /// answer. So a short body is taken in first; a long one, or one the sender announces with
    /// `Expect`, is not.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let short = receiver.open(&[("Content-Length", "500")][..]).unwrap_err();
    /// assert!(short.drain().is_some());
    ///
    /// let long = receiver.open(&[("Content-Length", "500000")][..]).unwrap_err();
    /// assert!(long.drain().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn drain(&self) -> Option<Drain> {
        (self.leftover == Leftover::Drain).then(Drain::new)
    }

    /// Notes that the body was drained to its end, so that the connection may be used again.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let refused = receiver.open(&[("Content-Length", "500")][..]).unwrap_err();
    /// let closes = |answer: article_webhook::Answer| answer.headers().any(|header| header == ("connection", "close"));
    /// assert!(closes(refused.answer()));
    /// assert!(!closes(refused.drained().answer()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn drained(self) -> Self {
        Self {
            leftover: Leftover::Nothing,
            ..self
        }
    }
}
