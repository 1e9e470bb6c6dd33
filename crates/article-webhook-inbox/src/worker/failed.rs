use std::{error::Error, fmt, time::Duration};

/// What a handler returns when it did not succeed: try again, try again after a pause, not yet, or give up.
///
/// `?` converts any error that can be sent to another thread, and any text, into a `Failed` that requests another
/// attempt after the worker's own pause. For that reason it does not implement [`Error`]. For other errors there is
/// [`because`](Self::because).
///
/// ```
/// use std::{io, time::Duration};
/// use article_webhook_inbox::Failed;
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
///
/// // Not yet: this costs no attempt.
/// let monday = Failed::snooze(Duration::from_secs(8 * 3600));
/// assert!(monday.is_snooze() && !monday.is_dead());
/// ```
pub struct Failed {
    cause: Box<dyn Error + Send + Sync>,
    disposition: Disposition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disposition {
    Retry,
    RetryAfter(Duration),
    Snooze(Duration),
    Dead,
}

impl Failed {
    /// Another attempt after the worker's own pause, because of an error that borrows or cannot be sent to another
    /// thread. Its text is kept.
    ///
    /// ```
    /// use std::{collections::HashMap, sync::Mutex};
    /// use article_webhook_inbox::Failed;
    ///
    /// fn publish(blog: &Mutex<HashMap<String, String>>) -> Result<(), Failed> {
    ///     let mut blog = blog.lock().map_err(Failed::because)?;
    ///     blog.insert("job_1".into(), "<p>…</p>".into());
    ///     Ok(())
    /// }
    /// # assert!(publish(&Mutex::default()).is_ok());
    /// # assert_eq!(Failed::because("busy").to_string(), "busy");
    /// ```
    #[must_use]
    pub fn because(cause: impl fmt::Display) -> Self {
        cause.to_string().into()
    }

    /// Another attempt after this pause, or after a day if the pause is longer. After the last attempt there is no
    /// other.
    #[must_use]
    pub fn retry_after(cause: impl Into<Box<dyn Error + Send + Sync>>, pause: Duration) -> Self {
        Self { cause: cause.into(), disposition: Disposition::RetryAfter(pause) }
    }

    /// Not yet: the handler runs again after this pause, which is at least a second and at most a day. This costs
    /// nothing: the attempt does not count, and the cause of an earlier failure stays. So it also works on the last attempt,
    /// and a handler may return it as often as it likes.
    ///
    /// ```
    /// use std::time::Duration;
    /// use article_webhook_inbox::{Failed, Job};
    ///
    /// # fn minutes_until_monday() -> u64 { 3 }
    /// async fn publish(job: Job) -> Result<(), Failed> {
    ///     match minutes_until_monday() {
    ///         0 => Ok(println!("publishing {}", job.job_id())),
    ///         minutes => Err(Failed::snooze(Duration::from_secs(60 * minutes))),
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn snooze(pause: Duration) -> Self {
        Self { cause: "not yet".into(), disposition: Disposition::Snooze(pause) }
    }

    /// No further attempt: the entry is dead until an operator requeues it.
    #[must_use]
    pub fn dead(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: cause.into(), disposition: Disposition::Dead }
    }

    /// The pause that it requests; `None` leaves the pause to the worker.
    #[must_use]
    pub fn after(&self) -> Option<Duration> {
        match self.disposition {
            Disposition::RetryAfter(pause) | Disposition::Snooze(pause) => Some(pause),
            Disposition::Retry | Disposition::Dead => None,
        }
    }

    /// Whether it puts the entry off without a failure.
    #[must_use]
    pub fn is_snooze(&self) -> bool {
        matches!(self.disposition, Disposition::Snooze(_))
    }

    /// Whether it requests no further attempt.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.disposition == Disposition::Dead
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failed {
    fn from(cause: E) -> Self {
        Self { cause: cause.into(), disposition: Disposition::Retry }
    }
}

impl fmt::Display for Failed {
    /// The error and its sources, as they are kept with the entry.
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
        f.debug_struct("Failed")
            .field("cause", &self.cause)
            .field("disposition", &self.disposition)
            .finish()
    }
}
