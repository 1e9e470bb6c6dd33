use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::DecodeError;
use crate::json::{self, Field, FromJson};

/// The state of a job (service document, section 3). Only `complete` is documented; any other is kept by its name.
///
/// As JSON it is its name.
///
/// ```
/// use article_webhook::Status;
///
/// assert_eq!(Status::from("complete"), Status::Complete);
/// assert_eq!(Status::from("queued").as_str(), "queued");
/// assert_ne!(Status::from("Complete"), Status::Complete);
///
/// assert!(Status::from("Complete").is_complete() && Status::from("cancelled").is_failed());
/// assert!(!Status::from("queued").is_complete() && !Status::from("queued").is_failed());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive] // the document does not name the other states
pub enum Status {
    /// The job is done and its result is available.
    Complete,
    /// A state that this version does not know.
    Other(Box<str>),
}

impl Status {
    /// The name as the service writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::Other(name) => name,
        }
    }

    /// Whether it is `complete` or a word that senders use for it, in any letter case: `completed`, `success`,
    /// `succeeded`, `done`.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        COMPLETE.iter().any(|word| word.eq_ignore_ascii_case(self.as_str()))
    }

    /// Whether it is a word that senders use for a failed job, in any letter case: `failed`, `error`, `cancelled`,
    /// `canceled`.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        failed_state(self.as_str()).is_some()
    }
}

/// Without the name of an unknown state, which is any text of a body.
impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "Complete",
            Self::Other(_) => "Other(..)",
        })
    }
}

impl From<&str> for Status {
    fn from(name: &str) -> Self {
        match name {
            "complete" => Self::Complete,
            other => Self::Other(other.into()),
        }
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::deserialize(deserializer)
    }
}

impl FromJson for Status {
    const EXPECTED: &'static str = "`complete`";

    fn text(text: &str) -> Option<Self> {
        Some(text.into())
    }
}

/// The documented state of a finished job, and its synonyms in the field, in lower case.
const COMPLETE: [&str; 5] = ["complete", "completed", "success", "succeeded", "done"];

/// The states of a failed job, in lower case. The document names none; these are the words that senders use.
const STATES: [&str; 4] = ["failed", "error", "cancelled", "canceled"];

/// The error codes of the service (service document, section 7).
const CODES: [&str; 9] = [
    "invalid_api_key",
    "credits_exhausted",
    "not_configured",
    "rate_limit_exceeded",
    "job_not_found",
    "generation_failed",
    "ga4_not_connected",
    "invalid_request",
    "plan_required",
];

/// The state of a failed job that this status names, in any letter case.
fn failed_state(status: &str) -> Option<&'static str> {
    STATES.into_iter().find(|state| state.eq_ignore_ascii_case(status))
}

/// The failure of the job that a body with these fields reports.
pub(super) fn reported_failure(
    error: &Field<ErrorCode>,
    status: &Field<Status>,
) -> Option<DecodeError> {
    if let Field::Value(ErrorCode(code)) = error {
        return Some(DecodeError::reported("error", code));
    }
    let Field::Value(status) = status else { return None };
    failed_state(status.as_str()).map(|state| DecodeError::reported("status", state))
}

/// A documented error code, in the field `error` of a body.
pub(crate) struct ErrorCode(pub(super) &'static str);

impl FromJson for ErrorCode {
    const EXPECTED: &'static str = "an error code";

    fn text(text: &str) -> Option<Self> {
        CODES.into_iter().find(|&code| code == text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synonym_counts_in_any_letter_case_and_no_other_word_does() {
        for (names, expected) in [
            (&["complete", "Completed", "SUCCESS", "succeeded", "done"][..], (true, false)),
            (&["failed", "Error", "cancelled", "CANCELED"], (false, true)),
            (&["", "complete ", "uncompleted", "fail", "failed_over", "queued"], (false, false)),
        ] {
            for &name in names {
                let status = Status::from(name);
                assert_eq!((status.is_complete(), status.is_failed()), expected, "{name}");
            }
        }
    }

    #[test]
    fn a_status_keeps_its_name() {
        let queued = Status::from("queued");
        assert_eq!((queued.as_str(), Status::from("complete").as_str()), ("queued", "complete"));
        assert_eq!(serde_json::to_string(&queued).unwrap(), r#""queued""#);
        assert_eq!(serde_json::from_str::<Status>(r#""queued""#).unwrap(), queued);
        assert_eq!(serde_json::from_str::<Status>(r#""complete""#).unwrap(), Status::Complete);
    }
}
