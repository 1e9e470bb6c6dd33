use std::error::Error;

use crate::{
    answer::{Answer, Reply},
    causes::Causes,
    log,
};

/// The answer for a handler that failed: 503, so that the service retries. Logs the error with its causes, unless
/// [`hide_causes`](crate::hide_causes) was called, and does not send it.
///
/// ```
/// use article_webhook::adapter;
///
/// let answer = adapter::retry_answer("the disk is full");
/// assert_eq!(answer.status(), 503);
/// assert!(!answer.body().contains("disk"));
/// ```
pub fn retry_answer<'a>(error: impl Into<Box<dyn Error + 'a>>) -> Answer {
    Reply::retry_because(&*error.into()).into()
}

impl Reply {
    /// [`Reply::Retry`] for a sink that failed. Logs the error with its causes, unless [`hide_causes`] was called.
    ///
    /// ```
    /// use article_webhook::{Delivery, Reply};
    ///
    /// async fn store(delivery: Delivery) -> Reply {
    ///     match std::fs::write("/no/such/folder/article.json", delivery.body()) {
    ///         Ok(()) => Reply::Stored,
    ///         Err(error) => Reply::retry_because(&error),
    ///     }
    /// }
    /// # assert_eq!(Reply::retry_because(&std::fmt::Error), Reply::Retry);
    /// ```
    ///
    /// [`hide_causes`]: crate::hide_causes
    #[must_use]
    pub fn retry_because(error: &(dyn Error + '_)) -> Self {
        log::retry(&Causes::of(error));
        Self::Retry
    }
}

/// The answer for an application that mounted an adapter without a part that it needs: 500. Logs
/// `mistake`, which names the fix. `body` is the JSON to send, in the shape of the service's own errors.
///
/// ```
/// use article_webhook::adapter;
///
/// let body = r#"{"error":"internal","message":"no receiver: add one"}"#;
/// let answer = adapter::misconfigured_answer("no receiver: add one", body);
/// assert_eq!((answer.status().as_u16(), answer.body()), (500, body));
/// ```
pub fn misconfigured_answer(mistake: &str, body: &'static str) -> Answer {
    log::misconfigured(mistake);
    Answer::misconfigured(body)
}
