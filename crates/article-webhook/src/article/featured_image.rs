use std::fmt;

use serde::Serialize;

use super::article::Size;

/// A picture (service document, section 2.1).
///
/// A text in its place is its URL, and an array of one is what it holds; both are [drift](crate::Drift).
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
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive] // the service may document more fields
pub struct FeaturedImage {
    /// The URL as received, with any scheme. Prefer [`http_url`](Self::http_url).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The alternative text, as plain text: escape it before it becomes part of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<String>,
}

impl FeaturedImage {
    /// An image without alternative text.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), alt_text: None }
    }

    /// The URL, if it is an absolute `http` or `https` URL with a host. Escape it like any text before
    /// it becomes part of a page.
    ///
    /// The host may be any: also `localhost`, an address of your own network, or the metadata service of a
    /// cloud. A server that fetches this URL lets its author send requests from inside (server-side request
    /// forgery). Fetch it as the guide's page [`production`](crate::guide::production) says, and soon: the URL may expire.
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
}
