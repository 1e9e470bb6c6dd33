use std::{borrow::Cow, fmt};

use serde_json::Number;

use super::{JobId, SocialPost, Status};
use crate::json::{Field, FromJson, Kind};

/// A difference between a body and the service's document: an undocumented field, or a documented
/// field with another kind of value. A sign that the service has changed.
///
/// Of each object, the first 64 undocumented fields are named, if their names are at most 128 bytes long. If
/// there are more, one difference of the object says so.
///
/// ```
/// use article_webhook::{AuthToken, Kind, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let body = br#"{"job_id": "job_1", "credits_used": "2", "article": {"subtitle": "New"}}"#;
///
/// let drift = receiver.open(&headers)?.read(body.to_vec())?.drift();
/// assert_eq!(drift[0].to_string(), "article.subtitle: unknown field, a string");
/// assert_eq!(drift[1].to_string(), "credits_used: expected a number, found a string");
/// assert_eq!(drift[1].found, Kind::String);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // only this crate finds drift
pub struct Drift {
    /// The field, as a dotted path into the JSON; empty for the body itself. The name comes from outside. `Display`
    /// escapes it; escape it in any other output.
    pub path: Cow<'static, str>,
    /// What the document, or a limit of this crate, leads to expect; `None` for an undocumented field.
    pub expected: Option<&'static str>,
    /// The kind of value in the body.
    pub found: Kind,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, found) = (self.path.escape_debug(), self.found);
        match self.expected {
            Some(expected) if self.path.is_empty() => {
                write!(f, "the body: expected {expected}, found {found}")
            }
            Some(expected) => write!(f, "{path}: expected {expected}, found {found}"),
            None => write!(f, "{path}: unknown field, {found}"),
        }
    }
}

/// A value that may contain fields that are not in the service's document.
pub(crate) trait ReportDrift {
    /// Adds the drift inside this value. A value without fields has none.
    fn report_drift(&self, _: &mut Vec<Drift>) {}
}

impl ReportDrift for JobId {}
impl ReportDrift for Number {}
impl ReportDrift for Status {}
impl ReportDrift for String {}
impl ReportDrift for Vec<SocialPost> {}

impl<T: FromJson + ReportDrift> Field<T> {
    pub(super) fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        match self {
            Self::Value(value) => value.report_drift(drift),
            Self::Absent => {}
            Self::OtherKind(found) => {
                drift.push(Drift { path: path.into(), expected: Some(T::EXPECTED), found: *found });
            }
        }
    }
}

/// How many undocumented fields of one object are named.
const MAX_NAMED: usize = 64;

/// How long the name of a field may be, in bytes.
const LONGEST_NAME: usize = 128;

/// The undocumented fields of one object. Names are bounded in number and length, so that a body does not take
/// many times its own memory.
#[derive(Default)]
pub(super) struct UnknownFields {
    named: Vec<(Box<str>, Kind)>,
    are_more: bool,
}

impl UnknownFields {
    pub(super) fn push(&mut self, key: &str, kind: Kind) {
        if self.named.len() < MAX_NAMED && key.len() <= LONGEST_NAME {
            self.named.push((key.into(), kind));
        } else {
            self.are_more = true;
        }
    }

    pub(super) fn report_drift(&self, prefix: &'static str, drift: &mut Vec<Drift>) {
        drift.extend(self.named.iter().map(|(key, found)| Drift {
            path: format!("{prefix}{key}").into(),
            expected: None,
            found: *found,
        }));
        if self.are_more {
            let expected = "at most 64 unknown fields with names of at most 128 bytes";
            let path = prefix.trim_end_matches('.').into();
            drift.push(Drift { path, expected: Some(expected), found: Kind::Object });
        }
    }
}
