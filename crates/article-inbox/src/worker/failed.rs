use std::{error::Error, fmt, time::Duration};

/// What a handler returns when it did not succeed: try again, try again later, or give up.
///
/// `?` makes one of any error, and of a text: another attempt after the worker's own pause. It does not implement
/// [`Error`] itself, so that it can.
///
/// ```
/// use std::{io, time::Duration};
/// use article_inbox::Failed;
///
/// fn publish() -> Result<(), Failed> {
///     std::fs::read_to_string("/no/such/folder/template.html")?;
///     Ok(())
/// }
///
/// let failed = publish().unwrap_err();
/// assert!(failed.to_string().starts_with("No such file"));
/// assert_eq!(failed.after(), None);
/// assert!(!failed.is_dead());
///
/// assert_eq!(Failed::retry_after("the site is closed", Duration::from_secs(600)).after(), Some(Duration::from_secs(600)));
/// assert!(Failed::dead("no such blog").is_dead());
/// ```
pub struct Failed {
    cause: Box<dyn Error + Send + Sync>,
    wish: Wish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Retry,
    RetryAfter(Duration),
    Dead,
}

impl Failed {
    /// Another attempt, after a pause of so long; a day at most. If this was the last attempt, there is none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use article_inbox::Failed;
    ///
    /// let failed = Failed::retry_after("the site is closed", Duration::from_secs(600));
    /// assert_eq!(failed.to_string(), "the site is closed");
    /// assert_eq!(failed.after(), Some(Duration::from_secs(600)));
    /// ```
    #[must_use]
    pub fn retry_after(cause: impl Into<Box<dyn Error + Send + Sync>>, pause: Duration) -> Self {
        Self { cause: cause.into(), wish: Wish::RetryAfter(pause) }
    }

    /// No other attempt: the entry is dead until somebody requeues it.
    ///
    /// ```
    /// use article_inbox::Failed;
    ///
    /// assert!(Failed::dead("no such blog").is_dead());
    /// assert!(!Failed::from("the blog is down").is_dead());
    /// ```
    #[must_use]
    pub fn dead(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: cause.into(), wish: Wish::Dead }
    }

    /// The pause it asks for; `None` leaves that to the worker.
    ///
    /// ```
    /// assert_eq!(article_inbox::Failed::from("the blog is down").after(), None);
    /// ```
    #[must_use]
    pub fn after(&self) -> Option<Duration> {
        match self.wish {
            Wish::RetryAfter(pause) => Some(pause),
            Wish::Retry | Wish::Dead => None,
        }
    }

    /// Whether it gives up.
    ///
    /// ```
    /// assert!(!article_inbox::Failed::from("the blog is down").is_dead());
    /// ```
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.wish == Wish::Dead
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failed {
    fn from(cause: E) -> Self {
        Self { cause: cause.into(), wish: Wish::Retry }
    }
}

impl fmt::Display for Failed {
    /// The error and what caused it, as it is kept with the entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        let mut source = self.cause.source();
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failed").field("cause", &self.cause).field("wish", &self.wish).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("cannot publish")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn its_text_is_the_error_and_what_caused_it() {
        let failed = Failed::from(Outer(std::io::Error::other("the disk is full")));
        assert_eq!(failed.to_string(), "cannot publish: the disk is full");
    }

    #[test]
    fn a_question_mark_makes_one_of_errors_of_many_kinds() {
        fn boxed() -> Result<(), Box<dyn Error + Send + Sync>> {
            Err("a text")?
        }
        fn handler() -> Result<(), Failed> {
            boxed()?;
            Ok(())
        }
        assert_eq!(handler().unwrap_err().to_string(), "a text");
    }
}
