use std::{borrow::Cow, fmt};

use super::{InvalidJobId, JobId, SocialPost, Status, status::ErrorCode};
use crate::json::{Field, FromJson, Kind, Repair, RepairAt};

/// A difference between a body and the service's document: an undocumented field, a documented field with another
/// kind of value, or a value that had to be repaired. A sign that the service has changed.
///
/// Of each object, the first 64 undocumented fields are named, if their names are at most 128 bytes long. If
/// there are more, one difference of the object says so. Of a body, the first 64 repairs are named.
///
/// ```
/// use article_webhook::{AuthToken, Difference, Kind, Receiver};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let body = br#"{"job_id": "job_1", "credits_used": "2", "article": {"subtitle": "New"}}"#;
///
/// let drift = receiver.open(&headers)?.read(body.to_vec())?.drift();
/// assert_eq!(drift[1].to_string(), "article.subtitle: unknown field, a string");
/// assert_eq!(drift[1].difference, Difference::UnknownField(Kind::String));
/// assert_eq!(drift[2].to_string(), "credits_used: expected a number, found a string");
/// assert_eq!(drift[2].path, "credits_used");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive] // only this crate finds drift
pub struct Drift {
    /// The field, as a dotted path into the JSON; empty for the body itself. The name comes from outside. `Display`
    /// escapes it; escape it in any other output.
    pub path: Cow<'static, str>,
    /// What is different there.
    pub difference: Difference,
}

/// What is different from the service's document, see [`Drift`].
///
/// ```
/// use article_webhook::{ArticleResult, Difference, Kind};
///
/// let body = br#"{"job_id": "job_1", "article": {"title": "Hello", "html": ""}, "tone": "warm"}"#;
/// let (result, drift) = ArticleResult::from_json_with_drift(body)?;
/// let missing = drift[0].difference; // the status
/// assert!(matches!(missing, Difference::Unexpected { expected: "`complete`", found: None, .. }));
/// assert_eq!(drift[1].difference, Difference::UnknownField(Kind::String));
///
/// let well_known = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "Hello", "html": ""}}"#;
/// assert_eq!(ArticleResult::from_json_with_drift(well_known)?.1, []);
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // later versions may distinguish more
pub enum Difference {
    /// The document does not name the field, which holds this kind of value.
    UnknownField(Kind),
    /// A documented field holds something else.
    #[non_exhaustive]
    Unexpected {
        /// What the document, or a limit of this crate, leads to expect.
        expected: &'static str,
        /// The kind of value in the body; `None` if the field is missing.
        found: Option<Kind>,
    },
    /// The body was no well-formed JSON there.
    Repaired(Repair),
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str("the body")?,
            path => path.escape_debug().fmt(f)?,
        }
        match self.difference {
            Difference::UnknownField(found) => write!(f, ": unknown field, {found}"),
            Difference::Unexpected { expected, found: Some(found) } => {
                write!(f, ": expected {expected}, found {found}")
            }
            Difference::Unexpected { expected, found: None } => {
                write!(f, ": expected {expected}, found nothing")
            }
            Difference::Repaired(repair) => write!(f, ": repaired, {repair}"),
        }
    }
}

impl Drift {
    pub(super) fn unexpected(
        path: impl Into<Cow<'static, str>>,
        expected: &'static str,
        found: Option<Kind>,
    ) -> Self {
        Self { path: path.into(), difference: Difference::Unexpected { expected, found } }
    }

    pub(super) fn unknown_field(path: impl Into<Cow<'static, str>>, found: Kind) -> Self {
        Self { path: path.into(), difference: Difference::UnknownField(found) }
    }
}

impl From<&RepairAt> for Drift {
    fn from(RepairAt { path, repair }: &RepairAt) -> Self {
        match *repair {
            Some(repair) => {
                Self { path: path.clone().into(), difference: Difference::Repaired(repair) }
            }
            None => Self::unexpected("", "at most 64 values to repair", Some(Kind::Object)),
        }
    }
}

/// A value that may contain differences from the service's document.
pub(crate) trait ReportDrift {
    /// Whether the document names the field.
    const IS_DOCUMENTED: bool = true;

    /// Adds the drift of this value, which stands at `path`.
    fn report_drift(&self, _path: &'static str, _drift: &mut Vec<Drift>) {}

    /// The same, where there is no value.
    fn report_absence(_path: &'static str, _drift: &mut Vec<Drift>) {}
}

impl ReportDrift for f64 {}
impl ReportDrift for u64 {}
impl ReportDrift for String {}
impl ReportDrift for Vec<SocialPost> {}

impl ReportDrift for Result<JobId, InvalidJobId> {
    fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        if self.is_err() {
            drift.push(Drift::unexpected(path, Self::EXPECTED, Some(Kind::String)));
        }
    }
}

impl ReportDrift for Status {
    fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        if *self != Self::Complete {
            drift.push(Drift::unexpected(path, Self::EXPECTED, Some(Kind::String)));
        }
    }

    fn report_absence(path: &'static str, drift: &mut Vec<Drift>) {
        drift.push(Drift::unexpected(path, Self::EXPECTED, None));
    }
}

/// The document has errors instead of results, and none inside a result.
impl ReportDrift for ErrorCode {
    const IS_DOCUMENTED: bool = false;

    fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        drift.push(Drift::unknown_field(path, Kind::String));
    }
}

impl<T: FromJson + ReportDrift> Field<T> {
    pub(super) fn report_drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        match self {
            Self::Value(value) => value.report_drift(path, drift),
            Self::Absent => T::report_absence(path, drift),
            Self::OtherKind(found) if T::IS_DOCUMENTED => {
                drift.push(Drift::unexpected(path, T::EXPECTED, Some(*found)));
            }
            Self::OtherKind(found) => drift.push(Drift::unknown_field(path, *found)),
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
        let named = self.named.iter();
        drift.extend(
            named.map(|(key, found)| Drift::unknown_field(format!("{prefix}{key}"), *found)),
        );
        if self.are_more {
            let expected = "at most 64 unknown fields with names of at most 128 bytes";
            let path = prefix.trim_end_matches('.');
            drift.push(Drift::unexpected(path, expected, Some(Kind::Object)));
        }
    }
}
