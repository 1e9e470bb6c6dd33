use std::{
    fmt,
    time::{Duration, SystemTime},
};

use article_webhook::{StatusCode, adapter::Headers};
use bytes::Bytes;

use super::retry_after::{retry_after, sent_at};

/// The limit for a body without an article, in bytes.
pub(crate) const MAX_SHORT_BODY: usize = 1 << 20;

/// A response as a transport brings it, before anything is concluded from it: for a transport of your own, such as
/// that of a simulation. [`Response::classify`] and [`Created::classify`](crate::Created::classify) read it as this
/// client does.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_client::{RawResponse, StatusCode};
///
/// let headers = [("Retry-After", "86400")];
/// let busy = RawResponse::new(StatusCode::TOO_MANY_REQUESTS, &headers, "", SystemTime::now());
/// assert_eq!(busy.retry_after(), Some(Duration::from_secs(86400)));
///
/// let headers = [("Retry-After", "soon")]; // neither seconds nor a date
/// let busy = RawResponse::new(StatusCode::TOO_MANY_REQUESTS, &headers, "", SystemTime::now());
/// assert_eq!(busy.retry_after(), None);
/// ```
///
/// [`Response::classify`]: crate::Response::classify
#[derive(Clone)]
pub struct RawResponse {
    pub(crate) status: StatusCode,
    pub(crate) sent_at: Option<SystemTime>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
    pub(crate) length: Length,
}

/// Whether a body was read to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Whole,
    /// It is longer than the limit, and only its beginning was kept.
    OverLimit(usize),
}

impl RawResponse {
    /// A response with its whole body. `now` is the time at which it came: a `Retry-After` that is a date is measured
    /// against it, if the response has no valid `Date`.
    pub fn new(
        status: StatusCode,
        headers: &(impl Headers + ?Sized),
        body: impl Into<Bytes>,
        now: SystemTime,
    ) -> Self {
        let (sent_at, retry_after) = (sent_at(headers), retry_after(headers, now));
        Self { status, sent_at, retry_after, body: body.into(), length: Length::Whole }
    }

    /// The pause that the service asks for, in full.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status.is_success()
    }
}

/// Without the body.
impl fmt::Debug for RawResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawResponse")
            .field("status", &self.status)
            .field("retry_after", &self.retry_after)
            .field("length", &self.body.len())
            .finish_non_exhaustive()
    }
}
