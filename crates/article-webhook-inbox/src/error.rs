use std::fmt;

use article_webhook::adapter::Causes;

/// A failure of the inbox or its store. The text names the cause and, where an operator can act, the fix. It contains no
/// body, no token and no SQL.
///
/// The constructors are for stores of your own.
///
/// ```
/// use std::{error::Error as _, io};
/// use article_webhook_inbox::Error;
///
/// let full = Error::unavailable("the disk is full").because(io::Error::other("no space left"));
/// assert!(full.is_transient());
/// assert_eq!(full.source().map(ToString::to_string).as_deref(), Some("no space left"));
///
/// let unsafe_settings = Error::unusable("fsync is off: turn it on");
/// assert!(!unsafe_settings.is_transient());
/// assert_eq!(unsafe_settings.to_string(), "fsync is off: turn it on");
/// ```
pub struct Error {
    kind: Kind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
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
    #[must_use]
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// A store that cannot be used until an operator changes something. The message says what.
    #[must_use]
    pub fn unusable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unusable, message)
    }

    /// A damaged database or entry. The message says which, and how to repair it.
    #[must_use]
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::new(Kind::Damaged, message)
    }

    /// A wrong input: a setting out of range, or a line that is not an entry.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// A call after [`Inbox::close`](crate::Inbox::close).
    #[must_use]
    pub fn closed() -> Self {
        Self::new(Kind::Closed, "the inbox is closed")
    }

    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the error that caused this one, as its source.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..self }
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
    pub fn is_damage(&self) -> bool {
        self.kind == Kind::Damaged
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
    fn an_error_is_of_one_kind() {
        let all = [
            (Error::unavailable("a"), [true, false, false]),
            (Error::unusable("b"), [false, false, false]),
            (Error::damaged("c"), [false, true, false]),
            (Error::invalid("d"), [false, false, true]),
            (Error::closed(), [false, false, false]),
        ];
        for (error, expected) in all {
            let found = [error.is_transient(), error.is_damage(), error.is_invalid()];
            assert_eq!(found, expected, "{error}");
        }
        assert_eq!(Error::closed().to_string(), "the inbox is closed");
    }

    #[test]
    fn what_main_shows_of_it_is_its_text_with_the_causes() {
        let full = Error::unavailable("the disk is full");
        assert_eq!(format!("{full:?}"), "the disk is full");
        let caused = full.because(std::io::Error::other("no space left"));
        assert_eq!(format!("{caused:?}"), "the disk is full: no space left");
    }
}
