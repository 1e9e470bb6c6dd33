use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    Answer, JobId, Rejection, Sink,
    drain::{Drain, Leftover},
    log,
};

/// A delivery that was not let in: the cause, and the job it was about as far as that is known.
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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rejection}")]
pub struct Refused {
    rejection: Rejection,
    job_id: Option<JobId>,
    leftover: Leftover,
}

impl Refused {
    pub(crate) fn new(rejection: Rejection, job_id: Option<JobId>, leftover: Leftover) -> Self {
        Self { rejection, job_id, leftover }
    }

    /// The cause.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver, Rejection};
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let refused = receiver.open(&[("Authorization", "Bearer guess")]).unwrap_err();
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
    /// let refused = receiver.open(&headers).unwrap_err();
    /// assert_eq!(refused.rejection().code(), "unsupported_media_type");
    /// assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn job_id(&self) -> Option<&JobId> {
        self.job_id.as_ref()
    }

    /// What goes back to the sender. It closes the connection unless the whole body was read.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let refused = receiver.open(&[("Authorization", "Bearer guess")]).unwrap_err();
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

    /// Tells the sink, if the sender was authentic. A panic of the sink's is caught: the refusal stands.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use article_webhook::{AuthToken, Delivery, Receiver, Refused, Reply, Sink};
    ///
    /// #[derive(Default)]
    /// struct Hints(AtomicU32);
    ///
    /// impl Sink for Hints {
    ///     async fn accept(&self, _: Delivery) -> Reply {
    ///         Reply::Stored
    ///     }
    ///
    ///     fn refused(&self, _: &Refused) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let (receiver, sink) = (Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?), Hints::default());
    /// receiver.open(&[("Authorization", "Bearer guess")]).unwrap_err().report_to(&sink); // a stranger
    /// receiver.open(&[("Authorization", "Bearer 5f2b9c0e7a1d4e38")]).unwrap_err().report_to(&sink); // no Content-Type
    /// assert_eq!(sink.0.into_inner(), 1);
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    pub fn report_to(&self, sink: &impl Sink) {
        if !self.rejection.is_authentic() {
            return;
        }
        // Nothing of the sink is used again after a panic here than after one in another task.
        let told = catch_unwind(AssertUnwindSafe(|| sink.refused(self)));
        if told.is_err() {
            log::deaf_sink(self.job_id());
        }
    }

    /// How much of the unread body may be read and dropped before answering.
    pub(crate) fn drain(&self) -> Option<Drain> {
        (self.leftover == Leftover::Drain).then(Drain::new)
    }

    /// The body was drained to its end, so the connection may be used again.
    pub(crate) fn drained(self) -> Self {
        let leftover = Leftover::Nothing;
        Self { leftover, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Delivery, Reply};

    struct Deaf;

    impl Sink for Deaf {
        async fn accept(&self, _: Delivery) -> Reply {
            Reply::Stored
        }

        fn refused(&self, _: &Refused) {
            // As a panic, but without its message in the output of the tests.
            std::panic::resume_unwind(Box::new("deaf"));
        }
    }

    #[test]
    fn a_sink_that_panics_at_a_refusal_does_not_change_the_answer() {
        let refused = Refused::new(Rejection::Incomplete, None, Leftover::Nothing);
        refused.report_to(&Deaf);
        assert_eq!(refused.answer().status(), 400);
    }
}
