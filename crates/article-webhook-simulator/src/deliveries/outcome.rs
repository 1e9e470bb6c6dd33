use std::time::Duration;

use http::StatusCode;
use serde::Serialize;

/// The outcome of a [`Push`](crate::Push).
///
/// ```
/// use article_webhook_simulator::{DeliveryOutcome, StatusCode};
///
/// assert!(DeliveryOutcome::status(StatusCode::NO_CONTENT).is_success());
/// assert!(!DeliveryOutcome::status(StatusCode::FOUND).is_success()); // redirects are not followed
/// assert!(!DeliveryOutcome::failed("connection refused").is_success());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // an outcome may get more details
pub struct DeliveryOutcome {
    /// The answer of the receiver, or why there is none.
    pub answer: Result<DeliveryAnswer, String>,
    /// How long the attempt took, in real time.
    pub took: Duration,
}

impl DeliveryOutcome {
    /// An immediate answer without a body.
    #[must_use]
    pub fn status(status: StatusCode) -> Self {
        Self { answer: Ok(DeliveryAnswer { status, start: String::new() }), took: Duration::ZERO }
    }

    /// No answer.
    #[must_use]
    pub fn failed(why: &str) -> Self {
        Self { answer: Err(why.to_owned()), took: Duration::ZERO }
    }

    /// Whether the answer was a 2xx (service document, section 6.2).
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.answer.as_ref().is_ok_and(|answer| answer.status.is_success())
    }
}

/// The answer of a receiver.
///
/// ```
/// use article_webhook_simulator::{DeliveryOutcome, StatusCode};
///
/// let answer = DeliveryOutcome::status(StatusCode::UNAUTHORIZED).answer.unwrap();
/// assert_eq!((answer.status, &*answer.start), (StatusCode::UNAUTHORIZED, ""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // an answer may get its headers
pub struct DeliveryAnswer {
    /// The status.
    #[serde(serialize_with = "crate::status_number::serialize")]
    pub status: StatusCode,
    /// The first bytes of the body, as text.
    pub start: String,
}
