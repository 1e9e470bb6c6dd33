use std::{borrow::Cow, fmt};

use crate::{
    Kind,
    decode::ResultDraft,
    json::{self, Fields, Shape, Slot},
};

/// Something in a body that this version does not know: a field that the document does not name,
/// or a documented field with another kind of value.
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
    /// Where it stands, as a path with dots into the JSON. The field's name comes from outside:
    /// `Display` escapes it, other uses must.
    pub path: Cow<'static, str>,
    /// What the document says should stand there; `None` where it does not know the field.
    pub expected: Option<&'static str>,
    /// The kind of value that stands there.
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

/// Fields that a draft met and did not know.
#[derive(Default)]
pub(crate) struct Unknown(Vec<(Box<str>, Kind)>);

impl Unknown {
    pub(crate) fn push(&mut self, key: &str, kind: Kind) {
        self.0.push((key.into(), kind));
    }

    pub(crate) fn drift(&self, prefix: &str, drift: &mut Vec<Drift>) {
        drift.extend(self.0.iter().map(|(key, found)| Drift {
            path: format!("{prefix}{key}").into(),
            expected: None,
            found: *found,
        }));
    }
}

impl<T: Shape> Slot<T> {
    pub(crate) fn drift(&self, path: &'static str, drift: &mut Vec<Drift>) {
        match self {
            Self::Is(value) => value.drift(drift),
            Self::Absent | Self::Other(Kind::Null) => {}
            Self::Other(found) => {
                drift.push(Drift { path: path.into(), expected: Some(T::EXPECTED), found: *found });
            }
        }
    }
}

/// A body that is not well-formed has no drift: it was refused before anyone asks.
pub(crate) fn drift(body: &[u8]) -> Vec<Drift> {
    let mut drift = Vec::new();
    if let Ok(draft) = json::parse::<ResultDraft>(body) {
        Fields::drift(&draft, &mut drift);
    }
    drift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_told_in_words_with_its_names_escaped() {
        let body = br#"{"job_id": "1", "credits_used": "2", "status": null, "a\u0000b": [],
                        "article": {"title": {}, "new": true}}"#;
        let drift: Vec<_> = drift(body).iter().map(ToString::to_string).collect();
        assert_eq!(
            drift,
            [
                "article.title: expected a string, found an object",
                "article.new: unknown field, a boolean",
                "credits_used: expected a number, found a string",
                "a\\0b: unknown field, an array",
            ]
        );
        assert_eq!(super::drift(b"{"), []);
    }
}
