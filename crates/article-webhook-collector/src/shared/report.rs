use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    PauseReason,
    store::{BucketEvent, Pause},
};
use tokio::time::Instant;

/// What an answer says about the bucket, until it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    event: BucketEvent,
    /// When the answer came, by a clock that is never set back.
    at: Instant,
}

impl Report {
    /// Of an answer that came now.
    pub(crate) fn new(event: BucketEvent) -> Self {
        Self { event, at: Instant::now() }
    }

    /// How much is left of the pause that the service asked for, rounded up to seconds as that was. `None` if there is no such
    /// pause, or it is over.
    pub(crate) fn left(&self) -> Option<Duration> {
        let (BucketEvent::RateLimited { retry_after } | BucketEvent::Unavailable { retry_after }) =
            self.event
        else {
            return None;
        };
        let passed = Duration::from_secs(self.at.elapsed().as_secs());
        retry_after.checked_sub(passed).filter(|left| !left.is_zero())
    }

    /// What is to be stored now: a pause lasts from its answer on, however late it is stored.
    pub(crate) fn event(&self) -> BucketEvent {
        let retry_after = self.left().unwrap_or_default();
        match self.event {
            BucketEvent::RateLimited { .. } => BucketEvent::RateLimited { retry_after },
            BucketEvent::Unavailable { .. } => BucketEvent::Unavailable { retry_after },
            event => event,
        }
    }

    /// The pause as the bucket would have it, if something is left of it.
    pub(crate) fn pause(&self, now: SystemTime) -> Option<Pause> {
        let until = now.checked_add(self.left()?)?;
        let since = now.checked_sub(self.at.elapsed()).unwrap_or(now);
        let why = match self.event {
            BucketEvent::Unavailable { .. } => PauseReason::Unavailable,
            _ => PauseReason::RateLimited,
        };
        Some(Pause::new(since, until, why))
    }
}
