use std::fmt;

use article_webhook::Delivery;

use crate::{Digest, Key, Source};

/// A body to be stored, and what is known of it.
///
/// ```
/// use article_inbox::store::Arrival;
/// use article_webhook::fixture::{self, Post};
///
/// let post = Post::complete().job_id("job_1");
/// let delivery = fixture::receiver().open(post.headers())?.read(post.body().clone())?;
/// let arrival = Arrival::from(&delivery);
/// assert_eq!((arrival.key.job_id.as_str(), arrival.intent.is_none()), ("job_1", true));
/// assert!(!format!("{arrival:?}").contains("title"), "it shows no body");
/// # Ok::<(), article_webhook::Refused>(())
/// ```
#[derive(Clone)]
pub struct Arrival {
    /// Its job and event.
    pub key: Key,
    /// How it came.
    pub source: Source,
    /// The label of the publish target whose token the sender presented.
    pub target: Box<str>,
    /// The intent of the capability URL it was delivered to.
    pub intent: Option<Box<str>>,
    /// The SHA-256 of the bytes.
    pub digest: Digest,
    /// The body as it came.
    pub bytes: bytes::Bytes,
}

impl From<&Delivery> for Arrival {
    fn from(delivery: &Delivery) -> Self {
        Self {
            key: Key { job_id: delivery.job_id().clone(), event: delivery.event().clone() },
            source: Source::Webhook,
            target: delivery.target().into(),
            intent: delivery.intent().map(Into::into),
            digest: Digest::of(delivery.body()),
            bytes: delivery.body().clone(),
        }
    }
}

impl fmt::Debug for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrival")
            .field("key", &self.key)
            .field("source", &self.source)
            .field("target", &self.target)
            .field("intent", &self.intent)
            .field("digest", &self.digest)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// What became of a body.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::Arrival};
/// # let store = MemoryStore::new(Clock::system());
/// # let arrival = |bytes: &'static str| Arrival {
/// #     key: Key::article("job_1".parse().unwrap()), source: Source::Api, target: "default".into(), intent: None,
/// #     digest: Digest::of(bytes.as_bytes()), bytes: bytes.into(),
/// # };
/// use article_inbox::store::Recorded;
///
/// assert_eq!(store.record(arrival("{}")).await?, Recorded::Stored);
/// assert_eq!(store.record(arrival("{}")).await?, Recorded::Duplicate);
/// assert_eq!(store.record(arrival("[1]")).await?, Recorded::Conflict { kept: true });
/// store.record(arrival("[2]")).await?;
/// store.record(arrival("[3]")).await?;
/// assert_eq!(store.record(arrival("[4]")).await?, Recorded::Crowded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    // Exhaustive: whoever answers must know all of them.
    /// It is stored, and will be worked on.
    Stored,
    /// The same body is stored already.
    Duplicate,
    /// Another body is stored already.
    Conflict {
        /// Whether this one is kept beside it.
        kept: bool,
    },
    /// There is no room for it before a worker has seen the others: the service must come again.
    Crowded,
}
