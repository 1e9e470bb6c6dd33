use std::time::Duration;

use article_webhook_inbox::Error;

use crate::{
    schedule::{DAY, Schedule},
    webhook_urls::WebhookUrls,
};

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
        if self.grace > DAY {
            return Err(Error::invalid("collector: shutdown_grace: expected at most a day"));
        }
        Ok(())
    }

    /// How long it takes until a full bucket has given out that many tokens.
    pub(crate) fn time_of_tokens(&self, tokens: u64) -> Duration {
        let missing = tokens.saturating_sub(self.burst.into());
        let millis = missing.saturating_mul(60_000).div_ceil(self.per_minute.into());
        Duration::from_millis(millis)
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
