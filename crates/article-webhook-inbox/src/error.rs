use std::{fmt, sync::Arc};

use article_webhook::adapter::Causes;

/// A failure of the inbox or its store. The text names the cause and, where an operator can act, the fix. It contains no
/// body, no token and no SQL.
///
/// | the error is | what to do |
/// |---|---|
/// | [transient](Self::is_transient) | call again later |
/// | [closed](Self::is_closed) | nothing: this process has closed the inbox |
/// | [invalid](Self::is_invalid) | call with another input |
/// | [unusable](Self::is_unusable), [damaged](Self::is_damaged) | what the text says: a person must act |
///
/// ```
/// use article_webhook_inbox::{Error, Inbox, Retention};
///
/// /// Whether a program calls an operator.
/// fn needs_person(error: &Error) -> bool {
///     error.is_unusable() || error.is_damaged()
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() {
///     let error = Retention::new(std::time::Duration::ZERO, std::time::Duration::ZERO).unwrap_err();
///     assert!(error.is_invalid() && !needs_person(&error));
///
///     let inbox = Inbox::memory();
///     inbox.close().await.unwrap();
///     let error = inbox.counts().await.unwrap_err();
///     assert!(error.is_closed() && !needs_person(&error));
///     assert_eq!(error.to_string(), "the inbox is closed");
/// }
/// ```
#[derive(Clone)]
pub struct Error {
    kind: Kind,
    message: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The store is locked, full, failing or down. A later call may succeed.
    Unavailable,
    /// The store cannot be used until an operator changes something.
    Unusable,
    /// The database or an entry is damaged.
    Damaged,
    /// The input is wrong, such as an imported line that is not an entry.
    Invalid,
    /// After `close`.
    Closed,
}

impl Error {
    /// A transient failure: the store is locked, full, failing, down or too busy.
    #[doc(hidden)]
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// A store that cannot be used until an operator changes something. The message says what.
    #[doc(hidden)]
    #[must_use]
    pub fn unusable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unusable, message)
    }

    /// A damaged database or entry. The message says which, and how to repair it.
    #[doc(hidden)]
    #[must_use]
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::new(Kind::Damaged, message)
    }

    /// A wrong input: a setting out of range, or a line that is not an entry.
    #[doc(hidden)]
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// A call after [`Inbox::close`](crate::Inbox::close).
    #[doc(hidden)]
    #[must_use]
    pub fn closed() -> Self {
        Self::new(Kind::Closed, "the inbox is closed")
    }

    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the error that caused this one, as its source.
    #[doc(hidden)]
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: Some(Arc::from(source.into())), ..self }
    }

    /// Whether the same call may succeed later without a change by an operator.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind == Kind::Unavailable
    }

    /// Whether the input is wrong, and the store is not at fault.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.kind == Kind::Invalid
    }

    /// Whether the database or an entry in it is damaged.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.kind == Kind::Damaged
    }

    /// Whether the store cannot be used until a person changes something: a setting, a right, a version, or the lock that
    /// another process has.
    #[must_use]
    pub fn is_unusable(&self) -> bool {
        self.kind == Kind::Unusable
    }

    /// Whether the inbox was [closed](crate::Inbox::close) by this process.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.kind == Kind::Closed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_shows_of_it_is_its_text_with_the_causes() {
        let full = Error::unavailable("the disk is full");
        assert_eq!(format!("{full:?}"), "the disk is full");
        let caused = full.because(std::io::Error::other("no space left"));
        assert_eq!(format!("{caused:?}"), "the disk is full: no space left");
    }
}
