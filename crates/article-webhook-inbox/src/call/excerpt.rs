use std::fmt;

use bytes::Bytes;

use crate::{Body, Source};

/// The beginning of the first body of an entry, for a list that shows what an entry is about.
///
/// ```
/// use article_webhook_inbox::{EntryKey, Inbox, Source};
/// use article_webhook::{Sink, fixture};
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     let delivery = fixture::complete().job_id("job_1").delivery()?;
///     let length = delivery.body().len() as u64;
///     inbox.accept(delivery).await;
///
///     let keys = ["job_1", "job_2"].map(|job| job.parse().map(EntryKey::article));
///     let [there, missing] = keys;
///     let excerpts = inbox.excerpts(vec![there?, missing?], 10).await?;
///     let excerpt = excerpts[0].as_ref().ok_or("it was just stored")?;
///     assert_eq!((excerpt.source, excerpt.length), (Source::Webhook, Some(length)));
///     assert_eq!(excerpt.start.len(), 10);
///     assert!(excerpts[1].is_none());
///     Ok(())
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store fills every field")]
pub struct Excerpt {
    /// How the body reached the inbox.
    pub source: Source,
    /// The length of the body in bytes; `None` once retention has removed it.
    pub length: Option<u64>,
    /// Its first bytes. They are not compared with the digest. A body that is longer than [`MAX_LENGTH`](Self::MAX_LENGTH)
    /// has none here.
    pub start: Bytes,
}

impl Excerpt {
    /// Longer bodies are not read for an excerpt, because a database may have to read all of a body for its beginning.
    pub const MAX_LENGTH: usize = 1024 * 1024;

    /// The excerpt of a body.
    #[must_use]
    pub fn of(body: &Body, bytes: usize) -> Self {
        let all = body.bytes.as_ref();
        let start = all.filter(|all| all.len() <= Self::MAX_LENGTH);
        Self {
            source: body.source,
            length: all.map(|all| all.len() as u64),
            start: start.map(|all| all.slice(..bytes.min(all.len()))).unwrap_or_default(),
        }
    }
}

/// Shows the number of bytes, and never the bytes.
impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Excerpt")
            .field("source", &self.source)
            .field("length", &self.length)
            .field("start", &self.start.len())
            .finish()
    }
}
