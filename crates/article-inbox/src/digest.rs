use std::fmt;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a body, by which a repeated body is known and a damaged one is found.
///
/// ```
/// use article_inbox::Digest;
///
/// let digest = Digest::of(b"abc");
/// assert!(digest.to_string().starts_with("ba7816bf"));
/// assert_ne!(digest, Digest::of(b"abd"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    ///
    /// ```
    /// use article_inbox::Digest;
    ///
    /// assert_eq!(Digest::of(b""), Digest::of(b""));
    /// ```
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }

    /// The 32 bytes, for a store to keep.
    ///
    /// ```
    /// use article_inbox::Digest;
    ///
    /// let digest = Digest::of(b"abc");
    /// assert_eq!(Digest::from(*digest.as_bytes()), digest);
    /// ```
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}
