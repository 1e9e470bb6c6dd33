use std::{error::Error as StdError, fmt};

use article_webhook::adapter::Causes;

use super::{Error, kind::Kind};
use crate::response::CallOutcome;

/// Texts of the service are escaped, so that they cannot control a terminal.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::BaseUrl(why) => write!(f, "the base URL {why}"),
            Kind::Setting(message) => f.write_str(message),
            Kind::Setup(_) => f.write_str("the HTTP client cannot be set up"),
            Kind::Path => f.write_str("the job id cannot be part of a URL"),
            Kind::Response(response) => response.fmt(f),
            Kind::Connect(_) => f.write_str("the service cannot be reached"),
            Kind::TimedOut(_) => f.write_str("the service did not answer in time"),
            Kind::Broken(_) => f.write_str("the connection to the service broke"),
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
            Kind::Setup(error) => Some(error),
            Kind::Connect(cause) | Kind::TimedOut(cause) | Kind::Broken(cause) => Some(&**cause),
            Kind::Response(response) => match &response.outcome {
                CallOutcome::Undecodable(error) => Some(error),
                _ => None,
            },
            Kind::OutcomeUnknown(error) | Kind::Deadline { last: Some(error), .. } => {
                error.source()
            }
            _ => None,
        }
    }
}
