use std::time::Duration;

use article_webhook::DecodeError;

use super::{Error, code::ErrorCode};

#[derive(Debug)]
pub(crate) enum Kind {
    BaseUrl(&'static str),
    /// A setting with which no call can succeed.
    Setting(&'static str),
    /// The HTTP client cannot be built, for instance without certificates.
    Setup(reqwest::Error),
    /// A job id gives no valid path.
    Path,
    /// An error in the documented shape.
    Service(ServiceError),
    /// A status that is not a success, with a body that is not documented.
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
    /// A success with a body that is not as documented.
    Malformed(Malformed),
    OtherJob,
    /// The request may have been carried out.
    OutcomeUnknown(Error),
    Deadline {
        status: Option<String>,
        /// The error of the last attempt.
        last: Option<Error>,
    },
}

/// An error that the service reports.
#[derive(Debug)]
pub(crate) struct ServiceError {
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
