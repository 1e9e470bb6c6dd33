use std::fmt;

use serde::Serialize;
use serde_json::Number;

use crate::{DecodeError, JobId, SocialPosts, UntrustedHtml, decode};

/// The result of a finished job: what the service delivers, and what its job status endpoint
/// answers (document, section 2.1).
///
/// `job_id`, `status`, `article.title` and `article.html` must be there; the document does not say
/// which of the other fields always are, so each of them may be missing or `null`. Fields that this
/// version does not know are ignored; [`Delivery::drift`](crate::Delivery::drift) names them.
///
/// `Debug` shows identity and sizes, never content. Serialising gives back the service's shape.
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let result = ArticleResult::from_json(
///     br#"{"job_id": "job_1", "status": "complete", "credits_used": 2.0,
///          "article": {"title": "Hello", "html": "<article>Hi</article>"}}"#,
/// )?;
/// assert_eq!(result.article.title, "Hello");
/// assert_eq!(result.credits_used.unwrap().as_u64(), Some(2));
/// assert!(result.featured_image.is_none());
///
/// let error = ArticleResult::from_json(br#"{"job_id": "job_1", "status": "complete"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "article: expected an object, found nothing");
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive] // the service may document more fields
pub struct ArticleResult {
    /// The job, and the idempotency key of whatever is done with its article.
    pub job_id: JobId,
    /// The state of the job: always [`Status::Complete`] in a decoded result.
    pub status: Status,
    /// The article itself.
    pub article: Article,
    /// The picture to show with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub featured_image: Option<FeaturedImage>,
    /// Posts that announce it; empty where the service sent none.
    pub social_posts: SocialPosts,
    /// Credits consumed by the job. An integer by the document; a fraction or a negative number is kept as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_used: Option<Number>,
}

impl ArticleResult {
    /// Decodes a body that was stored as it came, or the answer of the job status endpoint.
    ///
    /// # Errors
    ///
    /// A [`DecodeError`] that names the first field which is missing or of another kind than
    /// documented, or says where the body stops being well-formed JSON.
    ///
    /// ```
    /// use article_webhook::ArticleResult;
    ///
    /// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": 7, "html": ""}}"#;
    /// let error = ArticleResult::from_json(body).unwrap_err();
    /// assert_eq!(error.to_string(), "article.title: expected a string, found a number");
    /// assert_eq!(error.path(), "article.title");
    ///
    /// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "7", "html": ""}}"#;
    /// assert!(ArticleResult::from_json(body).is_ok());
    /// ```
    pub fn from_json(body: &[u8]) -> Result<Self, DecodeError> {
        decode::decode(body)
    }
}

impl fmt::Debug for ArticleResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArticleResult")
            .field("job_id", &self.job_id)
            .field("status", &self.status)
            .field("article", &self.article)
            .field("featured_image", &self.featured_image)
            .field("social_posts", &self.social_posts)
            .field("credits_used", &self.credits_used)
            .finish()
    }
}

/// The state of a job (document, section 3). Only `complete` is documented; any other is kept by its name.
///
/// ```
/// use article_webhook::Status;
///
/// assert_eq!(Status::from("complete"), Status::Complete);
/// assert_eq!(Status::from("queued").as_str(), "queued");
/// assert_ne!(Status::from("Complete"), Status::Complete);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive] // the document does not name the other states
pub enum Status {
    /// The job is done and its result is there.
    Complete,
    /// A state that this version does not know.
    Other(Box<str>),
}

impl Status {
    /// The name as the service writes it.
    ///
    /// ```
    /// assert_eq!(article_webhook::Status::Complete.as_str(), "complete");
    /// ```
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::Other(name) => name,
        }
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
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// An article (document, section 2.1).
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let body = br#"{"job_id": "job_1", "status": "complete",
///                 "article": {"title": "Hello", "html": "<article>Hi</article>", "word_count": 1}}"#;
/// let article = ArticleResult::from_json(body)?.article;
/// assert_eq!(article.html.as_untrusted_str(), "<article>Hi</article>");
/// assert_eq!(article.word_count.unwrap().as_u64(), Some(1));
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
    /// The quality score; an integer by the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eeat_score: Option<Number>,
    /// The words in the article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_count: Option<Number>,
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

/// A picture (document, section 2.1).
///
/// ```
/// use article_webhook::ArticleResult;
///
/// let body = br#"{"job_id": "job_1", "status": "complete", "article": {"title": "", "html": ""},
///                 "featured_image": {"url": "javascript:alert(1)"}}"#;
/// let image = ArticleResult::from_json(body)?.featured_image.unwrap();
/// assert_eq!(image.url.as_deref(), Some("javascript:alert(1)"));
/// assert_eq!(image.http_url(), None);
/// # Ok::<(), article_webhook::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // the service may document more fields
pub struct FeaturedImage {
    /// The URL as it came, of whatever scheme. Prefer [`http_url`](Self::http_url).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The alternative text, as plain text: escape it before it becomes part of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<String>,
}

impl FeaturedImage {
    /// The URL, if it is an absolute `http` or `https` one with a host. Escape it like any text
    /// before it becomes part of a page.
    ///
    /// ```
    /// use article_webhook::ArticleResult;
    ///
    /// let url = |url: &str| {
    ///     let body = format!(
    ///         r#"{{"job_id": "job_1", "status": "complete", "article": {{"title": "", "html": ""}},
    ///             "featured_image": {{"url": "{url}"}}}}"#
    ///     );
    ///     let result = ArticleResult::from_json(body.as_bytes()).unwrap();
    ///     result.featured_image.unwrap().http_url().map(str::to_owned)
    /// };
    /// assert_eq!(url("https://cdn.example/a.png").as_deref(), Some("https://cdn.example/a.png"));
    /// assert_eq!(url("data:text/html,x"), None);
    /// assert_eq!(url("//cdn.example/a.png"), None);
    /// ```
    #[must_use]
    pub fn http_url(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        let uri: http::Uri = url.parse().ok()?;
        let http = matches!(uri.scheme_str(), Some("http" | "https"));
        (http && uri.host().is_some_and(|host| !host.is_empty())).then_some(url)
    }
}

impl fmt::Debug for FeaturedImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeaturedImage")
            .field("url", &self.url.as_deref().map(Size))
            .field("alt_text", &self.alt_text.as_deref().map(Size))
            .finish()
    }
}

/// A text in `Debug` output: content stays out of logs, its size helps.
struct Size<'a>(&'a str);

impl fmt::Debug for Size<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absolute_http_url_with_a_host_is_one() {
        let is_url = |url: &str| {
            let image = FeaturedImage { url: Some(url.to_owned()), alt_text: None };
            image.http_url() == Some(url)
        };
        for url in
            ["https://cdn.example/a.png", "http://cdn.example", "HTTPS://cdn.example:8080/?a"]
        {
            assert!(is_url(url), "{url}");
        }
        for url in [
            "",
            "/a.png",
            "//cdn.example/a.png",
            "cdn.example",
            "ftp://cdn.example/a.png",
            "javascript:alert(1)",
            "data:text/html,x",
            "https:///a.png",
            "https://cdn example/",
        ] {
            assert!(!is_url(url), "{url}");
        }
        assert_eq!(FeaturedImage { url: None, alt_text: None }.http_url(), None);
    }

    #[test]
    fn a_status_keeps_its_name() {
        let queued = Status::from("queued");
        assert_eq!((queued.as_str(), Status::from("complete").as_str()), ("queued", "complete"));
        assert_eq!(serde_json::to_string(&queued).unwrap(), r#""queued""#);
    }
}
