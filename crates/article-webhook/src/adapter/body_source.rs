use std::{error::Error, io, iter::successors};

use bytes::Bytes;

use crate::{
    answer::{Refused, Rejection},
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
    /// The next chunk; `None` at the end of the body.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, BodyError>>>;
}

/// The reason why a body cannot be read to its end.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use article_webhook::adapter::BodyError;
///
/// // A server with a deadline for bodies reports this, under any number of other errors.
/// let late = Error::other(Error::from(ErrorKind::TimedOut));
/// assert_eq!(BodyError::from_source(&late), BodyError::TimedOut);
/// assert_eq!(BodyError::from_source(&Error::from(ErrorKind::ConnectionReset)), BodyError::Incomplete);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // servers may report further causes
pub enum BodyError {
    /// The sender closed the connection, or the body is not framed as HTTP requires. Answered with 400.
    #[error("the body ended early")]
    Incomplete,
    /// The server's deadline for the body has passed. Answered with 408.
    #[error("the body did not arrive in time")]
    TimedOut,
    /// The server has no memory left for bodies. Answered with 503.
    #[error("the server has no room for the body")]
    Overloaded,
}

impl BodyError {
    /// Finds the cause in a framework's error and its sources. A server reports an [`io::Error`] of the
    /// kind [`TimedOut`](io::ErrorKind::TimedOut) for a body that is late, and of the kind
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory) if it has no memory left for bodies.
    #[must_use]
    pub fn from_source(error: &(dyn Error + 'static)) -> Self {
        let kind = |error: &&(dyn Error + 'static)| Some(error.downcast_ref::<io::Error>()?.kind());
        let causes = successors(Some(error), |&error| source(error));
        causes
            .filter_map(|error| match kind(&error)? {
                io::ErrorKind::TimedOut => Some(Self::TimedOut),
                io::ErrorKind::OutOfMemory => Some(Self::Overloaded),
                _ => None,
            })
            .next()
            .unwrap_or(Self::Incomplete)
    }

    /// The refusal of a delivery whose body ends with this error.
    pub(super) fn refuse(self, intake: Intake) -> Refused {
        intake.refuse(match self {
            Self::Incomplete => Rejection::Incomplete,
            Self::TimedOut => Rejection::Timeout,
            Self::Overloaded => Rejection::Overloaded,
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
    use super::*;

    #[test]
    fn the_outermost_known_cause_counts() {
        use io::ErrorKind::{ConnectionReset, OutOfMemory, TimedOut};

        let wrapped =
            |kind: io::ErrorKind| io::Error::other(io::Error::other(io::Error::from(kind)));
        for (error, found, text) in [
            (wrapped(TimedOut), BodyError::TimedOut, "the body did not arrive in time"),
            (wrapped(OutOfMemory), BodyError::Overloaded, "the server has no room for the body"),
            (wrapped(ConnectionReset), BodyError::Incomplete, "the body ended early"),
            (
                io::Error::new(TimedOut, io::Error::from(OutOfMemory)),
                BodyError::TimedOut,
                "the body did not arrive in time",
            ),
            (io::Error::other("another error"), BodyError::Incomplete, "the body ended early"),
        ] {
            assert_eq!(BodyError::from_source(&error), found);
            assert_eq!(found.to_string(), text);
        }
    }
}
