use crate::Clock;

/// Settings of a [`SqliteStore`](crate::SqliteStore). Durability is not optional: a database that cannot have the
/// settings for it is refused.
///
/// ```
/// use std::time::SystemTime;
/// use article_webhook_inbox::{Clock, SqliteSettings, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let settings = SqliteSettings::default().clock(Clock::stepped(SystemTime::UNIX_EPOCH));
/// assert!(SqliteStore::open_with(folder.path().join("inbox.db"), settings.clone()).is_ok());
///
/// let error = SqliteStore::open_with(folder.path(), settings).unwrap_err();
/// assert!(error.to_string().ends_with("is a folder: name a file in it"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SqliteSettings {
    pub(super) clock: Clock,
}

impl SqliteSettings {
    /// The clock that the store reads. The default is the system's.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock }
    }
}
