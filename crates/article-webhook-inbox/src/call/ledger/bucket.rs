use std::time::{Duration, SystemTime};

/// How fast the API may be polled. Every node must use the same settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct BucketSettings {
    /// How many tokens a minute brings: 1 to 60,000. Another number counts as the nearest of these.
    pub per_minute: u32,
    /// How many tokens the bucket holds. 0 counts as 1.
    pub burst: u32,
    /// A number that stands for the API key, such as the first bytes of its hash. A refused key pauses itself alone.
    pub key: u64,
}

/// Why nothing may be polled or ordered.
///
/// ```
/// use article_webhook_inbox::PauseReason;
///
/// /// Whether another API key helps.
/// fn is_about_the_key(why: PauseReason) -> bool {
///     matches!(why, PauseReason::KeyRefused { .. })
/// }
///
/// assert_eq!(PauseReason::RateLimited.as_str(), "rate_limited");
/// assert!(!is_about_the_key(PauseReason::RateLimited));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
#[non_exhaustive] // there may be more reasons
pub enum PauseReason {
    /// The service answered 429, and named the pause.
    RateLimited,
    /// The service, or a proxy before it, answered that it cannot serve any call now, and named the pause.
    Unavailable,
    /// The service refused the API key: nothing is polled or ordered with this key.
    #[non_exhaustive]
    KeyRefused {
        /// A number that stands for the key.
        key: u64,
    },
}

impl PauseReason {
    /// The name of the reason in documents, logs and tools.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::KeyRefused { .. } => "key_refused",
        }
    }
}

/// A time in which nothing is polled or ordered, or nothing with this key.
///
/// ```
/// use article_webhook_inbox::{Inbox, PauseReason};
/// # use article_webhook_inbox::store;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     assert!(inbox.health().await.ledger?.paused.is_none());
/// #     let retry_after = std::time::Duration::from_secs(24 * 3600);
/// #     inbox.ledger().report(store::BucketEvent::RateLimited { retry_after }).await?;
///     // The service answered 429 to a collector.
///     let pause = inbox.health().await.ledger?.paused.ok_or("it pauses")?;
///     assert_eq!(pause.why, PauseReason::RateLimited);
///     assert!(pause.until > pause.since);
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive] // more may be known
pub struct Pause {
    /// When it began.
    #[serde(with = "crate::codec::millis")]
    pub since: SystemTime,
    /// When it ends.
    #[serde(with = "crate::codec::millis")]
    pub until: SystemTime,
    /// Why.
    #[serde(flatten)]
    pub why: PauseReason,
}

impl Pause {
    #[doc(hidden)]
    #[must_use]
    pub fn new(since: SystemTime, until: SystemTime, why: PauseReason) -> Self {
        Self { since, until, why }
    }
}

/// What happened to the bucket, other than that a token was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store that erases an event must not compile")]
pub enum BucketEvent {
    /// The service answered 429. The bucket pauses for as long as the answer named.
    RateLimited {
        /// For how long. Zero if the service did not say.
        retry_after: Duration,
    },
    /// The service, or a proxy before it, answered 503 or another status that says that it cannot serve any call now. The
    /// bucket pauses for as long as the answer named.
    Unavailable {
        /// For how long.
        retry_after: Duration,
    },
    /// The service refused the API key. That key pauses, and one poll or order tries it every five minutes. Other keys are
    /// not paused. A pause that the service asked for is not replaced by this one, and replaces it.
    KeyRefused {
        /// The key, as [`BucketSettings::key`] names it.
        key: u64,
    },
    /// The service accepted the API key, which ends the pause of that key.
    KeyAccepted {
        /// The key, as [`BucketSettings::key`] names it.
        key: u64,
    },
    /// A person lifted the pause.
    Resumed,
}
