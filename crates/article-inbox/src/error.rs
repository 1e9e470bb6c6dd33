use std::fmt;

/// A failure of the inbox or its store. Its text names the cause and, where somebody can mend it, the fix;
/// it holds no body, no token and no SQL.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use article_inbox::Inbox;
///
/// let inbox = Inbox::memory();
/// inbox.close().await.unwrap();
/// let error = inbox.counts().await.unwrap_err();
/// assert_eq!(error.to_string(), "the inbox is closed");
/// assert!(!error.is_transient());
/// # });
/// ```
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Locked, full, failing or down: it may pass.
    Unavailable,
    /// The store cannot be used as it is: somebody must change something.
    Unusable,
    /// The file or an entry is damaged.
    Damaged,
    /// The request makes no sense, such as a line that is no entry.
    Invalid,
    /// After `close`.
    Closed,
}

impl Error {
    /// A failure that may pass: the store is locked, full, failing, down or too busy. For stores of your own.
    ///
    /// ```
    /// assert!(article_inbox::Error::unavailable("the database is locked").is_transient());
    /// ```
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// A store that cannot be used until somebody changes something: name what. For stores of your own.
    ///
    /// ```
    /// let error = article_inbox::Error::unusable("fsync is off: turn it on");
    /// assert!(!error.is_transient());
    /// assert_eq!(error.to_string(), "fsync is off: turn it on");
    /// ```
    #[must_use]
    pub fn unusable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unusable, message)
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self::new(Kind::Damaged, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    pub(crate) fn closed() -> Self {
        Self::new(Kind::Closed, "the inbox is closed")
    }

    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Keeps what caused it.
    ///
    /// ```
    /// use std::{error::Error as _, io};
    /// use article_inbox::Error;
    ///
    /// let error = Error::unavailable("the disk is full").because(io::Error::other("no space left"));
    /// assert_eq!(error.source().unwrap().to_string(), "no space left");
    /// ```
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// Whether the same call may succeed later without anybody's help.
    ///
    /// ```
    /// use article_inbox::Error;
    ///
    /// assert!(Error::unavailable("the disk is full").is_transient());
    /// assert!(!Error::unusable("the file belongs to a newer version").is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind == Kind::Unavailable
    }

    /// Whether the file or an entry in it is damaged.
    ///
    /// ```
    /// assert!(!article_inbox::Error::unavailable("the disk is full").is_damage());
    /// ```
    #[must_use]
    pub fn is_damage(&self) -> bool {
        self.kind == Kind::Damaged
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}
