use std::io;

use crate::causes::debug_as_text;

/// The key is invalid or cannot be read, or a capability cannot be minted. No variant contains any part of the key.
///
/// ```
/// use article_webhook::{CapabilityError, CapabilityKey};
///
/// let error = CapabilityKey::new(b"short").unwrap_err();
/// assert!(matches!(error, CapabilityError::ShortKey));
/// assert!(error.to_string().starts_with("a capability key needs at least 32 random bytes"));
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive] // a capability may carry further claims
pub enum CapabilityError {
    /// The key has fewer than 32 bytes.
    #[error(
        "a capability key needs at least 32 random bytes: make one with `openssl rand -hex 32`"
    )]
    ShortKey,
    /// The key repeats a few bytes, so that it is not random.
    #[error(
        "a capability key needs random bytes, and this one repeats a few: make one with `openssl rand -hex 32`"
    )]
    WeakKey,
    /// The environment variable is not set.
    #[error(
        "the environment variable {name} is not set: make a key with `openssl rand -hex 32`, and give it to each machine that \
         receives"
    )]
    #[non_exhaustive]
    NotSet {
        /// The variable's name.
        name: String,
    },
    /// The file cannot be read.
    #[error("the key file {path} cannot be read")]
    #[non_exhaustive]
    Unreadable {
        /// The file's path.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The intent would have to be escaped in a URL.
    #[error("an intent is 1 to 64 ASCII letters, digits, `-` or `_`")]
    Intent,
    /// The expiry lies before 1970.
    #[error("the expiry lies before 1970")]
    Expiry,
}

debug_as_text!(CapabilityError);
