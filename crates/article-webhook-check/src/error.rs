use std::{fmt, io, net::SocketAddr};

use article_webhook::{TokenError, adapter::Causes};

/// Why a check cannot run.
///
/// ```
/// use article_webhook_check::{Check, CheckError};
///
/// let error = Check::new("http://receiver.example/webhooks", "Bearer 5f2b9c0e7a1d4e38").unwrap_err();
/// assert!(matches!(error, CheckError::Remote));
/// assert!(Check::new("http://127.0.0.1:3000/webhooks", "Bearer 5f2b9c0e7a1d4e38").is_ok());
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive] // further settings can be wrong
pub enum CheckError {
    /// The URL cannot be parsed, or is not an `http` URL.
    #[error(
        "the URL is not `http://host:port/path`: a receiver behind TLS is checked on its own port"
    )]
    Url,
    /// The host is not a loopback address.
    #[error(
        "the URL's host is not this machine, and without TLS the token can be read on the way: \
         use CheckBuilder::allow_remote where that does no harm"
    )]
    Remote,
    /// No receiver could accept the token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A header name is not valid.
    #[error(
        "`{0}` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`"
    )]
    HeaderName(String),
    /// The host name has no address.
    #[error("the URL's host has no address: is its name right?")]
    NoAddress(#[source] io::Error),
    /// The receiver does not accept connections.
    #[error("nothing accepts connections at {address}: is the receiver running?")]
    #[non_exhaustive]
    Unreachable {
        /// The address that was tried last.
        address: SocketAddr,
        /// Why the connection failed.
        source: io::Error,
    },
}

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
    }
}
