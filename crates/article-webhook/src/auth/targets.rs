use std::{fmt, sync::Arc};

use super::{AuthToken, TokenError};

/// The publish targets whose tokens are accepted: at least one, by construction.
///
/// Each target has a label, which deliveries and logs show. Two targets may have the same label: the
/// old and the new token of one publish target, during rotation. Two targets with different labels have
/// different tokens, because nothing else of a delivery says which target it is for.
///
/// ```
/// use article_webhook::{AuthToken, Receiver, Targets, TokenError};
///
/// let receiver = Receiver::new(
///     Targets::new("blog", AuthToken::new("Bearer blog-5f2b9c0e7a1d")?)
///         .and("shop", AuthToken::new("Bearer shop-a84be02f71c6")?)?,
/// );
/// let headers = [("Authorization", "Bearer shop-a84be02f71c6"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1"}"#)?;
/// assert_eq!(delivery.target(), "shop");
///
/// assert!(receiver.open(&[("Authorization", "Bearer other")]).is_err());
///
/// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
/// let shared = Targets::new("blog", token.clone()).and("shop", token);
/// assert!(matches!(shared, Err(TokenError::Shared { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Targets(pub(crate) Vec<Target>);

impl Targets {
    /// One target.
    #[must_use]
    pub fn new(label: &str, token: AuthToken) -> Self {
        Self(vec![Target { label: label.into(), token }])
    }

    /// One more target.
    ///
    /// # Errors
    ///
    /// [`TokenError::Shared`]: a target with another label has the same token.
    pub fn and(mut self, label: &str, token: AuthToken) -> Result<Self, TokenError> {
        for Target { label: other, token: others } in &self.0 {
            if **other != *label && others.equals(&token).into() {
                let [first, second] = [other, label].map(ToString::to_string);
                return Err(TokenError::Shared { first, second });
            }
        }
        self.0.push(Target { label: label.into(), token });
        Ok(self)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_labels_need_two_tokens_and_one_label_may_repeat_its_own() {
        let token = |token| AuthToken::new(token).unwrap();
        let blog = || Targets::new("blog", token("Bearer 5f2b9c0e7a1d4e38"));
        for (label, second, is_error) in [
            ("shop", "Bearer 5f2b9c0e7a1d4e39", false),
            ("blog", "Bearer 5f2b9c0e7a1d4e39", false),
            ("blog", "Bearer 5f2b9c0e7a1d4e38", false),
            ("shop", "Bearer 5f2b9c0e7a1d4e38", true),
        ] {
            let targets = blog().and(label, token(second));
            assert_eq!(targets.is_err(), is_error, "{label} {second}");
        }
        let error = blog().and("shop", token("Bearer 5f2b9c0e7a1d4e38")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the targets `blog` and `shop` have the same token, so that no delivery says which of them it is for: \
             give each a token of its own, or both the same label",
        );
    }
}
