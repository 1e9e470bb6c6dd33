use std::{error::Error as StdError, fmt};

use article_webhook::adapter::Causes;

use super::{
    Error,
    kind::{Kind, Malformed, ServiceError},
};

/// Texts of the service are escaped, so that they cannot control a terminal.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::BaseUrl(why) => write!(f, "the base URL {why}"),
            Kind::Setting(message) => f.write_str(message),
            Kind::Setup(_) => f.write_str("the HTTP client cannot be set up"),
            Kind::Path => f.write_str("the job id gives no path of the service"),
            Kind::Service(ServiceError { status, code, message, .. }) => {
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

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
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
