use std::{borrow::Cow, fmt};

use crate::causes::debug_as_text;

/// Why a body is not one well-formed JSON object, and where.
///
/// The path names members as the sender wrote them. `Display` escapes it; escape it in any other output. No value of
/// the body is named.
///
/// ```
/// use article_webhook::{AuthToken, Receiver, Rejection};
///
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
///
/// let body = r#"{"job_id": "job_1", "article": {"title": "A", "title": "B"}}"#;
/// let refused = receiver.open(&headers)?.read(body).unwrap_err();
/// let Rejection::MalformedJson(malformed) = refused.rejection() else { panic!("{refused}") };
/// assert_eq!(malformed.path(), "article.title");
/// assert_eq!(malformed.to_string(), "a key twice at article.title, line 1 column 59");
///
/// assert!(receiver.open(&headers)?.read(r#"{"job_id": "job_1", "title": "A"}"#).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedJson(Box<Malformed>); // a box, so that a refusal stays small

debug_as_text!(MalformedJson);

#[derive(Clone, PartialEq, Eq)]
struct Malformed {
    reason: Cow<'static, str>,
    path: String,
    line: usize,
    column: usize,
}

impl MalformedJson {
    /// `before`: the body up to the place.
    pub(super) fn new(reason: Cow<'static, str>, path: String, before: &[u8]) -> Self {
        let newlines = || before.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
        let line_start = newlines().next_back().map_or(0, |(at, _)| at + 1);
        let (line, column) = (newlines().count() + 1, before.len() - line_start);
        Self(Box::new(Malformed { reason, path, line, column }))
    }

    /// The value at which reading stopped, as a dotted path into the JSON of at most 128 bytes, such as
    /// `social_posts.x[3].text`; empty for the body itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// The column in bytes, from 1; 0 at the start of a line.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.column
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, path, line, column } = self;
        match &**path {
            "" => write!(f, "{reason} at line {line} column {column}"),
            path => write!(f, "{reason} at {}, line {line} column {column}", path.escape_debug()),
        }
    }
}
