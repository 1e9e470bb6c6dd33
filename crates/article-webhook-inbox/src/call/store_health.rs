use std::time::SystemTime;

use crate::Error;

/// What a store reports about itself, for a status page or an alarm.
///
/// ```
/// use article_webhook_inbox::Inbox;
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let inbox = Inbox::memory();
///     let health = inbox.health().await.store?;
///     assert_eq!((health.wal_bytes, health.retention_from), (0, None));
///     assert!(health.blocked.is_none() && health.next_start.is_none());
///     assert_eq!(health.warnings, [""; 0]);
///
///     inbox.close().await?;
///     assert_eq!(inbox.health().await.store.unwrap_err().to_string(), "the inbox is closed");
///     Ok(())
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive] // more may be reported
pub struct StoreHealth {
    /// The size of the write-ahead log beside the database, in bytes. Up to 64 MiB are kept for reuse. A log that
    /// becomes larger is held by a program that reads for long.
    pub wal_bytes: u64,
    /// Why nothing can be committed now, and what to do. The store goes on by itself once the cause has ended. After a
    /// commit that failed, for instance because the disk is full, it says so until another succeeds.
    pub blocked: Option<Error>,
    /// Why the next start would be refused, and what to do: another program has given the file a second name, or changed its
    /// schema. Checked every five minutes.
    pub next_start: Option<Error>,
    /// Damage that was found since the store was opened, and what was done about it. Each finding is a sentence. The
    /// first 32 are kept; a [check](crate::Inbox::check) finds all. They are texts, because each is for a person: a call that
    /// meets damage fails with an [`Error`], which says so to a program.
    pub findings: Vec<String>,
    /// What may lose an acknowledged delivery later, or let others act as the inbox, and hinders nothing now. Each is a sentence that
    /// says to a person what to do.
    pub warnings: Vec<String>,
    /// When retention begins: ten minutes after the store was opened, because what arrived before is old by any clock then. A
    /// day after that, if the clock was seven days or more ahead of the last time that was stored. `None` if the store
    /// does not know.
    pub retention_from: Option<SystemTime>,
}

impl StoreHealth {
    /// Whether the ages of entries can be trusted, so that retention may remove what is old.
    pub(crate) fn has_steady_clock(&self, now: SystemTime) -> bool {
        self.retention_from.is_none_or(|from| now >= from)
    }
}
