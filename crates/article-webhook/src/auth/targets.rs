use std::{fmt, sync::Arc};

use super::AuthToken;

/// The publish targets whose tokens are accepted: at least one, by construction.
///
/// Each target has a label, which deliveries and logs show. Two targets may have the same label: the
/// old and the new token of one publish target, during rotation.
///
/// ```
/// use article_webhook::{AuthToken, Receiver, Targets};
///
/// let receiver = Receiver::new(
///     Targets::new("blog", AuthToken::new("Bearer blog-5f2b9c0e7a1d")?)
///         .and("shop", AuthToken::new("Bearer shop-a84be02f71c6")?),
/// );
/// let headers = [("Authorization", "Bearer shop-a84be02f71c6"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1"}"#)?;
/// assert_eq!(delivery.target(), "shop");
///
/// assert!(receiver.open(&[("Authorization", "Bearer other")]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Targets(pub(crate) Vec<Target>);

impl Targets {
    /// One target.
    #[must_use]
    pub fn new(label: &str, token: AuthToken) -> Self {
        Self(Vec::new()).and(label, token)
    }

    /// One more target.
    #[must_use]
    pub fn and(mut self, label: &str, token: AuthToken) -> Self {
        let label = label.into();
        self.0.push(Target { label, token });
        self
    }
}

impl From<AuthToken> for Targets {
    fn from(token: AuthToken) -> Self {
        Self::new("default", token)
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> = self.0.iter().map(|target| &target.label).collect();
        f.debug_tuple("Targets").field(&labels).finish()
    }
}

/// A publish target (service document, section 2.2) as a receiver stores it.
pub(crate) struct Target {
    pub(crate) label: Arc<str>,
    pub(crate) token: AuthToken,
}
