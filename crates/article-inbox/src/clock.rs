use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

/// What a store reads the time from: the system's clock, or one that a test steps by hand.
///
/// The system's clock is read once, when it is made, and counted on from there: a clock that is set
/// back or forward while the program runs ends no lease and delays no attempt.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_inbox::Clock;
///
/// let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(370));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(370));
/// ```
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System { start: SystemTime, since: Instant },
    Stepped(Arc<Mutex<SystemTime>>),
}

impl Clock {
    /// The system's time.
    ///
    /// ```
    /// let clock = article_inbox::Clock::system();
    /// assert!(clock.now() <= clock.now());
    /// ```
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System { start: SystemTime::now(), since: Instant::now() })
    }

    /// A clock that stands still until it is told to [`advance`](Self::advance). Its clones show the same time.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use article_inbox::Clock;
    ///
    /// let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    /// clock.clone().advance(Duration::from_secs(1));
    /// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn stepped(start: SystemTime) -> Self {
        Self(Source::Stepped(Arc::new(Mutex::new(start))))
    }

    /// The time, which never runs backwards.
    ///
    /// ```
    /// use std::time::SystemTime;
    /// use article_inbox::Clock;
    ///
    /// assert_eq!(Clock::stepped(SystemTime::UNIX_EPOCH).now(), SystemTime::UNIX_EPOCH);
    /// ```
    #[must_use]
    pub fn now(&self) -> SystemTime {
        match &self.0 {
            Source::System { start, since } => *start + since.elapsed(),
            Source::Stepped(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Lets time pass on a stepped clock.
    ///
    /// # Panics
    ///
    /// On the system's clock, which nobody can advance.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use article_inbox::Clock;
    ///
    /// let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    /// clock.advance(Duration::from_millis(1));
    /// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_millis(1));
    /// ```
    pub fn advance(&self, by: Duration) {
        match &self.0 {
            Source::System { .. } => {
                panic!("the system's clock cannot be advanced: use `Clock::stepped`")
            }
            Source::Stepped(now) => *now.lock().unwrap_or_else(PoisonError::into_inner) += by,
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0 {
            Source::System { .. } => "system",
            Source::Stepped(_) => "stepped",
        };
        f.debug_tuple("Clock").field(&format_args!("{kind}")).finish()
    }
}
