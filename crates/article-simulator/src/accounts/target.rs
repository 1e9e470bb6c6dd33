use std::{fmt, sync::Arc};

use http::{HeaderValue, Uri};
use url::Url;

/// A brand: what articles are ordered for, and where they are delivered.
#[derive(Debug)]
pub(crate) struct Brand {
    pub(crate) id: String,
    pub(crate) is_configured: bool,
    pub(crate) has_ga4: bool,
    pub(crate) targets: Vec<Arc<Target>>,
}

impl Brand {
    pub(crate) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), is_configured: false, has_ga4: false, targets: Vec::new() }
    }
}

/// Where to deliver: a publish target (document, section 2.2), or the `webhook_url` of an order.
///
/// ```
/// use article_simulator::{InvalidTarget, Target};
///
/// let target = Target::publish("http://127.0.0.1:3000/webhooks/articles", "Bearer secret")?;
/// assert!(!format!("{target:?}").contains("secret"));
/// assert_eq!(Target::publish("/webhooks/articles", "Bearer secret"), Err(InvalidTarget::Url));
/// # Ok::<(), InvalidTarget>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was given.
    pub(crate) url: String,
    pub(crate) uri: Uri,
    /// The document leaves it open for a per-request URL; there it is none.
    pub(crate) auth_token: Option<HeaderValue>,
}

impl Target {
    /// A publish target, if something can be delivered to it.
    ///
    /// # Errors
    ///
    /// The URL is none of http or https, or the token no value of a header.
    ///
    /// ```
    /// use article_simulator::{InvalidTarget, Target};
    ///
    /// assert!(Target::publish("http://receiver.test/", "Bearer secret").is_ok());
    /// assert_eq!(Target::publish("http://receiver.test/", " "), Err(InvalidTarget::Token));
    /// ```
    pub fn publish(url: &str, auth_token: &str) -> Result<Self, InvalidTarget> {
        let token = HeaderValue::from_str(auth_token);
        let token = token.ok().filter(|token| !token.as_bytes().trim_ascii().is_empty());
        let mut token = token.ok_or(InvalidTarget::Token)?;
        token.set_sensitive(true);
        Ok(Self { auth_token: Some(token), ..Self::per_request(url)? })
    }

    pub(crate) fn per_request(url: &str) -> Result<Self, InvalidTarget> {
        let parsed = Url::parse(url).map_err(|_| InvalidTarget::Url)?;
        if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(InvalidTarget::Url);
        }
        let uri = parsed.as_str().parse().map_err(|_| InvalidTarget::Url)?;
        Ok(Self { url: url.to_owned(), uri, auth_token: None })
    }
}

/// Neither the token nor the path, which may be a secret as well.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("host", &self.uri.host()).finish_non_exhaustive()
    }
}

/// Why nothing could be delivered to a target.
///
/// ```
/// use article_simulator::{InvalidTarget, Tenant};
///
/// let tenant = || Tenant::new("sk-1");
/// assert!(tenant().deliver_to("http://127.0.0.1:3000/webhooks/articles", "Bearer secret").is_ok());
/// assert_eq!(tenant().deliver_to("/webhooks/articles", "Bearer secret"), Err(InvalidTarget::Url));
/// assert_eq!(tenant().deliver_to("http://127.0.0.1:3000/", ""), Err(InvalidTarget::Token));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // more can be wrong with one
pub enum InvalidTarget {
    /// The URL is none of http or https.
    #[error("the target's url is no http or https URL: give it whole, scheme and host included")]
    Url,
    /// The token is empty, or no value of a header.
    #[error(
        "the target's auth_token is empty or no header's value: give it in full, such as `Bearer secret`"
    )]
    Token,
}
