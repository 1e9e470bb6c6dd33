use std::{fmt, sync::Arc};

use crate::AuthToken;

/// The publish targets whose tokens are accepted: at least one, by construction.
///
/// Each has a label, which deliveries and logs show. The same label may stand twice, with the old
/// and the new token of a target.
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
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Targets};
    /// let targets = Targets::new("blog", AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// assert_eq!(format!("{targets:?}"), r#"Targets(["blog"])"#);
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    #[must_use]
    pub fn new(label: &str, token: AuthToken) -> Self {
        Self(Vec::new()).and(label, token)
    }

    /// One more target.
    ///
    /// ```
    /// # use article_webhook::{AuthToken, Targets};
    /// let targets = Targets::new("blog", AuthToken::new("Bearer old-5f2b9c0e7a1d")?)
    ///     .and("blog", AuthToken::new("Bearer new-a84be02f71c6")?);
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
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

/// A publish target (document, section 2.2) as a receiver knows it.
pub(crate) struct Target {
    pub(crate) label: Arc<str>,
    pub(crate) token: AuthToken,
}
