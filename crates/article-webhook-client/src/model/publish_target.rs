use std::fmt;

use article_webhook::AuthToken;
use serde::{Serialize, Serializer};

use crate::response::Secrets;

/// Where the articles of a brand are delivered (service document, section 2.2).
///
/// The token is the one that the receiver accepts, so that it is read once:
///
/// ```
/// use article_webhook_client::{AuthToken, PublishTarget};
///
/// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?; // or AuthToken::from_env("ARTICLE_WEBHOOK_TOKEN")
/// let target = PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", &token);
/// assert!(!format!("{target:?}").contains("5f2b9c0e7a1d4e38"));
///
/// // What no receiver accepts is no token.
/// assert!(AuthToken::new("Bearer ").is_err());
/// # Ok::<(), article_webhook_client::TokenError>(())
/// ```
#[derive(Clone, Serialize)]
pub struct PublishTarget {
    r#type: &'static str,
    name: String,
    url: String,
    #[serde(serialize_with = "expose")]
    auth_token: AuthToken,
}

impl PublishTarget {
    /// A webhook. `auth_token` is the whole `Authorization` header of its deliveries, scheme word included: give the
    /// receiver the same.
    #[must_use]
    pub fn webhook(name: &str, url: &str, auth_token: &AuthToken) -> Self {
        Self {
            r#type: "webhook",
            name: name.to_owned(),
            url: url.to_owned(),
            auth_token: auth_token.clone(),
        }
    }

    /// Its URL may be a secret, and its token is one.
    pub(crate) fn add_secrets<'a>(&'a self, secrets: Secrets<'a>) -> Secrets<'a> {
        secrets.with_webhook_url(&self.url).with_auth_token(self.auth_token.expose_secret())
    }
}

fn expose<S: Serializer>(token: &AuthToken, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(token.expose_secret())
}

/// Without the token, and without the URL, which may be a secret as well.
impl fmt::Debug for PublishTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishTarget").field("name", &self.name).finish_non_exhaustive()
    }
}
