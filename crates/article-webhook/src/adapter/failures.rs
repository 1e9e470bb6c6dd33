use std::{error::Error, fmt};

use crate::{
    answer::{Answer, Reply},
    causes::{Causes, logged_cause},
    log,
};

/// Why a handler failed, for the log: the error with its causes. It is not sent.
///
/// ```
/// use article_webhook::adapter::RetryReason;
///
/// let answer = RetryReason::of("the disk is full").answer();
/// assert_eq!(answer.status(), 503);
/// assert!(!answer.body().contains("disk"));
/// ```
#[derive(Clone)]
pub struct RetryReason(String);

impl RetryReason {
    /// The reason in an error or in a text.
    pub fn of<'a>(error: impl Into<Box<dyn Error + 'a>>) -> Self {
        Self(logged_cause(&Causes::of(&*error.into())))
    }

    /// The answer for the handler's failure: 503, so that the service retries. Logs the reason in the field `cause`, with
    /// the job if the handler runs under the adapter's layer.
    #[must_use]
    pub fn answer(&self) -> Answer {
        log::retry(&self.0);
        Reply::Retry.into()
    }
}

impl fmt::Debug for RetryReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RetryReason(..)")
    }
}

impl Reply {
    /// [`Reply::Retry`] for a sink that failed. Logs the job, and the error with its causes.
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
    /// In every log event of these crates, an error of the application stands in the field `cause` and nowhere else. If your
    /// errors can contain secrets, let the log leave this field out:
    ///
    /// ```
    /// use std::io;
    ///
    /// use article_webhook::Reply;
    /// use tracing_subscriber::fmt::format::debug_fn;
    ///
    /// # use std::io::{BufRead, BufReader};
    /// # let (reader, writer) = io::pipe()?;
    /// let fields = debug_fn(|writer, field, value| match field.name() {
    ///     "cause" => Ok(()),
    ///     "message" => write!(writer, "{value:?}"),
    ///     name => write!(writer, " {name}={value:?}"),
    /// });
    /// let log = tracing_subscriber::fmt().fmt_fields(fields);
    /// # let log = log.with_ansi(false).without_time().with_writer(std::sync::Mutex::new(writer));
    /// log.init();
    ///
    /// let error = io::Error::other("cannot log in at https://user:password@blog.example");
    /// assert_eq!(Reply::retry_because(&error), Reply::Retry);
    /// # if cfg!(feature = "tracing") {
    /// #     let mut line = String::new();
    /// #     BufReader::new(reader).read_line(&mut line)?;
    /// #     assert_eq!(line, " WARN article_webhook: the handler failed and asks for a retry\n");
    /// # }
    /// # Ok::<(), io::Error>(())
    /// ```
    #[must_use]
    pub fn retry_because(error: &(dyn Error + '_)) -> Self {
        log::retry(&logged_cause(&Causes::of(error)));
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
