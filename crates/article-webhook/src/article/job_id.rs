use std::{fmt, str::FromStr, sync::Arc};

use serde::{Serialize, Serializer};

use crate::{causes::debug_as_text, json::FromJson};

/// The maximum length of a job id in bytes.
const LONGEST: usize = 255;

/// The identifier of a job, and so the idempotency key of its article (service document, section 2.1).
///
/// The document does not define its format, so every harmless text is accepted: 1 to 255 bytes of UTF-8,
/// without white space or control characters, and neither `.` nor `..`. It may still contain `/`, `%` or
/// quotes: escape it before it becomes part of a URL, a page or a terminal line, and never use it as a
/// file name.
///
/// ```
/// use article_webhook::JobId;
///
/// let id: JobId = "job_4f6a".parse()?;
/// assert_eq!(id.as_str(), "job_4f6a");
/// assert!("".parse::<JobId>().is_err());
/// assert!("..".parse::<JobId>().is_err());
/// # Ok::<(), article_webhook::InvalidJobId>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(Arc<str>);

impl JobId {
    /// The id as the service wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for JobId {
    type Err = InvalidJobId;

    fn from_str(id: &str) -> Result<Self, InvalidJobId> {
        let harmful = |c: char| c.is_whitespace() || c.is_control();
        if id.is_empty() || id.len() > LONGEST || id == "." || id == ".." || id.contains(harmful) {
            return Err(InvalidJobId);
        }
        Ok(Self(id.into()))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobId({:?})", self.0)
    }
}

impl FromJson for JobId {
    const EXPECTED: &'static str = "a job id";

    fn text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The text is not a job id.
///
/// ```
/// use article_webhook::JobId;
///
/// let error = "two words".parse::<JobId>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "not a job id: expected 1 to 255 bytes without white space or control characters, not `.` or `..`",
/// );
/// assert!("one-word".parse::<JobId>().is_ok());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a job id: expected 1 to 255 bytes without white space or control characters, not `.` or `..`"
)]
#[non_exhaustive] // only parsing makes one
pub struct InvalidJobId;

debug_as_text!(InvalidJobId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_at_the_limits_are_accepted() {
        for id in ["a", "...", "a/../b", "%2e", "żółć", &"x".repeat(255)] {
            assert_eq!(id.parse::<JobId>().unwrap().as_str(), id);
        }
    }

    #[test]
    fn an_id_is_shown_as_it_is_and_escaped_for_debugging() {
        let id: JobId = "a\"b".parse().unwrap();
        assert_eq!(id.to_string(), "a\"b");
        assert_eq!(format!("{id:?}"), r#"JobId("a\"b")"#);
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""a\"b""#);
    }

    #[test]
    fn harmful_ids_are_refused() {
        let long = "x".repeat(256);
        for id in ["", ".", "..", " a", "a b", "a\n", "a\0", "\u{7f}", "\u{85}", "\u{2003}", &long]
        {
            assert_eq!(id.parse::<JobId>(), Err(InvalidJobId), "{id:?}");
        }
    }
}
