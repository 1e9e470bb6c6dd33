use std::fmt;

use serde::Serialize;

use super::UntrustedHtml;
use crate::json::serialize_number;

/// An article (service document, section 2.1).
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let body = br#"{"job_id": "job_1", "status": "complete",
///                 "article": {"title": "Hello", "html": "<article>Hi</article>", "word_count": 1}}"#;
/// let article = ArticleResult::from_json(body)?.article;
/// assert_eq!(article.html.as_untrusted_str(), "<article>Hi</article>");
/// assert_eq!(article.word_count, Some(1));
/// assert_eq!(article.meta_title, None);
///
/// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "Hello"}}"#;
/// assert_eq!(ArticleResult::from_json(body).unwrap_err().path(), "article.html");
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive] // the service may document more fields
pub struct Article {
    /// The title, as plain text: escape it before it becomes part of a page.
    pub title: String,
    /// The body as HTML, wrapped in an `article` element. It comes from outside: sanitise it.
    pub html: UntrustedHtml,
    /// The title for search metadata, as plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_title: Option<String>,
    /// The description for search metadata, as plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_description: Option<String>,
    /// The quality score; an integer according to the document. Written as an integer where it is one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "serialize_number")]
    pub eeat_score: Option<f64>,
    /// The words in the article. `44.0` is 44; a fraction or a negative number is missing, with
    /// [drift](crate::Drift).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_count: Option<u64>,
}

impl Article {
    /// An article with the required fields. The others can be set.
    #[must_use]
    pub fn new(title: impl Into<String>, html: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            html: UntrustedHtml::new(html.into()),
            meta_title: None,
            meta_description: None,
            eeat_score: None,
            word_count: None,
        }
    }
}

impl fmt::Debug for Article {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Article")
            .field("title", &Size(&self.title))
            .field("html", &self.html)
            .field("meta_title", &self.meta_title.as_deref().map(Size))
            .field("meta_description", &self.meta_description.as_deref().map(Size))
            .field("eeat_score", &self.eeat_score)
            .field("word_count", &self.word_count)
            .finish()
    }
}

/// A text in `Debug` output. Shows the size only, so that no content reaches a log.
pub(super) struct Size<'a>(pub(super) &'a str);

impl fmt::Debug for Size<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}
