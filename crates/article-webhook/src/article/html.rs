use std::fmt;

use serde::{Deserialize, Serialize};

/// HTML from outside: the body of an article as the service wrote it.
///
/// A page that contains it unchanged would run its scripts. So it has no `Display` and cannot be formatted
/// by accident. Use `sanitized` or `sanitized_by` (feature `sanitize`), or [`as_untrusted_str`](Self::as_untrusted_str) for
/// the original.
///
/// ```
/// use article_webhook::UntrustedHtml;
///
/// let html = UntrustedHtml::new("<p onclick='x()'>Hello</p>".to_owned());
/// assert_eq!(html.as_untrusted_str(), "<p onclick='x()'>Hello</p>");
/// assert_eq!(format!("{html:?}"), "UntrustedHtml(26 bytes)");
/// ```
///
/// ```compile_fail
/// use article_webhook::UntrustedHtml;
///
/// fn page(html: UntrustedHtml) -> String {
///     format!("<main>{html}</main>") // does not compile
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UntrustedHtml(String);

impl UntrustedHtml {
    /// Marks a text as HTML from outside.
    #[must_use]
    pub fn new(html: String) -> Self {
        Self(html)
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The original HTML. Sanitise it before a browser sees it.
    #[must_use]
    pub fn as_untrusted_str(&self) -> &str {
        &self.0
    }

    /// The original HTML, without a copy. Sanitise it before a browser sees it.
    #[must_use]
    pub fn into_untrusted_string(self) -> String {
        self.0
    }

    /// The HTML without scripts, event handlers, styles, frames, and URLs that run something: what
    /// [`ArticleSanitizer`](crate::ArticleSanitizer) keeps by default. Safe to put into a page.
    ///
    /// # Errors
    ///
    /// It would take too long, or too much memory. Show it as escaped text, or a note in its place.
    #[cfg(feature = "sanitize")]
    pub fn sanitized(&self) -> Result<String, crate::TooComplex> {
        self.sanitized_by(&crate::ArticleSanitizer::new())
    }

    /// The same with settings of your own.
    ///
    /// # Errors
    ///
    /// The same.
    #[cfg(feature = "sanitize")]
    pub fn sanitized_by(
        &self,
        sanitizer: &crate::ArticleSanitizer,
    ) -> Result<String, crate::TooComplex> {
        self.sanitized_counting(sanitizer).0
    }

    /// The same, and how many operations it took, also if it was refused: for the tests of its cost.
    #[cfg(feature = "sanitize")]
    #[doc(hidden)]
    pub fn sanitized_counting(
        &self,
        sanitizer: &crate::ArticleSanitizer,
    ) -> (Result<String, crate::TooComplex>, usize) {
        sanitizer.sanitize(&self.0)
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
    fn scripts_frames_and_script_urls_are_removed() {
        let html = "<a href=\"javascript:x()\" onclick=\"x()\">a</a><iframe></iframe><b>b</b>";
        let sanitized = UntrustedHtml::new(html.to_owned()).sanitized();
        assert_eq!(sanitized, Ok("<a>a</a><b>b</b>".to_owned()));
    }
}
