use std::time::Duration;

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
    pub(super) wait_for_lock: Duration,
}

impl SqliteSettings {
    /// The clock that the store reads. The default is the system's.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// How long the store waits if another process uses the file; [`Duration::MAX`] is without limit. The default is zero: the
    /// start is refused.
    ///
    /// This is for a restart without a gap in which nothing answers: the new process starts, and the old one is stopped then.
    /// A store that waits is returned at once. Until it is open, its calls fail with a transient error: an inbox in it answers
    /// 503 to deliveries and is not [ready](crate::Inbox::ready), and its workers and collectors wait. The file is opened
    /// within moments after the other process has ended, also if it was killed. [`Inbox::opened`](crate::Inbox::opened) returns
    /// then. If the start is refused then, or the wait is over, it returns that error, and every later call fails with it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use article_webhook_inbox::{Inbox, SqliteSettings, SqliteStore};
    /// # use std::fs::File;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("inbox.db");
    /// # let other_process = File::create(folder.path().join("inbox.db-lock"))?;
    /// # other_process.lock()?;
    /// // While another process uses the file:
    /// assert!(SqliteStore::open(&path).is_err());
    /// let settings = SqliteSettings::default().wait_for_lock(Duration::from_secs(300));
    /// let inbox = Inbox::new(SqliteStore::open_with(&path, settings)?);
    /// assert!(inbox.ready().await.unwrap_err().is_transient());
    ///
    /// // Once that process has ended:
    /// # drop(other_process);
    /// inbox.opened().await?;
    /// assert_eq!(inbox.counts().await?.total(), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn wait_for_lock(self, timeout: Duration) -> Self {
        Self { wait_for_lock: timeout, ..self }
    }
}
