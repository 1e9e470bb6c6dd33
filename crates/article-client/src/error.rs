mod code;
mod display;
mod kind;

use std::time::Duration;

pub use code::ErrorCode;
pub(crate) use kind::{Kind, Malformed, ServiceError};

/// Why a call failed.
///
/// An error that the service reports has a [`code`](Self::code). Every error response has a
/// [`status`](Self::status). An error with neither did not come from the service: no connection, no response in time,
/// or a response that is not valid.
///
/// It holds no secret, and texts of the service are escaped when they are displayed.
///
/// ```
/// use article_client::{ApiKey, Client};
///
/// let error = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://service.example").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the base URL is http, which sends the key unencrypted: use https",
/// );
/// assert!((error.code(), error.status()) == (None, None) && !error.is_transient());
/// # Ok::<(), article_client::KeyError>(())
/// ```
pub struct Error(Box<Kind>);

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

    fn service(&self) -> Option<&ServiceError> {
        match self.cause() {
            Kind::Service(service) => Some(service),
            _ => None,
        }
    }

    /// The code of the service, if it reported an error in the documented shape.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        self.service().map(|service| &service.code)
    }

    /// The HTTP status, if there was an error response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self.cause() {
            Kind::Service(ServiceError { status, .. })
            | Kind::Status { status, .. }
            | Kind::Redirect { status } => Some(*status),
            _ => None,
        }
    }

    /// The message of the service for people, unchanged: escape it before you display it.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.service().map(|service| &*service.message)
    }

    /// The credits that remain, from [`credits_exhausted`](ErrorCode::CreditsExhausted).
    #[must_use]
    pub fn credits_remaining(&self) -> Option<i64> {
        self.service()?.credits_remaining
    }

    /// Where more credits can be bought, from [`credits_exhausted`](ErrorCode::CreditsExhausted). The text comes from
    /// outside, need not be a URL, and ends after 2048 characters.
    #[must_use]
    pub fn upgrade_url(&self) -> Option<&str> {
        self.service()?.upgrade_url.as_deref()
    }

    /// The step of the pipeline at which the [generation failed](ErrorCode::GenerationFailed).
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.service()?.step.as_deref()
    }

    /// The credits that were refunded when the [generation failed](ErrorCode::GenerationFailed).
    #[must_use]
    pub fn credits_refunded(&self) -> Option<i64> {
        self.service()?.credits_refunded
    }

    /// How long to wait before another call, from the `Retry-After` header: at most one hour, because the value comes
    /// from outside.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self.cause() {
            Kind::Service(ServiceError { retry_after, .. }) | Kind::Status { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Whether the same call may succeed later: no connection, no response in time, 429, or a 5xx other than
    /// [`generation_failed`](ErrorCode::GenerationFailed). An order with an
    /// [unknown outcome](Self::is_outcome_unknown) is not transient.
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

    /// The job has failed, so its state will not change again.
    pub(crate) fn is_generation_failed(&self) -> bool {
        self.code() == Some(&ErrorCode::GenerationFailed)
    }

    /// Whether the service may have carried out a call that must not be repeated blindly: the request was sent, and no
    /// documented response came. The article may still arrive by webhook.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(*self.0, Kind::OutcomeUnknown(_))
    }

    /// Whether [waiting](crate::Client::wait) reached its deadline. The job may still become complete.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        matches!(*self.0, Kind::Deadline { .. })
    }
}
