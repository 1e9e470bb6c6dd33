use std::error::Error as StdError;

use super::Error;
use crate::response::Response;

pub(crate) type Cause = Box<dyn StdError + Send + Sync>;

#[derive(Debug)]
pub(crate) enum Kind {
    BaseUrl(&'static str),
    /// A setting with which no call can succeed.
    Setting(&'static str),
    /// The HTTP client cannot be built, for instance without certificates.
    Setup(reqwest::Error),
    /// A job id gives no valid path.
    Path,
    /// A response that is not what the call asks for.
    Response(Response),
    /// Nothing was sent.
    Connect(Cause),
    TimedOut(Cause),
    Broken(Cause),
    /// The request may have been carried out.
    OutcomeUnknown(Error),
    Deadline {
        status: Option<String>,
        /// The error of the last attempt.
        last: Option<Error>,
    },
}
