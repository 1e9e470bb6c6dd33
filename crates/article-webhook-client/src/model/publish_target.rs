use std::fmt;

use article_webhook::{AuthToken, TokenError};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::response::Secrets;

/// Where the articles of a brand are delivered (service document, section 2.2).
///
/// ```
/// use article_webhook_client::PublishTarget;
///
/// let target = PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38")?;
/// assert!(!format!("{target:?}").contains("5f2b9c0e7a1d4e38"));
///
/// // A receiver would refuse this token as well.
/// assert!(PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", "Bearer ").is_err());
/// # Ok::<(), article_webhook_client::TokenError>(())
/// ```
#[derive(Clone, Serialize)]
pub struct PublishTarget {
    r#type: &'static str,
    name: String,
    url: String,
    #[serde(serialize_with = "expose")]
    auth_token: Zeroizing<String>,
}

impl PublishTarget {
    /// A webhook. `auth_token` is the whole `Authorization` header of its deliveries, scheme word included: give the
    /// receiver the same.
    ///
    /// # Errors
    ///
    /// No receiver can be built with this token.
    pub fn webhook(name: &str, url: &str, auth_token: &str) -> Result<Self, TokenError> {
        AuthToken::new(auth_token)?;
        Ok(Self {
            r#type: "webhook",
            name: name.to_owned(),
            url: url.to_owned(),
            auth_token: Zeroizing::new(auth_token.to_owned()),
        })
    }

    /// Its URL may be a secret, and its token is one.
    pub(crate) fn add_secrets<'a>(&'a self, secrets: Secrets<'a>) -> Secrets<'a> {
        secrets.with_webhook_url(&self.url).with_auth_token(&self.auth_token)
    }
}

fn expose<S: serde::Serializer>(token: &Zeroizing<String>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(token)
}

/// Without the token, and without the URL, which may be a secret as well.
impl fmt::Debug for PublishTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishTarget").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_token_is_refused_with_the_fix() {
        let refused = PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", "");
        let message = "the token is empty: give the publish target's auth_token";
        assert_eq!(refused.unwrap_err().to_string(), message);
    }
}
