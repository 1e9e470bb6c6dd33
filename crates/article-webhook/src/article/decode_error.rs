use std::fmt;

use crate::{
    causes::debug_as_text,
    json::{Kind, Malformed},
};

/// The body is not an article result. Names the field and the kinds of values, never a value.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let error = ArticleResult::from_json(b"{\"job_id\": ").unwrap_err();
/// assert_eq!(error.to_string(), "malformed JSON at line 1 column 11");
/// assert_eq!(error.path(), "");
///
/// let error = ArticleResult::from_json(br#"{"job_id": 7}"#).unwrap_err();
/// assert_eq!(error.to_string(), "job_id: expected a job id, found a number");
/// assert_eq!(error.path(), "job_id");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DecodeError(Cause);

debug_as_text!(DecodeError);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Malformed(Malformed),
    Mismatch { path: &'static str, expected: &'static str, found: Option<Kind> },
}

impl DecodeError {
    pub(super) fn malformed(malformed: Malformed) -> Self {
        Self(Cause::Malformed(malformed))
    }

    pub(super) fn mismatch(
        path: &'static str,
        expected: &'static str,
        found: Option<Kind>,
    ) -> Self {
        Self(Cause::Mismatch { path, expected, found })
    }

    /// The field that is missing or not of the documented kind, as a dotted path into the JSON. Empty
    /// if the body is not well-formed JSON.
    #[must_use]
    pub fn path(&self) -> &'static str {
        match self.0 {
            Cause::Malformed(_) => "",
            Cause::Mismatch { path, .. } => path,
        }
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Cause::Malformed(Malformed { line, column }) => {
                write!(f, "malformed JSON at line {line} column {column}")
            }
            Cause::Mismatch { path, expected, found: Some(kind) } => {
                write!(f, "{path}: expected {expected}, found {kind}")
            }
            Cause::Mismatch { path, expected, .. } => {
                write!(f, "{path}: expected {expected}, found nothing")
            }
        }
    }
}
