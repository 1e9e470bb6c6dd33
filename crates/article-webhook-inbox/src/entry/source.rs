use std::fmt;

/// How a body reached the inbox.
///
/// ```
/// use article_webhook_inbox::Source;
///
/// assert_eq!(Source::Webhook.to_string(), "webhook");
/// assert_eq!(Source::from_name("api"), Some(Source::Api));
/// assert_eq!(Source::from_name("fax"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive] // more sources may follow
pub enum Source {
    /// The service delivered it.
    Webhook,
    /// It was fetched through the service's API.
    Api,
}

impl Source {
    /// The name of the source in databases and exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Api => "api",
        }
    }

    /// The source with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Webhook, Self::Api].into_iter().find(|source| source.as_str() == name)
    }
}

impl std::str::FromStr for Source {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, crate::Error> {
        Self::from_name(name).ok_or_else(|| crate::Error::invalid("not a source of bodies"))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
