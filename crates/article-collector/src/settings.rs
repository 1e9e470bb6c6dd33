use std::time::Duration;

use article_inbox::Error;

use crate::{schedule::Schedule, webhook_urls::WebhookUrls};

/// The settings of a collector.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) schedule: Schedule,
    pub(crate) per_minute: u32,
    pub(crate) burst: u32,
    pub(crate) concurrency: u32,
    pub(crate) grace: Duration,
    pub(crate) urls: Option<WebhookUrls>,
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (name, value) in [
            ("rate: per_minute", self.per_minute),
            ("rate: burst", self.burst),
            ("concurrency", self.concurrency),
        ] {
            if value == 0 {
                let message = format!("collector: {name}: expected at least 1, found 0");
                return Err(Error::invalid(message));
            }
        }
        Ok(())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            schedule: Schedule::webhooks(),
            per_minute: 30,
            burst: 5,
            concurrency: 4,
            grace: Duration::from_secs(10),
            urls: None,
        }
    }
}
