use std::time::Duration;

use http::StatusCode;

use super::context::FaultSite;
use crate::Step;

/// A fault. A [`Rule`](crate::Rule) says when it happens.
///
/// ```
/// use article_webhook_simulator::{Fault, Rule, StatusCode};
///
/// let flaky = Rule::new(Fault::AnswerLost).probability(0.1);
/// let once = Rule::new(Fault::ApiStatus(StatusCode::SERVICE_UNAVAILABLE)).nth(1);
/// assert_ne!(flaky.fault(), once.fault());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive] // there are more faults to simulate
pub enum Fault {
    /// A delivery is sent twice.
    Duplicate,
    /// A delivery is delayed by this simulated time.
    Late(Duration),
    /// A delivery is answered, but the service does not get the answer, and retries.
    AnswerLost,
    /// `Authorization` is not the token of the target.
    WrongToken,
    /// `Authorization` is missing.
    MissingToken,
    /// The body is cut in the middle, with the length of what is sent.
    Truncated,
    /// The body has at least this number of bytes.
    Oversized(usize),
    /// The body is sent in pieces over this real time.
    Slow(Duration),
    /// The event is not documented.
    UnknownEvent,
    /// The result has fields that are not documented.
    UnknownFields,
    /// The result has only the required fields.
    MissingOptionalFields,
    /// The job id in the header differs from the one in the body.
    JobIdMismatch,
    /// The body is sent in chunks, without its length. This is valid HTTP.
    Chunked,
    /// The connection is closed in the middle of the body.
    Cut,

    /// The response to a call is delayed by this real time.
    ApiLatency(Duration),
    /// A call is not carried out, and answered with this status and an undocumented body.
    ApiStatus(#[serde(serialize_with = "crate::status_number::serialize")] StatusCode),
    /// A call is not carried out, and answered 429 with this `Retry-After`.
    ApiRateLimited(Duration),
    /// A call is carried out, and its response is cut in the middle.
    ApiMalformed,

    /// The pipeline fails at this step; the credits are refunded.
    StepFails(Step),
}

impl Fault {
    pub(crate) fn site(self) -> FaultSite {
        match self {
            Self::ApiLatency(_)
            | Self::ApiStatus(_)
            | Self::ApiRateLimited(_)
            | Self::ApiMalformed => FaultSite::Call,
            Self::StepFails(_) => FaultSite::Pipeline,
            _ => FaultSite::Delivery,
        }
    }
}
