use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

/// The clock of a store: the system's clock, or one that a test moves.
///
/// The system's clock is read once, when this value is made. From then on a monotonic clock counts. Setting the system's
/// clock while the program runs therefore ends no lease and delays no attempt.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_inbox::Clock;
///
/// let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
/// clock.clone().advance(Duration::from_secs(370));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(370));
///
/// let system = Clock::system();
/// assert!(system.now() <= system.now());
/// assert!(std::panic::catch_unwind(|| Clock::system().advance(Duration::from_secs(1))).is_err());
/// ```
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    System { start: SystemTime, since: Instant },
    Stepped(Arc<Mutex<SystemTime>>),
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System { start: SystemTime::now(), since: Instant::now() })
    }

    /// A clock that stands still until [`advance`](Self::advance) is called. Its clones show the same time.
    #[must_use]
    pub fn stepped(start: SystemTime) -> Self {
        Self(Source::Stepped(Arc::new(Mutex::new(start))))
    }

    /// The time. It never runs backwards.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        match &self.0 {
            Source::System { start, since } => *start + since.elapsed(),
            Source::Stepped(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Moves a stepped clock forward.
    ///
    /// # Panics
    ///
    /// This is the system's clock.
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
