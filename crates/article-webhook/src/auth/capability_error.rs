use crate::causes::debug_as_text;

/// A capability cannot be minted.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use article_webhook::CapabilityKey;
/// let error = CapabilityKey::new(b"short").unwrap_err();
/// assert_eq!(error.to_string(), "a capability key needs at least 32 random bytes");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // a capability may carry further claims
pub enum CapabilityError {
    /// The key has fewer than 32 bytes.
    #[error("a capability key needs at least 32 random bytes")]
    ShortKey,
    /// The intent would have to be escaped in a URL.
    #[error("an intent is 1 to 64 ASCII letters, digits, `-` or `_`")]
    Intent,
    /// The expiry lies before 1970.
    #[error("the expiry lies before 1970")]
    Expiry,
}

debug_as_text!(CapabilityError);
