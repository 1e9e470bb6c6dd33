use std::{fmt, sync::Arc, time::Duration};

use article_webhook::CapabilityKey;
use article_webhook_inbox::{Error, Inbox};

use super::Collector;
use crate::{api::Api, schedule::Schedule, settings::Settings, webhook_urls::WebhookUrls};

/// Settings of a [`Collector`].
///
/// | setting | default |
/// |---|---|
/// | [`schedule`](Self::schedule) | [`Schedule::webhooks`] |
/// | [`rate`](Self::rate) | 30 a minute, 5 at once |
/// | [`concurrency`](Self::concurrency) | 4 |
/// | [`shutdown_grace`](Self::shutdown_grace) | 10 seconds |
/// | [`webhook_urls`](Self::webhook_urls) | none |
///
/// ```
/// use article_webhook_client::{ApiKey, Client};
/// use article_webhook_collector::{Collector, Schedule};
/// use article_webhook_inbox::Inbox;
///
/// let client = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://127.0.0.1:1")?;
/// let builder = |client| Collector::builder(&Inbox::memory(), client);
/// assert!(builder(client.clone()).schedule(Schedule::polling()).rate(60, 10).build().is_ok());
///
/// let error = builder(client).concurrency(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "collector: concurrency: expected at least 1, found 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct CollectorBuilder {
    inbox: Inbox,
    api: Arc<dyn Api>,
    settings: Settings,
    urls: Option<(CapabilityKey, String)>,
}

impl CollectorBuilder {
    pub(crate) fn new(inbox: Inbox, api: Arc<dyn Api>) -> Self {
        Self { inbox, api, settings: Settings::default(), urls: None }
    }

    /// When a job is polled.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.settings.schedule = schedule;
        self
    }

    /// How many tokens a minute brings, 60,000 at most, and how many may be saved up. A poll waits for a token: in any
    /// time, polls take at most as many as were saved up and as that time brings. An order takes none. A poll is sent up to 5
    /// seconds after it took its token, so the polls of a short time may be a few more than its tokens.
    ///
    /// Collectors that share a store share its tokens, and must use the same rate. A SQLite store belongs to one
    /// process, so each of several machines has tokens of its own: divide the rate by their number.
    pub fn rate(mut self, per_minute: u32, burst: u32) -> Self {
        (self.settings.per_minute, self.settings.burst) = (per_minute, burst);
        self
    }

    /// How many polls are under way at the same time, in each [`run`](Collector::run).
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.settings.concurrency = concurrency;
        self
    }

    /// How long calls may go on after `shutdown`. Then polls are cancelled, and orders are no longer waited for. An order
    /// takes up to the timeout of the client: a shorter grace period may cut one off.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// Gives each order a `webhook_url` of its own: `base`, a slash, and a capability for its intent that the key
    /// mints. It is valid for 30 days, and takes the place of a `webhook_url` of the order. An order whose answer was
    /// lost resolves itself when its article is delivered there. The receiver accepts these URLs with the same key,
    /// by `receive_capability` of its adapter.
    pub fn webhook_urls(mut self, key: CapabilityKey, base: &str) -> Self {
        self.urls = Some((key, base.to_owned()));
        self
    }

    /// The collector.
    ///
    /// # Errors
    ///
    /// A number is 0, the grace period is longer than a day, or the base of the webhook URLs is not one.
    pub fn build(self) -> Result<Collector, Error> {
        let Self { inbox, api, mut settings, urls } = self;
        settings.check()?;
        settings.urls = urls.map(|(key, base)| WebhookUrls::new(key, &base)).transpose()?;
        Ok(Collector::with(inbox, api, settings))
    }
}

impl fmt::Debug for CollectorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectorBuilder")
            .field("inbox", &self.inbox)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
