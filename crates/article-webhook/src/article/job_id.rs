use std::{
    fmt,
    str::{self, FromStr},
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{
    causes::debug_as_text,
    json::{self, FromJson, Kind},
};

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

    pub(crate) fn from_header(value: &[u8]) -> Result<Self, InvalidJobId> {
        str::from_utf8(value).map_err(|_| InvalidJobId::ForbiddenCharacter)?.parse()
    }
}

impl FromStr for JobId {
    type Err = InvalidJobId;

    fn from_str(id: &str) -> Result<Self, InvalidJobId> {
        match id {
            "" => Err(InvalidJobId::Empty),
            "." | ".." => Err(InvalidJobId::Dots),
            _ if id.len() > LONGEST => Err(InvalidJobId::TooLong),
            _ if id.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                Err(InvalidJobId::ForbiddenCharacter)
            }
            _ => Ok(Self(id.into())),
        }
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

impl FromJson for Result<JobId, InvalidJobId> {
    const EXPECTED: &'static str = "a job id";

    fn text(text: &str) -> Option<Self> {
        Some(text.parse())
    }
}

impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// As [`FromStr`]: a text that is no job id is an error.
impl<'de> Deserialize<'de> for JobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::deserialize::<Result<Self, InvalidJobId>, D>(deserializer)?.map_err(D::Error::custom)
    }
}

/// Why a text, or what stands in the place of one, is not a job id.
///
/// ```
/// use article_webhook::{InvalidJobId, JobId};
///
/// let error = "two words".parse::<JobId>().unwrap_err();
/// assert_eq!(error, InvalidJobId::ForbiddenCharacter);
/// assert_eq!(error.to_string(), "a job id is UTF-8 without white space and control characters");
/// assert!("one-word".parse::<JobId>().is_ok());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // more ids may turn out to be harmful
pub enum InvalidJobId {
    /// It is the empty text.
    #[error("a job id has at least one byte")]
    Empty,
    /// It has more than 255 bytes.
    #[error("a job id has at most {LONGEST} bytes")]
    TooLong,
    /// It is `.` or `..`.
    #[error("a job id is neither `.` nor `..`")]
    Dots,
    /// It holds white space or a control character, or is not UTF-8.
    #[error("a job id is UTF-8 without white space and control characters")]
    ForbiddenCharacter,
    /// The JSON holds a value of another kind.
    #[error("a job id is a string and not {0}")]
    OtherKind(Kind),
}

debug_as_text!(InvalidJobId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_shown_as_it_is_and_escaped_for_debugging() {
        let id: JobId = "a\"b".parse().unwrap();
        assert_eq!(id.to_string(), "a\"b");
        assert_eq!(format!("{id:?}"), r#"JobId("a\"b")"#);
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""a\"b""#);
    }

    #[test]
    fn an_id_is_read_again_and_a_harmful_one_is_not() {
        let id: JobId = serde_json::from_str(r#""a\"b""#).unwrap();
        assert_eq!(id.as_str(), "a\"b");
        for (json, message) in [
            (r#""..""#, "a job id is neither `.` nor `..`"),
            ("7", "expected a job id, found a number"),
        ] {
            let error = serde_json::from_str::<JobId>(json).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
