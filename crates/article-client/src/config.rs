use std::fmt;

use article_webhook::{AuthToken, TokenError};
use bytes::Bytes;
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    Client, Error,
    error::{Kind, Malformed, Service},
    retry::retry,
};

/// Where the articles of a brand are delivered (document, section 2.2).
///
/// ```
/// use article_client::PublishTarget;
///
/// let target = PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", "Bearer 5f2b9c0e7a1d4e38")?;
/// assert!(!format!("{target:?}").contains("5f2b9c0e7a1d4e38"));
///
/// // The receiver would refuse this token as well:
/// assert!(PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", "Bearer ").is_err());
/// # Ok::<(), article_webhook::TokenError>(())
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
    /// A token that no receiver can be built with.
    ///
    /// ```
    /// use article_client::PublishTarget;
    ///
    /// let forgotten = PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", "").unwrap_err();
    /// assert_eq!(forgotten.to_string(), "the token is empty: give the publish target's auth_token");
    /// ```
    pub fn webhook(name: &str, url: &str, auth_token: &str) -> Result<Self, TokenError> {
        AuthToken::new(auth_token)?;
        Ok(Self {
            r#type: "webhook",
            name: name.to_owned(),
            url: url.to_owned(),
            auth_token: Zeroizing::new(auth_token.to_owned()),
        })
    }
}

fn expose<S: serde::Serializer>(token: &Zeroizing<String>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(token)
}

/// Neither the token nor the URL, which may be a secret as well.
impl fmt::Debug for PublishTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishTarget").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Client {
    /// Configures where the articles of a brand are delivered (document, section 4: `POST /v1/config/publish-targets`).
    /// The answer is any JSON, or none.
    ///
    /// # Errors
    ///
    /// The service's own, no connection, or an [unknown outcome](Error::is_outcome_unknown).
    ///
    /// ```no_run
    /// # async fn configure(client: article_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use article_client::PublishTarget;
    ///
    /// let token = std::env::var("ARTICLE_WEBHOOK_TOKEN")?;
    /// let shop = PublishTarget::webhook("shop", "https://shop.example/webhooks/articles", &token)?;
    /// client.set_publish_targets("brand_1", &[shop]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_publish_targets(
        &self,
        brand_id: &str,
        targets: &[PublishTarget],
    ) -> Result<Option<Value>, Error> {
        #[derive(Serialize)]
        struct Request<'a> {
            brand_id: &'a str,
            targets: &'a [PublishTarget],
        }
        any(&self.post("/v1/config/publish-targets", &Request { brand_id, targets }).await?)
    }

    /// Configures the brand, without which no article can be ordered (document, section 4: `POST /v1/config/brand`,
    /// whose fields it does not show). The answer is any JSON, or none.
    ///
    /// # Errors
    ///
    /// The service's own, no connection, or an [unknown outcome](Error::is_outcome_unknown).
    ///
    /// ```no_run
    /// # async fn configure(client: article_client::Client) -> Result<(), article_client::Error> {
    /// use serde_json::json;
    ///
    /// let brand = json!({"brand_id": "brand_1", "name": "Shoes & Co"});
    /// client.configure_brand(brand.as_object().expect("it is an object")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn configure_brand(
        &self,
        brand: &serde_json::Map<String, Value>,
    ) -> Result<Option<Value>, Error> {
        any(&self.post("/v1/config/brand", brand).await?)
    }

    /// A call that changes something: it is repeated only where the service cannot have carried it out.
    pub(crate) async fn post(&self, path: &str, request: &impl Serialize) -> Result<Bytes, Error> {
        let url = self.0.base.call(path, None)?;
        let request = serde_json::to_vec(request).expect("its keys are strings");
        let request = Bytes::from(request);
        let ask = || self.send(Method::POST, url.clone(), Some(request.clone()));
        let may_repeat = |error: &Error| error.is_transient() && was_not_carried_out(error);
        let answer = retry(self.0.pauses, ask, may_repeat).await;
        answer.map_err(|error| {
            if was_not_carried_out(&error) {
                error
            } else {
                Error::new(Kind::OutcomeUnknown(error))
            }
        })
    }
}

/// Nothing was sent, or the service itself said no. A 408 or 5xx may come from what stands in front of it,
/// which does not know what the service did; a 303 is what a form answers that was carried out.
fn was_not_carried_out(error: &Error) -> bool {
    match error.kind() {
        Kind::Connect(_) => true,
        Kind::Redirect { status } => *status != 303,
        Kind::Service(_) if error.is_generation_failed() => true,
        Kind::Service(Service { status, .. }) | Kind::Status { status, .. } => {
            *status < 500 && *status != 408
        }
        _ => false,
    }
}

fn any(body: &[u8]) -> Result<Option<Value>, Error> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let value = serde_json::from_slice(body);
    // It was a success, whatever the body says.
    let unreadable =
        |_| Error::new(Kind::OutcomeUnknown(Error::new(Kind::Malformed(Malformed::Json))));
    value.map(Some).map_err(unreadable)
}
