use std::fmt;

use crate::{
    causes::debug_as_text,
    json::{Kind, MalformedJson},
};

/// The body is not an article result. Names the field and the kinds of values, never a value.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let error = ArticleResult::from_json(b"{\"job_id\": ").unwrap_err();
/// assert_eq!(error.to_string(), "malformed JSON: EOF while parsing a value at job_id, line 1 column 11");
/// assert_eq!(error.path(), "job_id");
///
/// let error = ArticleResult::from_json(br#"{"job_id": 7}"#).unwrap_err();
/// assert_eq!(error.to_string(), "job_id: expected a job id, found a number");
/// assert_eq!(error.path(), "job_id");
///
/// let error = ArticleResult::from_json(br#"{"job_id": "job_1", "status": "failed"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "status: the service reports a failure, `failed`");
/// assert_eq!(error.path(), "status");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Cause);

debug_as_text!(DecodeError);

#[derive(Clone, PartialEq, Eq)]
enum Cause {
    Malformed(MalformedJson),
    Mismatch {
        path: &'static str,
        expected: &'static str,
        found: Option<Kind>,
    },
    /// A known word at `path` says that the job failed.
    Failure {
        path: &'static str,
        word: &'static str,
    },
}

impl DecodeError {
    pub(super) fn of_malformed(malformed: MalformedJson) -> Self {
        Self(Cause::Malformed(malformed))
    }

    pub(super) fn mismatch(
        path: &'static str,
        expected: &'static str,
        found: Option<Kind>,
    ) -> Self {
        Self(Cause::Mismatch { path, expected, found })
    }

    pub(super) fn reported(path: &'static str, word: &'static str) -> Self {
        Self(Cause::Failure { path, word })
    }

    /// The known word by which the service reports that the job failed: a status such as `failed`, in lower case, or an error
    /// code of the document. `None` if the body is no article for another reason.
    ///
    /// ```
    /// use article_webhook::ArticleResult;
    ///
    /// let failed = ArticleResult::from_json(br#"{"job_id": "job_1", "status": "Failed"}"#).unwrap_err();
    /// assert_eq!(failed.failure(), Some("failed"));
    /// assert_eq!(ArticleResult::from_json(br#"{"job_id": "job_1"}"#).unwrap_err().failure(), None);
    /// ```
    #[must_use]
    pub fn failure(&self) -> Option<&'static str> {
        match &self.0 {
            Cause::Failure { word, .. } => Some(word),
            Cause::Malformed(_) | Cause::Mismatch { .. } => None,
        }
    }

    /// Why the body is not one well-formed JSON object, and where. `None` if it is one.
    #[must_use]
    pub fn malformed(&self) -> Option<&MalformedJson> {
        match &self.0 {
            Cause::Malformed(malformed) => Some(malformed),
            Cause::Mismatch { .. } | Cause::Failure { .. } => None,
        }
    }

    /// The field that is missing, is not of the documented kind, reports a failure or is malformed, as a dotted path
    /// into the JSON; empty for the body itself. The path of a malformed body names members as the sender wrote them:
    /// escape it.
    #[must_use]
    pub fn path(&self) -> &str {
        match &self.0 {
            Cause::Malformed(malformed) => malformed.path(),
            Cause::Mismatch { path, .. } | Cause::Failure { path, .. } => path,
        }
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Malformed(malformed) => write!(f, "malformed JSON: {malformed}"),
            Cause::Mismatch { path, expected, found: Some(kind) } => {
                write!(f, "{path}: expected {expected}, found {kind}")
            }
            Cause::Mismatch { path, expected, .. } => {
                write!(f, "{path}: expected {expected}, found nothing")
            }
            Cause::Failure { path, word } => {
                write!(f, "{path}: the service reports a failure, `{word}`")
            }
        }
    }
}
