use std::time::Duration;

use serde::Serialize;

/// The outcome of a [`Push`](crate::Push).
///
/// ```
/// use article_webhook_simulator::DeliveryOutcome;
///
/// assert!(DeliveryOutcome::status(204).is_success());
/// assert!(!DeliveryOutcome::status(302).is_success()); // redirects are not followed
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
    pub fn status(status: u16) -> Self {
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
        self.answer.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status))
    }
}

/// The answer of a receiver.
///
/// ```
/// use article_webhook_simulator::DeliveryOutcome;
///
/// let answer = DeliveryOutcome::status(401).answer.unwrap();
/// assert_eq!((answer.status, &*answer.start), (401, ""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // an answer may get its headers
pub struct DeliveryAnswer {
    /// The status.
    pub status: u16,
    /// The first bytes of the body, as text.
    pub start: String,
}
