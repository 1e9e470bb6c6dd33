use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{ApiKey, response::Secrets};

/// An order for an article (service document, section 4).
///
/// ```
/// use article_webhook_client::NewArticle;
/// use serde_json::json;
///
/// let order = NewArticle::new("How to choose running shoes")
///     .webhook_url("https://shop.example/webhooks/orders/secret-of-this-order")
///     .field("tone", json!("friendly"));
/// assert!(!format!("{order:?}").contains("secret")); // a capability URL is a secret
/// ```
#[derive(Clone, Serialize)]
#[serde(transparent)]
#[must_use]
pub struct NewArticle(Map<String, Value>);

impl NewArticle {
    /// An order for an article about `topic`.
    pub fn new(topic: &str) -> Self {
        Self(Map::new()).field("topic", topic.into())
    }

    /// Where this one article is delivered, in addition to the publish targets of the brand.
    pub fn webhook_url(self, url: &str) -> Self {
        self.field("webhook_url", url.into())
    }

    /// Any field that is not in the service's document. A later value of the same name replaces an earlier one.
    pub fn field(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// What it is about.
    #[must_use]
    pub fn topic(&self) -> Option<&str> {
        self.0.get("topic").and_then(Value::as_str)
    }

    /// What no text may show of the call that sends this order.
    pub(crate) fn secrets<'a>(&'a self, key: &'a ApiKey) -> Secrets<'a> {
        let secrets = Secrets::of(key);
        match self.0.get("webhook_url").and_then(Value::as_str) {
            Some(url) => secrets.with_webhook_url(url),
            None => secrets,
        }
    }
}

/// The names of the fields, without their values.
impl fmt::Debug for NewArticle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.keys().collect();
        f.debug_struct("NewArticle").field("fields", &names).finish_non_exhaustive()
    }
}
