mod display;
mod kind;

use std::{error::Error as StdError, time::Duration};

pub(crate) use kind::Kind;

use article_webhook::StatusCode;

use crate::response::{ErrorCode, Reported, Response};

/// Why a call failed.
///
/// An error that the service reports has a [`code`](Self::code). If the service answered, there is a
/// [`status`](Self::status) and the whole [`response`](Self::response). An error without these did not come from the
/// service: no connection, no response in time, or a setting that is not valid.
///
/// It holds no secret, and texts of the service are escaped when they are displayed.
///
/// ```
/// use article_webhook_client::{ApiKey, Client};
///
/// let error = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://service.example").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the base URL is http, which sends the key unencrypted: use https",
/// );
/// assert!((error.code(), error.status()) == (None, None) && !error.is_transient());
/// # Ok::<(), article_webhook_client::KeyError>(())
/// ```
pub struct Error(Box<Kind>);

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Box::new(kind))
    }

    /// No connection, so nothing was sent: for a [transport of your own](crate::RawResponse).
    pub fn unreachable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(Kind::Connect(cause.into()))
    }

    /// The request was sent, and no response came: for a [transport of your own](crate::RawResponse).
    pub fn unanswered(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(Kind::Broken(cause.into()))
    }

    pub(crate) fn of_response(response: Response) -> Self {
        Self::new(Kind::Response(response))
    }

    /// The error of a call that changes something: its outcome is unknown, unless nothing was sent or the service
    /// itself refused.
    pub(crate) fn of_change(self) -> Self {
        match &*self.0 {
            Kind::Connect(_) => self,
            Kind::Response(response) if response.is_certain_refusal() => self,
            _ => Self::new(Kind::OutcomeUnknown(self)),
        }
    }

    /// The error itself, or the one that left the outcome unknown.
    fn cause(&self) -> &Kind {
        match &*self.0 {
            Kind::OutcomeUnknown(error) => error.cause(),
            kind => kind,
        }
    }

    /// The response that is not what the call asks for, if the service answered.
    #[must_use]
    pub fn response(&self) -> Option<&Response> {
        match self.cause() {
            Kind::Response(response) => Some(response),
            _ => None,
        }
    }

    fn reported(&self) -> Option<&Reported> {
        self.response()?.reported()
    }

    /// The code of the service, if it reported an error in the documented shape.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        self.response()?.code()
    }

    /// The HTTP status, if the service answered.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.response().map(|response| response.status)
    }

    /// The message of the service for people, unchanged: escape it before you display it.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.reported().map(|reported| &*reported.message)
    }

    /// The credits that remain, from [`credits_exhausted`](ErrorCode::CreditsExhausted).
    #[must_use]
    pub fn credits_remaining(&self) -> Option<i64> {
        self.reported()?.credits_remaining
    }

    /// Where more credits can be bought, from [`credits_exhausted`](ErrorCode::CreditsExhausted). The text comes from
    /// outside, need not be a URL, and ends after 2048 characters.
    #[must_use]
    pub fn upgrade_url(&self) -> Option<&str> {
        self.reported()?.upgrade_url.as_deref()
    }

    /// The step of the pipeline at which the [generation failed](ErrorCode::GenerationFailed).
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        self.reported()?.step.as_deref()
    }

    /// The credits that were refunded when the [generation failed](ErrorCode::GenerationFailed).
    #[must_use]
    pub fn credits_refunded(&self) -> Option<i64> {
        self.reported()?.credits_refunded
    }

    /// How long to wait before another call, from the `Retry-After` header. It is
    /// [not limited](Response::retry_after), although it comes from outside: an earlier call may prolong it.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.response()?.retry_after
    }

    /// Whether the same call may succeed later: no connection, no response in time, 408, 429, or a 5xx other than
    /// [`generation_failed`](ErrorCode::GenerationFailed). An order with an
    /// [unknown outcome](Self::is_outcome_unknown) is not transient.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match &*self.0 {
            Kind::Connect(_) | Kind::TimedOut(_) | Kind::Broken(_) => true,
            Kind::Response(response) => response.is_transient(),
            _ => false,
        }
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
