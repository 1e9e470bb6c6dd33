use std::time::{Duration, SystemTime};

use article_webhook::CapabilityKey;
use article_webhook_inbox::Error;

/// How long the URL of an order is valid.
const URL_VALIDITY: Duration = Duration::from_secs(30 * 24 * 3600);

/// Makes the URL that the article of an order is delivered to.
#[derive(Debug, Clone)]
pub(crate) struct WebhookUrls {
    key: CapabilityKey,
    /// Without a slash at its end.
    base: Box<str>,
}

impl WebhookUrls {
    pub(crate) fn new(key: CapabilityKey, base: &str) -> Result<Self, Error> {
        let base = base.trim_end_matches('/');
        let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
        if host.is_some_and(|host| host.split('/').next().is_some_and(|host| host.contains('@'))) {
            let message = "collector: webhook_urls: a user or a password in the base goes to the service with each order, and is a secret: leave it out, a capability is enough";
            return Err(Error::invalid(message));
        }
        if host.is_none_or(str::is_empty) || base.contains(['?', '#']) {
            let message = "collector: webhook_urls: expected a base such as https://shop.example/webhooks/orders, without a query";
            return Err(Error::invalid(message));
        }
        Ok(Self { key, base: base.into() })
    }

    /// The URL of this order, a secret. The [name](article_webhook_inbox::Intent::check_name) of the intent must be valid.
    pub(crate) fn url(&self, intent: &str, now: SystemTime) -> Result<String, Error> {
        let minted = self.key.mint(intent, now + URL_VALIDITY);
        let segment = minted.map_err(|error| Error::invalid(error.to_string()))?;
        Ok(format!("{}/{}", self.base, segment.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn key() -> CapabilityKey {
        CapabilityKey::new(b"0123456789abcdef0123456789abcdef").unwrap()
    }

    #[test]
    fn a_url_ends_with_the_capability() {
        for base in ["https://shop.example/orders", "https://shop.example/orders/"] {
            let url = WebhookUrls::new(key(), base).unwrap().url("post-17", NOW).unwrap();
            assert!(url.starts_with("https://shop.example/orders/post-17.2592000."), "{url}");
        }
    }

    #[test]
    fn a_base_that_no_service_can_call_is_refused() {
        for base in ["", "shop.example", "https://", "/orders", "https://a.example/?a=b"] {
            let error = WebhookUrls::new(key(), base).unwrap_err();
            assert!(error.to_string().starts_with("collector: webhook_urls: "), "{base}");
        }
    }

    /// It would be sent to the service, and shown.
    #[test]
    fn a_base_with_a_user_or_a_password_is_refused() {
        for user in ["user", "user:canary", ":canary", "user:can@ary", ""] {
            let error = WebhookUrls::new(key(), &format!("https://{user}@shop.example/orders"));
            let error = error.unwrap_err().to_string();
            let says = "collector: webhook_urls: a user or a password in the base goes to the service with each order, and is a secret: leave \
                it out, a capability is enough";
            assert_eq!(error, says);
        }
        assert!(WebhookUrls::new(key(), "https://shop.example/orders").is_ok());
        assert!(WebhookUrls::new(key(), "https://shop.example/@orders").is_ok());
    }

    /// Each intent that passes can be minted, and no other.
    #[test]
    fn an_intent_is_what_a_capability_can_carry() {
        let long = "x".repeat(65);
        for intent in ["", "a", "post-17_B", "a b", "a.b", "a/b", "\u{e9}", &long, &long[..64]] {
            let is_name = article_webhook_inbox::Intent::check_name(intent).is_ok();
            assert_eq!(is_name, key().mint(intent, NOW).is_ok(), "{intent}");
        }
    }
}
