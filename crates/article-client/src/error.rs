use std::{error::Error as StdError, fmt, time::Duration};

use article_webhook::DecodeError;

use crate::ErrorCode;

/// Why a call came to nothing.
///
/// An error that the service gave has a [`code`](Self::code); any answer of it has a [`status`](Self::status).
/// What neither has did not come from the service: no connection, no answer in time, an answer that is
/// not one.
///
/// No secret is in it, and texts of the service are escaped when they are shown.
///
/// ```
/// use article_client::{ApiKey, Client};
///
/// let error = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://service.example").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the base URL is http, which shows the key to everybody on the way: use https",
/// );
/// assert!((error.code(), error.status()) == (None, None) && !error.is_transient());
/// # Ok::<(), article_client::KeyError>(())
/// ```
#[derive(Debug)]
pub struct Error(Box<Kind>);

#[derive(Debug)]
pub(crate) enum Kind {
    BaseUrl(&'static str),
    /// The client itself cannot be built, such as without certificates.
    Setup(reqwest::Error),
    Path,
    /// An error in the shape of the document.
    Service(Service),
    /// A status that is no success, with a body that says nothing that is documented.
    Status {
        status: u16,
        retry_after: Option<Duration>,
        start: String,
    },
    Redirect {
        status: u16,
    },
    /// Nothing was sent.
    Connect(reqwest::Error),
    TimedOut(reqwest::Error),
    Broken(reqwest::Error),
    TooLarge {
        limit: usize,
    },
    /// A success whose body is not what the document says.
    Malformed(Malformed),
    OtherJob,
    /// The request may have been carried out.
    OutcomeUnknown(Error),
    Deadline {
        status: Option<String>,
        /// What went wrong with the last question.
        last: Option<Error>,
    },
}

#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) status: u16,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) credits_remaining: Option<i64>,
    pub(crate) upgrade_url: Option<String>,
    pub(crate) step: Option<String>,
    pub(crate) credits_refunded: Option<i64>,
    pub(crate) retry_after: Option<Duration>,
}

#[derive(Debug)]
pub(crate) enum Malformed {
    Json,
    Result(DecodeError),
    NoJobId,
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(kind))
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0
    }

    /// The error itself, or the one that left the outcome unknown.
    fn cause(&self) -> &Kind {
        match &*self.0 {
            Kind::OutcomeUnknown(error) => error.cause(),
            kind => kind,
        }
    }

    fn service(&self) -> Option<&Service> {
        match self.cause() {
            Kind::Service(service) => Some(service),
            _ => None,
        }
    }

    /// The service's code, if it gave an error in the document's shape.
    ///
    /// ```
    /// use article_client::{Error, ErrorCode};
    ///
    /// fn is_out_of_credits(error: &Error) -> bool {
    ///     error.code() == Some(&ErrorCode::CreditsExhausted)
    /// }
    /// ```
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        self.service().map(|service| &service.code)
    }

    /// The HTTP status, if there was an answer that is an error.
    ///
    /// ```
    /// fn is_refused(error: &article_client::Error) -> bool {
    ///     error.status() == Some(403)
    /// }
    /// ```
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self.cause() {
            Kind::Service(Service { status, .. })
            | Kind::Status { status, .. }
            | Kind::Redirect { status } => Some(*status),
            _ => None,
        }
    }

    /// The service's message for people, as it came: escape it before showing it.
    ///
    /// ```
    /// fn show(error: &article_client::Error) -> String {
    ///     error.message().unwrap_or_default().escape_debug().to_string()
    /// }
    /// ```
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.service().map(|service| &*service.message)
    }

    /// The credits that remain, where [`credits_exhausted`](ErrorCode::CreditsExhausted) says so.
    ///
    /// ```
    /// fn remaining(error: &article_client::Error) -> i64 {
    ///     error.credits_remaining().unwrap_or_default()
    /// }
    /// ```
    #[must_use]
    pub fn credits_remaining(&self) -> Option<i64> {
        self.service()?.credits_remaining
    }

    /// Where more credits are to be had, where [`credits_exhausted`](ErrorCode::CreditsExhausted) says so. A
    /// text from outside: it need not be a URL.
    ///
    /// ```
    /// fn link(error: &article_client::Error) -> Option<&str> {
    ///     error.upgrade_url().filter(|url| url.starts_with("https://"))
    /// }
    /// ```
    #[must_use]
    pub fn upgrade_url(&self) -> Option<&str> {
        self.service()?.upgrade_url.as_deref()
    }

    /// The step of the pipeline at which the [generation failed](ErrorCode::GenerationFailed).
    ///
    /// ```
    /// fn step(error: &article_client::Error) -> &str {
    ///     error.step().unwrap_or("unknown")
    /// }
    /// ```
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.service()?.step.as_deref()
    }

    /// The credits that were given back when the [generation failed](ErrorCode::GenerationFailed).
    ///
    /// ```
    /// fn refunded(error: &article_client::Error) -> i64 {
    ///     error.credits_refunded().unwrap_or_default()
    /// }
    /// ```
    #[must_use]
    pub fn credits_refunded(&self) -> Option<i64> {
        self.service()?.credits_refunded
    }

    /// How long the service asks to wait, by its `Retry-After` header.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// fn pause(error: &article_client::Error) -> Duration {
    ///     error.retry_after().unwrap_or(Duration::from_secs(1))
    /// }
    /// ```
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.cause() {
            Kind::Service(Service { retry_after, .. }) | Kind::Status { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Whether the same call may well succeed later: no connection, no answer in time, 429, or a 5xx that is no
    /// [`generation_failed`](ErrorCode::GenerationFailed). An order whose outcome is unknown is not: see
    /// [`is_outcome_unknown`](Self::is_outcome_unknown).
    ///
    /// ```
    /// fn should_alert(error: &article_client::Error) -> bool {
    ///     !error.is_transient()
    /// }
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match &*self.0 {
            Kind::Connect(_) | Kind::TimedOut(_) | Kind::Broken(_) => true,
            Kind::Service(service) => {
                matches!(service.status, 408 | 429 | 500..) && !self.is_generation_failed()
            }
            Kind::Status { status, .. } => matches!(status, 408 | 429 | 500..),
            _ => false,
        }
    }

    /// The job has come to its end, so asking again tells nothing new.
    pub(crate) fn is_generation_failed(&self) -> bool {
        self.code() == Some(&ErrorCode::GenerationFailed)
    }

    /// Whether the service may have carried out a call that must not be repeated blindly: the request was
    /// sent, and no answer of the documented kind came. The article may arrive by webhook.
    ///
    /// ```
    /// fn may_be_ordered(error: &article_client::Error) -> bool {
    ///     error.is_outcome_unknown()
    /// }
    /// ```
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(*self.0, Kind::OutcomeUnknown(_))
    }

    /// Whether [waiting](crate::Client::wait) came to its deadline. The job may still become complete.
    ///
    /// ```
    /// fn ask_again_tomorrow(error: &article_client::Error) -> bool {
    ///     error.is_deadline()
    /// }
    /// ```
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        matches!(*self.0, Kind::Deadline { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::BaseUrl(why) => write!(f, "the base URL {why}"),
            Kind::Setup(_) => f.write_str("the HTTP client cannot be set up"),
            Kind::Path => f.write_str("the job id gives no path of the service"),
            Kind::Service(Service { status, code, message, .. }) => {
                write!(f, "{code} ({status}): {}", message.escape_debug())
            }
            Kind::Status { status, start, .. } if start.is_empty() => {
                write!(f, "the service answered {status} without a body")
            }
            Kind::Status { status, start, .. } => {
                write!(f, "the service answered {status} and no documented error: {start:?}")
            }
            Kind::Redirect { status } => {
                write!(
                    f,
                    "the service answered {status}, a redirect, which is not followed: is the base URL right?"
                )
            }
            Kind::Connect(_) => f.write_str("the service cannot be reached"),
            Kind::TimedOut(_) => f.write_str("the service did not answer in time"),
            Kind::Broken(_) => f.write_str("the connection to the service broke"),
            Kind::TooLarge { limit } => write!(
                f,
                "the answer is over the limit of {limit} bytes: is the base URL right, or ClientBuilder::body_limit too low?"
            ),
            Kind::Malformed(Malformed::Json) => f.write_str("the answer is not one JSON object"),
            Kind::Malformed(Malformed::Result(error)) => {
                write!(f, "the answer is no article result: {error}")
            }
            Kind::Malformed(Malformed::NoJobId) => f.write_str("the answer has no valid job_id"),
            Kind::OtherJob => f.write_str("the answer is about another job"),
            Kind::OutcomeUnknown(error) => {
                write!(
                    f,
                    "the request may have been carried out, do not repeat it blindly: {error}"
                )
            }
            Kind::Deadline { last: Some(error), .. } => {
                write!(f, "the job was not complete in time: {error}")
            }
            Kind::Deadline { status: Some(status), .. } => {
                write!(f, "the job was not complete in time, its status was {status:?}")
            }
            Kind::Deadline { .. } => f.write_str("the job was not complete in time"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            Kind::Setup(error)
            | Kind::Connect(error)
            | Kind::TimedOut(error)
            | Kind::Broken(error) => Some(error),
            Kind::Malformed(Malformed::Result(error)) => Some(error),
            Kind::OutcomeUnknown(error) | Kind::Deadline { last: Some(error), .. } => {
                error.source()
            }
            _ => None,
        }
    }
}
