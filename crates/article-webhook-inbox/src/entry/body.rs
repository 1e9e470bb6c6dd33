use std::{fmt, time::SystemTime};

use bytes::Bytes;

use super::Source;
use crate::Digest;

/// How many different bodies are kept of one entry. If none of them can be read, one that the API gives is kept beside them.
pub const MAX_BODIES_PER_ENTRY: usize = 4;

/// A body of an entry, as it was received. An entry has at most [`MAX_BODIES_PER_ENTRY`], and one of the API beyond them.
///
/// ```
/// use article_webhook_inbox::{EntryKey, Inbox};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     inbox.accept(fixture::complete().job_id("job_1").delivery()?).await;
///     let shown = inbox.show(EntryKey::article("job_1".parse()?)).await?;
///     let (_, mut bodies) = shown.ok_or("it is stored")?;
///     assert!(bodies[0].is_intact());
///
///     bodies[0].bytes = Some("[]".into());
///     assert!(!bodies[0].is_intact());
///     bodies[0].bytes = None;
///     assert!(bodies[0].is_intact(), "retention removed it");
///     Ok(())
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive] // more may be kept of a body
pub struct Body {
    /// When it was stored.
    pub received_at: SystemTime,
    /// How it reached the inbox.
    pub source: Source,
    /// The label of the publish target whose token the sender presented.
    pub target: Box<str>,
    /// The intent of the capability URL that it was delivered to.
    pub intent: Option<Box<str>>,
    /// The SHA-256 of the bytes that were received.
    pub digest: Digest,
    /// The bytes; `None` once retention has removed them.
    pub bytes: Option<Bytes>,
}

/// What stands in the place of a target's label for a delivery to a capability URL.
pub(crate) const CAPABILITY: &str = "capability";

impl Body {
    /// Whether it was delivered to a capability URL, and came in no other way. Such a URL reaches logs more easily than a token,
    /// so that any other body outranks this one.
    #[must_use]
    pub fn is_by_capability(&self) -> bool {
        &*self.target == CAPABILITY
    }

    /// Whether the bytes are those that were received. A body whose bytes were removed counts as intact.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.bytes.as_ref().is_none_or(|bytes| Digest::of(bytes) == self.digest)
    }
}

/// Shows the number of bytes, and never the bytes.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.as_ref().map(|bytes| bytes.len());
        f.debug_struct("Body")
            .field("received_at", &self.received_at)
            .field("source", &self.source)
            .field("target", &self.target)
            .field("intent", &self.intent)
            .field("digest", &self.digest)
            .field("bytes", &bytes)
            .finish()
    }
}
