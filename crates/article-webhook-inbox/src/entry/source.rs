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
    const ALL: [Self; 2] = [Self::Webhook, Self::Api];

    /// The name of the source in databases and exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Api => "api",
        }
    }
}

named!(Source, "not a source of bodies");
