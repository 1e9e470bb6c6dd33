use std::collections::BTreeSet;

use thiserror::Error;

/// What is kept of an article's HTML: a profile for articles, and what an application changes of it.
///
/// | kept | how |
/// |---|---|
/// | text, headings, lists, tables, figures, `details`, `pre`, and other elements of text | with `lang`, `dir`, `title`, `role`, and ten of `aria-*` |
/// | `id`, and what refers to it: links to `#…`, `headers`, `aria-labelledby` | with a prefix, `article-`, so that no id of an article is the name of something else on the page, or in its scripts |
/// | links | `http`, `https`, `mailto`, `tel`, and relative ones. `rel` is kept, and `noopener noreferrer` is added to links that leave the page |
/// | images, `picture`, `srcset`, `loading`, `decoding` | `http`, `https` and relative. A `data:` image up to 64 KiB, if it is png, jpeg, gif, webp or avif. An image without a URL that is allowed is removed |
/// | `class` | names that [`classes`](Self::classes) lists |
/// | frames | from hosts that [`frames`](Self::frames) lists, in a sandbox |
/// | `video`, `audio` | if [`media`](Self::media) asks for them |
///
/// Of all other elements the text is kept. Of `script`, `style`, `title` and of other frames nothing is.
///
/// What comes out has tags of this list alone. None of them changes how a browser reads what follows it, so that it finds
/// no other element there. Embed it where text may stand, not in an attribute and not in a `script`.
///
/// ```
/// use article_webhook::{ArticleSanitizer, UntrustedHtml};
///
/// let html = UntrustedHtml::new(
///     "<h2 id=fit class='wide x' onclick='x()'>Fit</h2><a href='#fit'>up</a><iframe src='https://a.example'></iframe>".to_owned(),
/// );
/// let sanitizer = ArticleSanitizer::new().classes(["wide"])?;
/// assert_eq!(
///     html.sanitized_by(&sanitizer)?,
///     "<h2 id=\"article-fit\" class=\"wide\">Fit</h2><a href=\"#article-fit\">up</a>"
/// );
///
/// let deep = UntrustedHtml::new("<div>".repeat(1000));
/// let refused = deep.sanitized_by(&sanitizer).unwrap_err();
/// assert!(refused.to_string().contains("nested more than 256 deep"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArticleSanitizer {
    pub(super) id_prefix: String,
    pub(super) classes: BTreeSet<String>,
    pub(super) frame_hosts: BTreeSet<String>,
    pub(super) max_data_image: usize,
    pub(super) keeps_media: bool,
    pub(super) keeps_urls: bool,
}

/// A setting of [`ArticleSanitizer`] that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{value:?} is not {expected}")]
pub struct InvalidSetting {
    value: String,
    expected: &'static str,
}

impl Default for ArticleSanitizer {
    fn default() -> Self {
        Self::new()
    }
}

impl ArticleSanitizer {
    /// The profile for articles.
    #[must_use]
    pub fn new() -> Self {
        Self {
            id_prefix: "article-".to_owned(),
            classes: BTreeSet::new(),
            frame_hosts: BTreeSet::new(),
            max_data_image: 64 * 1024,
            keeps_media: false,
            keeps_urls: true,
        }
    }

    /// What every `id` begins with, in place of `article-`. Two articles on one page need two prefixes.
    ///
    /// # Errors
    ///
    /// It is not a letter, followed by letters, digits, `-` and `_`.
    pub fn id_prefix(mut self, prefix: &str) -> Result<Self, InvalidSetting> {
        let is_part = |byte| u8::is_ascii_alphanumeric(&byte) || matches!(byte, b'-' | b'_');
        if !prefix.starts_with(|first: char| first.is_ascii_alphabetic())
            || !prefix.bytes().all(is_part)
        {
            return Err(invalid(
                prefix,
                "a prefix of ids: a letter, then letters, digits, - and _",
            ));
        }
        self.id_prefix = prefix.to_owned();
        Ok(self)
    }

    /// The names that `class` may have. Without this, none.
    ///
    /// # Errors
    ///
    /// A name is empty, or has white space in it.
    pub fn classes<'a>(
        mut self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, InvalidSetting> {
        for name in names {
            if name.is_empty() || name.contains(|it: char| it.is_ascii_whitespace()) {
                return Err(invalid(name, "one name of a class"));
            }
            self.classes.insert(name.to_owned());
        }
        Ok(self)
    }

    /// Keeps frames from these hosts, as `www.youtube-nocookie.com`, over `https`. They are in a sandbox that lets them run scripts
    /// and open windows. Never list a host that serves your own pages: the sandbox does not hold a frame from the same origin.
    ///
    /// # Errors
    ///
    /// It is not the name of a host: it has a scheme, a port or a path.
    pub fn frames<'a>(
        mut self,
        hosts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, InvalidSetting> {
        for host in hosts {
            let is_part = |byte| u8::is_ascii_alphanumeric(&byte) || matches!(byte, b'-' | b'.');
            if host.is_empty() || !host.bytes().all(is_part) {
                return Err(invalid(host, "the name of a host alone, as www.youtube-nocookie.com"));
            }
            self.frame_hosts.insert(host.to_ascii_lowercase());
        }
        Ok(self)
    }

    /// Keeps `video` and `audio`, which do not play by themselves.
    #[must_use]
    pub fn media(mut self) -> Self {
        self.keeps_media = true;
        self
    }

    /// How many bytes a `data:` image may have, in place of 64 KiB. With 0 there are none. HTML with one far above 1 MiB
    /// may be too complex.
    #[must_use]
    pub fn data_images(mut self, max_bytes: usize) -> Self {
        self.max_data_image = max_bytes;
        self
    }

    /// Nothing that is loaded or leads away: of a link the text is kept, of an image its description.
    #[must_use]
    pub fn without_urls(mut self) -> Self {
        self.keeps_urls = false;
        self
    }
}

fn invalid(value: &str, expected: &'static str) -> InvalidSetting {
    InvalidSetting { value: value.to_owned(), expected }
}
