use std::{error::Error, io, iter::successors};

use bytes::Bytes;

use crate::{
    answer::{Refused, Rejection},
    causes::debug_as_text,
    receiver::Intake,
};

/// The body of a request, chunk by chunk. Adapters implement it for the body type of their framework.
///
/// ```
/// use article_webhook::adapter::{BodyError, BodySource};
/// use bytes::Bytes;
///
/// /// A body that has arrived completely.
/// struct Whole(Option<Bytes>);
///
/// impl BodySource for Whole {
///     async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
///         self.0.take().map(Ok)
///     }
/// }
///
/// /// A body whose sender closed the connection.
/// struct Incomplete;
///
/// impl BodySource for Incomplete {
///     async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
///         Some(Err(BodyError::Incomplete))
///     }
/// }
/// ```
pub trait BodySource {
    /// The next chunk; `None` at the end of the body. A body that ends before its declared length is an error, and not
    /// `None`: an end without a byte means that the application has read the body.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, BodyError>>>;
}

/// The reason why a body cannot be read to its end.
///
/// ```
/// use std::{fmt, io::{Error, ErrorKind}};
/// use article_webhook::adapter::BodyError;
///
/// // The adapter recognises the error of its framework's limits.
/// let found = |error| BodyError::from_source(&error, |cause| cause.is::<fmt::Error>());
/// assert_eq!(found(Error::other(fmt::Error)), BodyError::LimitedByLayer);
///
/// // A server with a deadline for bodies reports this, under any number of other errors.
/// assert_eq!(found(Error::other(Error::from(ErrorKind::TimedOut))), BodyError::TimedOut);
/// assert_eq!(found(Error::from(ErrorKind::ConnectionReset)), BodyError::Incomplete);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // servers may report further causes
pub enum BodyError {
    /// The sender closed the connection, or the body is not framed as HTTP requires. Answered with 400.
    #[error("the body ended early")]
    Incomplete,
    /// The server's deadline for the body has passed. Answered with 408.
    #[error("the body did not arrive in time")]
    TimedOut,
    /// A layer in front of the receiver limits bodies, and this one is over its limit. Answered with 413.
    #[error("the body is over the limit of a layer in front of the receiver")]
    LimitedByLayer,
}

debug_as_text!(BodyError);

impl BodyError {
    /// Finds the cause in a framework's error and its sources. A server reports an [`io::Error`] of the
    /// kind [`TimedOut`](io::ErrorKind::TimedOut) for a body that is late. `is_limit` recognises the error with
    /// which a layer of the framework limits bodies.
    #[must_use]
    pub fn from_source(
        error: &(dyn Error + 'static),
        is_limit: impl Fn(&(dyn Error + 'static)) -> bool,
    ) -> Self {
        let causes = successors(Some(error), |&error| source(error));
        causes
            .filter_map(|cause| match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
                _ if is_limit(cause) => Some(Self::LimitedByLayer),
                Some(io::ErrorKind::TimedOut) => Some(Self::TimedOut),
                _ => None,
            })
            .next()
            .unwrap_or(Self::Incomplete)
    }

    /// The refusal of a delivery whose body ends with this error.
    pub(super) fn refuse(self, intake: &Intake) -> Refused {
        intake.refuse(match self {
            Self::Incomplete => Rejection::Incomplete,
            Self::TimedOut => Rejection::Timeout,
            Self::LimitedByLayer => Rejection::LimitedByLayer,
        })
    }
}

/// The error under this one. [`io::Error::source`] skips the error that an [`io::Error`] was made from.
fn source<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[test]
    fn the_outermost_known_cause_counts() {
        use io::ErrorKind::{ConnectionReset, TimedOut};

        let wrapped =
            |kind: io::ErrorKind| io::Error::other(io::Error::other(io::Error::from(kind)));
        for (error, found, text) in [
            (wrapped(TimedOut), BodyError::TimedOut, "the body did not arrive in time"),
            (wrapped(ConnectionReset), BodyError::Incomplete, "the body ended early"),
            (
                io::Error::new(TimedOut, fmt::Error),
                BodyError::TimedOut,
                "the body did not arrive in time",
            ),
            (
                io::Error::other(io::Error::other(fmt::Error)),
                BodyError::LimitedByLayer,
                "the body is over the limit of a layer in front of the receiver",
            ),
            (io::Error::other("another error"), BodyError::Incomplete, "the body ended early"),
        ] {
            assert_eq!(BodyError::from_source(&error, |cause| cause.is::<fmt::Error>()), found);
            assert_eq!(found.to_string(), text);
        }
    }
}
