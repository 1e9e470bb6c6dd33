use std::{io, net::SocketAddr};

use article_webhook::TokenError;

/// Why there is nothing to check.
///
/// ```
/// use article_simulator::check::Check;
///
/// let error = Check::new("http://receiver.example/webhooks", "Bearer 5f2b9c0e7a1d4e38").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the URL's host is not this machine, and without TLS everybody on the way would read the token: \
///      use Check::anywhere where that is no harm",
/// );
/// assert!(Check::new("http://127.0.0.1:3000/webhooks", "Bearer 5f2b9c0e7a1d4e38").is_ok());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive] // there may be more to say about a URL
pub enum CheckError {
    /// The URL is none, or not one that is spoken here.
    #[error(
        "the URL is not `http://host:port/path`: a receiver behind TLS is checked on its own port"
    )]
    Url,
    /// The host is not the loopback.
    #[error(
        "the URL's host is not this machine, and without TLS everybody on the way would read the token: \
         use Check::anywhere where that is no harm"
    )]
    Remote,
    /// No receiver could accept the token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The name of a header is none.
    #[error(
        "`{0}` is not a header name: no spaces, colons or non-ASCII characters, as in `X-Service-Event`"
    )]
    HeaderName(String),
    /// The host has no address.
    #[error("the URL's host has no address: is its name right?")]
    NoAddress(#[source] io::Error),
    /// Nobody listens.
    #[error("nothing accepts connections at {address}: is the receiver running?")]
    Unreachable {
        /// Where the receiver should be.
        address: SocketAddr,
        /// What the connection came to.
        source: io::Error,
    },
}
