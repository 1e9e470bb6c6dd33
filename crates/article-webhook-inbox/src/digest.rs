use std::fmt;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a body. It identifies a repeated body and reveals a damaged one.
///
/// ```
/// use article_webhook_inbox::Digest;
///
/// let digest = Digest::of(b"abc");
/// assert!(digest.to_string().starts_with("ba7816bf"));
/// assert_eq!(Digest::from(*digest.as_bytes()), digest);
/// assert_ne!(digest, Digest::of(b"abd"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }

    /// The 32 bytes, as a store keeps them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest that [`Display`](fmt::Display) wrote, in lower or upper case.
    pub(crate) fn from_hex(hex: &str) -> Option<Self> {
        bytes_of_hex(hex)?.try_into().ok().map(Self)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(deserializer)?;
        Self::from_hex(&hex).ok_or_else(|| serde::de::Error::custom("not a SHA-256 in hex"))
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// 64 hexadecimal digits in lower case.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// Bytes as hexadecimal digits in lower case.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The bytes that [`Hex`] wrote, in lower or upper case.
pub(crate) fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let (pairs, []) = digits.as_ref()?.as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| u8::try_from(high << 4 | low).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_back_from_its_digits() {
        let digest = Digest::of(b"abc");
        assert_eq!(Digest::from_hex(&digest.to_string()), Some(digest));
        assert_eq!(Digest::from_hex(&digest.to_string().to_uppercase()), Some(digest));
    }

    #[test]
    fn other_text_is_not_a_digest() {
        let digits = Digest::of(b"abc").to_string();
        let other = [String::new(), digits[1..].to_owned(), format!("{digits}0")];
        for text in other.into_iter().chain([format!("+{}", &digits[1..]), "é".repeat(32)]) {
            assert_eq!(Digest::from_hex(&text), None, "{text}");
        }
    }
}
