use std::fmt;

use article_webhook::adapter::Causes;
use http::{HeaderValue, Uri};
use url::Url;

/// Where to deliver: a publish target (service document, section 2.2), or the `webhook_url` of an order.
///
/// ```
/// use article_webhook_simulator::{InvalidTarget, Target};
///
/// let target = Target::publish("http://127.0.0.1:3000/webhooks/articles", "Bearer secret")?;
/// assert!(!format!("{target:?}").contains("secret"));
/// assert_eq!(Target::publish("/webhooks/articles", "Bearer secret"), Err(InvalidTarget::Url));
/// # Ok::<(), InvalidTarget>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// The URL as it was given.
    pub(crate) url: String,
    pub(crate) uri: Uri,
    /// `None` for the `webhook_url` of an order, for which the document defines no token.
    pub(crate) auth_token: Option<HeaderValue>,
}

impl Target {
    /// A publish target with the whole `Authorization` header of its deliveries.
    ///
    /// # Errors
    ///
    /// The URL is not `http` or `https`, or the token is empty or not a header value.
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

/// Without the token, and without the path, which may be a secret as well.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("host", &self.uri.host()).finish_non_exhaustive()
    }
}

/// Why nothing can be delivered to a target.
///
/// ```
/// use article_webhook_simulator::{InvalidTarget, Tenant};
///
/// let tenant = || Tenant::new("sk-1");
/// assert!(tenant().deliver_to("http://127.0.0.1:3000/webhooks/articles", "Bearer secret").is_ok());
/// assert_eq!(tenant().deliver_to("/webhooks/articles", "Bearer secret"), Err(InvalidTarget::Url));
/// assert_eq!(tenant().deliver_to("http://127.0.0.1:3000/", ""), Err(InvalidTarget::Token));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // further values may turn out to be invalid
pub enum InvalidTarget {
    /// The URL is not `http` or `https`.
    #[error(
        "the target's url is not an http or https URL: give the whole URL, with scheme and host"
    )]
    Url,
    /// The token is empty or not a header value.
    #[error(
        "the target's auth_token is empty or not a header value: give the whole header, such as `Bearer secret`"
    )]
    Token,
}

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for InvalidTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
    }
}
