use std::{cmp::Ordering, collections::BTreeSet, fmt, sync::Arc};

use super::{AuthToken, TokenError};

/// What stands in the place of a target's label for a delivery to a capability URL.
pub(crate) const CAPABILITY: &str = "capability";

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
///     Targets::new("blog", AuthToken::new("Bearer blog-5f2b9c0e7a1d")?)?
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
/// let shared = Targets::new("blog", token.clone())?.and("shop", token);
/// assert!(matches!(shared, Err(TokenError::Shared { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Targets(pub(super) BTreeSet<Target>);

impl Targets {
    /// One target.
    ///
    /// # Errors
    ///
    /// [`TokenError::ReservedLabel`]: the label is `capability`, which deliveries to capability URLs have.
    pub fn new(label: &str, token: AuthToken) -> Result<Self, TokenError> {
        Self(BTreeSet::new()).and(label, token)
    }

    /// Reads the token of each target from an environment variable: pairs of a label and the variable's name.
    ///
    /// ```no_run
    /// use article_webhook::{Receiver, Targets};
    ///
    /// let targets = Targets::from_env([("blog", "ARTICLE_BLOG_TOKEN"), ("shop", "ARTICLE_SHOP_TOKEN")])?;
    /// let receiver = Receiver::new(targets);
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`AuthToken::from_env`] for each variable, as [`and`](Self::and) for each target, and
    /// [`TokenError::NoTarget`] without any.
    pub fn from_env<'a>(
        targets: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TokenError> {
        let mut all = Self(BTreeSet::new());
        for (label, variable) in targets {
            all = all.and(label, AuthToken::from_env(variable)?)?;
        }
        if all.0.is_empty() { Err(TokenError::NoTarget) } else { Ok(all) }
    }

    /// One more target.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and [`TokenError::Shared`]: a target with another label has the same token.
    pub fn and(mut self, label: &str, token: AuthToken) -> Result<Self, TokenError> {
        if label == CAPABILITY {
            return Err(TokenError::ReservedLabel);
        }
        let target = Target { label: label.into(), token };
        if let Some(same) = self.0.get(&target).filter(|same| same.label != target.label) {
            let [first, second] = [&same.label, &target.label].map(ToString::to_string);
            return Err(TokenError::Shared { first, second });
        }
        self.0.insert(target);
        Ok(self)
    }
}

impl From<AuthToken> for Targets {
    fn from(token: AuthToken) -> Self {
        Self(BTreeSet::from([Target { label: "default".into(), token }]))
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Targets").field(&labels(&self.0)).finish()
    }
}

/// The labels in an order that says nothing about the tokens, for `Debug`.
pub(crate) fn labels<'a>(targets: impl IntoIterator<Item = &'a Target>) -> Vec<&'a str> {
    let mut labels: Vec<_> = targets.into_iter().map(|target| &*target.label).collect();
    labels.sort_unstable();
    labels
}

/// A publish target (service document, section 2.2) as a receiver stores it. Ordered by its token, so that a token
/// that is there already is found at once. Only the application's own tokens are compared in this way, never what a
/// sender presented.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) label: Arc<str>,
    pub(crate) token: AuthToken,
}

impl Ord for Target {
    fn cmp(&self, other: &Self) -> Ordering {
        self.token.expose_secret().cmp(other.token.expose_secret())
    }
}

impl PartialOrd for Target {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Target {}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_from_the_environment_and_must_be_some() {
        // Set by cargo, wherever a test runs.
        let both = [("blog", "CARGO_PKG_NAME"), ("shop", "CARGO_PKG_RUST_VERSION")];
        assert_eq!(
            format!("{:?}", Targets::from_env(both).unwrap()),
            r#"Targets(["blog", "shop"])"#
        );
        for (targets, message) in [
            (
                &[][..],
                "there is no target: give at least one label with the name of its environment variable",
            ),
            (
                &[both[0], ("shop", "CARGO_PKG_VERSION_PRE")],
                "the environment variable CARGO_PKG_VERSION_PRE: the token is empty: \
                 give the publish target's auth_token",
            ),
            (
                &[both[0], ("shop", "CARGO_PKG_NAME")],
                "the targets `blog` and `shop` have the same token, so that no delivery says which of them it is for: \
                 give each a token of its own, or both the same label",
            ),
        ] {
            let refused = Targets::from_env(targets.iter().copied()).unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
    }

    #[test]
    fn two_labels_need_two_tokens_and_one_label_may_repeat_its_own() {
        let token = |token| AuthToken::new(token).unwrap();
        let blog = || Targets::new("blog", token("Bearer 5f2b9c0e7a1d4e38")).unwrap();
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

    /// Nothing else says of a stored body that it came to a capability URL. The advice is followed: another label is taken.
    #[test]
    fn the_label_of_capability_urls_is_reserved() {
        let token = |token| AuthToken::new(token).unwrap();
        let blog = Targets::new("blog", token("Bearer 5f2b9c0e7a1d4e38")).unwrap();
        for refused in [
            Targets::new("capability", token("Bearer 5f2b9c0e7a1d4e39")),
            blog.clone().and("capability", token("Bearer 5f2b9c0e7a1d4e39")),
            Targets::from_env([("capability", "CARGO_PKG_NAME")]),
        ] {
            assert_eq!(
                refused.unwrap_err().to_string(),
                "the label `capability` stands for deliveries to capability URLs: give the target another label, such as \
                 `capabilities`",
            );
        }
        assert!(blog.and("capabilities", token("Bearer 5f2b9c0e7a1d4e39")).is_ok());
    }
}
