//! What goes wrong, by rule or by probability, and always from the seed.

mod body;
mod plan;
mod rule;

use std::time::Duration;

pub(crate) use body::spoiled;
pub(crate) use plan::{Occasion, Plan};
pub use rule::Rule;

use crate::Step;

/// One thing that goes wrong. A [`Rule`] says when.
///
/// ```
/// use article_simulator::{Fault, Rule};
///
/// let flaky = Rule::new(Fault::AnswerLost).probability(0.1);
/// let once = Rule::new(Fault::ApiStatus(503)).nth(1);
/// assert_ne!(flaky.fault(), once.fault());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive] // more can go wrong
pub enum Fault {
    /// A delivery comes twice.
    Duplicate,
    /// A delivery comes later than it should, in simulated time.
    Late(Duration),
    /// A delivery is answered, but the service does not see the answer, and comes again.
    AnswerLost,
    /// `Authorization` is not the target's token.
    WrongToken,
    /// There is no `Authorization`.
    MissingToken,
    /// The body ends in its middle; the declared length is that of what is sent.
    Truncated,
    /// The body is an article of at least that many bytes.
    Oversized(usize),
    /// The body trickles in, for that long in real time.
    Slow(Duration),
    /// The event is of a kind that the document does not name.
    UnknownEvent,
    /// The result has fields that the document does not name.
    UnknownFields,
    /// The result has only the fields without which it is none.
    MissingOptionalFields,
    /// The job id of the header is not that of the body.
    JobIdMismatch,
    /// The body is sent in chunks, without a length. Nothing is wrong with that.
    Chunked,
    /// The connection is cut in the middle of the body.
    Cut,

    /// A call is answered late, in real time.
    ApiLatency(Duration),
    /// A call is not carried out, and answered with that status and no documented body.
    ApiStatus(u16),
    /// A call is not carried out, and answered 429 with that `Retry-After`.
    ApiRateLimited(Duration),
    /// A call is carried out, and its answer ends in its middle.
    ApiMalformed,

    /// The pipeline fails at that step; the credits are refunded.
    StepFails(Step),
}

/// What a fault can happen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Site {
    Delivery,
    Call,
    Pipeline,
}

impl Fault {
    pub(crate) fn site(self) -> Site {
        match self {
            Self::ApiLatency(_)
            | Self::ApiStatus(_)
            | Self::ApiRateLimited(_)
            | Self::ApiMalformed => Site::Call,
            Self::StepFails(_) => Site::Pipeline,
            _ => Site::Delivery,
        }
    }
}
