use std::{borrow::Cow, fmt};

use serde_json::Number;

use super::{JobId, SocialPost, Status};
use crate::json::{Found, FromJson, Kind};

/// A difference between a body and the service's document: an undocumented field, or a documented
/// field with another kind of value. A sign that the service has changed.
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
    /// The field, as a dotted path into the JSON. The name comes from outside. `Display` escapes it;
    /// escape it in any other output.
    pub path: Cow<'static, str>,
    /// The documented kind of value; `None` for an undocumented field.
    pub expected: Option<&'static str>,
    /// The kind of value in the body.
    pub found: Kind,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, found) = (self.path.escape_debug(), self.found);
        match self.expected {
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

impl<T: FromJson + ReportDrift> Found<T> {
    pub(super) fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        match self {
            Self::Value(value) => value.report_drift(drift),
            Self::Absent | Self::OtherKind(Kind::Null) => {}
            Self::OtherKind(found) => {
                drift.push(Drift { path: path.into(), expected: Some(T::EXPECTED), found: *found });
            }
        }
    }
}

/// The undocumented fields of one object.
#[derive(Default)]
pub(super) struct UnknownFields(Vec<(Box<str>, Kind)>);

impl UnknownFields {
    pub(super) fn push(&mut self, key: &str, kind: Kind) {
        self.0.push((key.into(), kind));
    }

    pub(super) fn report_drift(&self, prefix: &str, drift: &mut Vec<Drift>) {
        drift.extend(self.0.iter().map(|(key, found)| Drift {
            path: format!("{prefix}{key}").into(),
            expected: None,
            found: *found,
        }));
    }
}
