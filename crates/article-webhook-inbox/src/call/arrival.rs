use std::{
    fmt,
    time::{Duration, SystemTime},
};

use article_webhook::Delivery;

use crate::{Body, Digest, EntryKey, Source, entry::CAPABILITY};

/// A body to store, and what is known about it.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "a store keeps every field")]
pub struct Arrival {
    /// The job and the event.
    pub key: EntryKey,
    /// How the body reached the inbox.
    pub source: Source,
    /// The label of the publish target whose token the sender presented.
    pub target: Box<str>,
    /// The intent of the capability URL that it was delivered to.
    pub intent: Option<Box<str>>,
    /// The SHA-256 of the bytes.
    pub digest: Digest,
    /// The body as it was received.
    pub bytes: bytes::Bytes,
}

impl Arrival {
    /// The body of an entry as if it came again, under this key. `None` if its bytes were removed.
    pub(crate) fn of(key: EntryKey, body: &Body) -> Option<Self> {
        let bytes = body.bytes.clone()?;
        let Body { source, target, intent, digest, .. } = body.clone();
        Some(Self { key, source, target, intent, digest, bytes })
    }

    /// The body, if it is stored at this time.
    #[must_use]
    pub fn into_body(self, received_at: SystemTime) -> Body {
        let Self { key: _, source, target, intent, digest, bytes } = self;
        Body { received_at, source, target, intent, digest, bytes: Some(bytes) }
    }

    /// Whether it was delivered to a capability URL.
    #[must_use]
    pub fn is_by_capability(&self) -> bool {
        &*self.target == CAPABILITY
    }
}

impl From<&Delivery> for Arrival {
    fn from(delivery: &Delivery) -> Self {
        Self {
            key: EntryKey { job_id: delivery.job_id().clone(), event: delivery.event().clone() },
            source: Source::Webhook,
            target: delivery.target().into(),
            intent: delivery.intent().map(Into::into),
            digest: Digest::of(delivery.body()),
            bytes: delivery.body().clone(),
        }
    }
}

/// Shows the number of bytes, and never the bytes.
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

/// The result of recording a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "each result has an answer to the service")]
pub enum Recorded {
    /// The body is stored, and a worker will process it.
    Stored,
    /// The same, and it is the article of an order that the ledger was waiting for.
    Arrived {
        /// How long the job was expected.
        after: Duration,
    },
    /// The same body is stored already.
    Duplicate,
    /// Another body is stored already.
    Conflict {
        /// Whether this body was stored as well. It was not if the entry is full, and one of its bodies is known to decode.
        kept: bool,
    },
    /// The delivery came to the URL of an order that is not its job's. Nothing was stored.
    OtherJob,
    /// The entry is full, and no worker has found a body that decodes yet. Nothing was stored: the service must deliver
    /// again.
    BodyLimitReached,
}

impl Recorded {
    /// Whether the body is stored, and a worker will process it.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Stored | Self::Arrived { .. })
    }
}
