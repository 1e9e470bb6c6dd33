use std::fmt;

use serde::Serialize;

/// HTML that came from outside: an article's body as the service wrote it.
///
/// Putting it into a page as it is would run whatever script it holds, so it has no `Display` and
/// cannot be formatted by accident. Ask for it by its name, or, with the feature `sanitize`, for
/// `sanitized` HTML.
///
/// ```compile_fail
/// # fn page(html: article_webhook::UntrustedHtml) -> String {
/// format!("<main>{html}</main>") // does not compile
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UntrustedHtml(String);

impl UntrustedHtml {
    /// Marks a text as HTML from outside.
    ///
    /// ```
    /// use article_webhook::UntrustedHtml;
    ///
    /// let html = UntrustedHtml::new("<p>Hello</p>".to_owned());
    /// assert_eq!(html.as_untrusted_str(), "<p>Hello</p>");
    /// assert_eq!(format!("{html:?}"), "UntrustedHtml(12 bytes)");
    /// ```
    #[must_use]
    pub fn new(html: String) -> Self {
        Self(html)
    }

    /// Its length in bytes.
    ///
    /// ```
    /// # use article_webhook::UntrustedHtml;
    /// assert_eq!(UntrustedHtml::new("<p>é</p>".to_owned()).len(), 9);
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing in it.
    ///
    /// ```
    /// # use article_webhook::UntrustedHtml;
    /// assert!(UntrustedHtml::new(String::new()).is_empty());
    /// assert!(!UntrustedHtml::new("<p></p>".to_owned()).is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The HTML exactly as it came. Sanitise it before a browser sees it.
    ///
    /// ```
    /// # use article_webhook::UntrustedHtml;
    /// let html = UntrustedHtml::new("<script>alert(1)</script>".to_owned());
    /// assert_eq!(html.as_untrusted_str(), "<script>alert(1)</script>");
    /// ```
    #[must_use]
    pub fn as_untrusted_str(&self) -> &str {
        &self.0
    }

    /// The HTML exactly as it came, without a copy. Sanitise it before a browser sees it.
    ///
    /// ```
    /// # use article_webhook::UntrustedHtml;
    /// let html = UntrustedHtml::new("<b>bold</b>".to_owned());
    /// assert_eq!(html.into_untrusted_string(), "<b>bold</b>");
    /// ```
    #[must_use]
    pub fn into_untrusted_string(self) -> String {
        self.0
    }

    /// The HTML with everything removed that could do harm: scripts, event handlers, styles,
    /// frames, and URLs that are not plain links (ammonia's default set). Safe to put into a page.
    ///
    /// Deeply nested HTML takes long, with the square of its depth: call it where a thread may block.
    ///
    /// ```
    /// # use article_webhook::UntrustedHtml;
    /// let html = UntrustedHtml::new("<p onclick=x()>Hi<script>alert(1)</script></p>".to_owned());
    /// assert_eq!(html.sanitized(), "<p>Hi</p>");
    /// ```
    #[cfg(feature = "sanitize")]
    #[must_use]
    pub fn sanitized(&self) -> String {
        ammonia::clean(&self.0)
    }
}

impl fmt::Debug for UntrustedHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UntrustedHtml({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_shown_only_by_its_name() {
        let html = UntrustedHtml::new("<p>é</p>".to_owned());
        assert_eq!((html.len(), html.is_empty()), (9, false));
        assert_eq!(UntrustedHtml::new("<".to_owned()).len(), 1);
        assert!(UntrustedHtml::new(String::new()).is_empty());
        assert_eq!(format!("{html:?}"), "UntrustedHtml(9 bytes)");
        assert_eq!(html.as_untrusted_str(), "<p>é</p>");
        assert_eq!(html.into_untrusted_string(), "<p>é</p>");
    }

    #[cfg(feature = "sanitize")]
    #[test]
    fn what_could_do_harm_is_removed() {
        let html = "<a href=\"javascript:x()\" onclick=\"x()\">a</a><iframe></iframe><b>b</b>";
        let sanitized = UntrustedHtml::new(html.to_owned()).sanitized();
        assert_eq!(sanitized, "<a rel=\"noopener noreferrer\">a</a><b>b</b>");
    }
}
